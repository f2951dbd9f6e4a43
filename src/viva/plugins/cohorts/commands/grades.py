"""`viva grades ASSIGNMENT|DIR --to PLATFORM`: turn scores into grades and write them for a learning platform."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from viva.formats.escaping import line
from viva.hooks import GradeWriter, hooks
from viva.model.counting import counted
from viva.model.errors import UsageError
from viva.plugins.cohorts.commands.options import ClassChoice, class_options, rescale_option, results_argument

if TYPE_CHECKING:  # imported only when there are grades
    from viva.config import Assignment
    from viva.plugins.cohorts.grade_files.fill import Filled
    from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

_INTO: Final = ("canvas", "moodle", "gradescope", "brightspace")
_NEW: Final = ("nbgrader", "csv", "parquet")
_FROM_PLUGINS: Final[dict[str, GradeWriter]] = {
    writer.name: writer for table in hooks().viva_grade_writer() for writer in table
}


@click.command("grades")
@results_argument
@class_options
@click.option(
    "--to", "wanted", required=True, type=click.Choice([*_INTO, *_NEW, *_FROM_PLUGINS]), help="The platform or format."
)
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="EXPORT",
    help="The file that the platform exported: grades are written into a copy of it, and nothing else changes.",
)  # fmt: skip
@click.option("--column", metavar="TITLE", help="The column of the assignment there, where it has another title.")
@rescale_option
@click.option(
    "--with-open",
    is_flag=True,
    help="Also return grades with points that are not graded yet (default: leave out).",
)
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where to write.")
def command(
    results: Path,
    choice: ClassChoice,
    wanted: str,
    into: Path | None,
    column: str | None,
    rescale: bool,
    with_open: bool,
    output: Path,
) -> int:
    """Compute grades and write them in the format of a platform: for an ASSIGNMENT whose scores the course keeps, or
    for the results in DIR, which `viva grade -o` wrote.

    Penalties, attempts and rounding are the assignment's `policy:`; extensions, excuses and points by hand are in its
    exceptions.yaml.

    Exit status: 0 every grade is in the file or reported as left out, 1 a grade has no row in EXPORT, or the command,
    the course or a file is wrong.
    """  # noqa: D205  # click shows it as the help text, in one paragraph
    from viva.plugins.cohorts.commands.class_grades import compute_grades

    if into is None and wanted in ("canvas", "moodle", "gradescope"):
        raise UsageError(f"--to {wanted} needs --into EXPORT, the file that it exported.")
    if into is not None and wanted not in _INTO:
        raise UsageError(f"--to {wanted} is a new file: leave out --into.")
    grades, chosen = compute_grades(results, choice, with_open=with_open)
    if into is None:
        filled = _write_new(wanted, grades, chosen, column)
    else:
        from viva.plugins.cohorts.grade_files.lossless_csv import read_lossless_csv
        from viva.plugins.cohorts.grade_files.platform_files import FILLERS

        titles = [chosen.title, chosen.name]
        filled = FILLERS[wanted](read_lossless_csv(into), grades, titles, column, rescale=rescale)
    filled.write(output)
    for sentence in filled.not_written:
        click.echo(line(sentence))
    for sentence in filled.without_row:
        click.echo(f"viva: {line(sentence)}.", err=True)
    stay = "stays as it was" if filled.untouched == 1 else "stay as they were"
    rows = f"; {counted(filled.untouched, 'row')} of students {stay}" if filled.untouched else ""
    click.echo(f"{counted(filled.written, 'grade')} written to {output}{rows}.")
    return 1 if filled.without_row else 0


def _write_new(wanted: str, grades: "Sequence[ReturnedGrade]", chosen: "Assignment", column: str | None) -> "Filled":
    from viva.plugins.cohorts.grade_files import grade_tables
    from viva.plugins.cohorts.grade_files.fill import Filled
    from viva.plugins.cohorts.grade_files.platform_files import write_brightspace

    if wanted == "brightspace":
        return write_brightspace(grades, column or chosen.title)
    if wanted == "nbgrader":
        data = grade_tables.write_nbgrader_csv(grades, chosen.name, chosen.due)
    elif wanted == "csv":
        data = grade_tables.write_plain_csv(grades)
    elif wanted == "parquet":
        data = grade_tables.write_parquet(grades)
    else:
        data = importlib.import_module(_FROM_PLUGINS[wanted].module).write_grades(grades, chosen)
    left_out = tuple(f"{each.student.id}: {each.state}, without points" for each in grades if each.points is None)
    return Filled(data, len(grades) - len(left_out), not_written=left_out)
