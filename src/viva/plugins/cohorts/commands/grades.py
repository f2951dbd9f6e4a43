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
from viva.plugins.cohorts.commands.class_choice import ClassChoice, class_options

if TYPE_CHECKING:  # imported only when there are grades
    from viva.config import Assignment
    from viva.plugins.cohorts.grade_files.fill import Filled
    from viva.plugins.cohorts.grade_files.lossless_csv import LosslessCsv
    from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade

_INTO: Final = ("canvas", "moodle", "gradescope", "brightspace")
_NEW: Final = ("nbgrader", "csv", "parquet")
_FROM_PLUGINS: Final[dict[str, GradeWriter]] = {
    writer.name: writer for table in hooks().viva_grade_writer() for writer in table
}
_ALL: Final = (*_INTO, *_NEW, *_FROM_PLUGINS)


@click.command("grades")
@click.argument("results", type=click.Path(path_type=Path), metavar="ASSIGNMENT|DIR")
@class_options
@click.option(
    "--to", "wanted", required=True, type=click.Choice([*_INTO, *_NEW, *_FROM_PLUGINS]), help="The platform or format."
)
@click.option(
    "--into", type=click.Path(path_type=Path), metavar="EXPORT",
    help="The file that the platform exported: grades are written into a copy of it, and nothing else changes.",
)  # fmt: skip
@click.option("--column", metavar="TITLE", help="The column of the assignment there, where it has another title.")
@click.option("--rescale", is_flag=True, help="Convert grades where the platform has another maximum.")
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

    if (into is None and wanted in _INTO and wanted != "brightspace") or (into is not None and wanted not in _INTO):
        needs = "needs --into EXPORT, the file that it exported" if into is None else "is a new file: leave out --into"
        raise UsageError(f"--to {wanted} {needs}.")
    grades, chosen = compute_grades(results, choice, with_open=with_open)
    if into is None:
        filled = _new(wanted, grades, chosen, column)
    else:
        filled = _into(wanted, _read_grades_csv(into), grades, chosen, column, rescale)
    filled.write(output)
    return _print_filled(filled, output)


def _read_grades_csv(path: Path) -> "LosslessCsv":
    from viva.plugins.cohorts.grade_files.lossless_csv import MOST_BYTES, read_lossless_csv

    with path.open("rb") as file:
        return read_lossless_csv(file.read(MOST_BYTES + 1), str(path))


def _into(
    wanted: str,
    grades_csv: "LosslessCsv",
    grades: "Sequence[ReturnedGrade]",
    chosen: "Assignment",
    column: str | None,
    rescale: bool,
) -> "Filled":
    titles = [chosen.title, chosen.name]
    if wanted == "canvas":
        from viva.plugins.cohorts.grade_files.canvas_gradebook import canvas

        return canvas(grades_csv, grades, titles, column=column, rescale=rescale)
    if wanted == "moodle":
        from viva.plugins.cohorts.grade_files.moodle_worksheet import moodle

        return moodle(grades_csv, grades, column=column, rescale=rescale)
    if wanted == "gradescope":
        from viva.plugins.cohorts.grade_files.gradescope_grades import gradescope

        return gradescope(grades_csv, grades, rescale=rescale)
    from viva.plugins.cohorts.grade_files.brightspace_gradebook import brightspace

    return brightspace(grades_csv, grades, titles, column=column, rescale=rescale)


def _new(wanted: str, grades: "Sequence[ReturnedGrade]", chosen: "Assignment", column: str | None) -> "Filled":
    from viva.plugins.cohorts.grade_files import grade_tables
    from viva.plugins.cohorts.grade_files.brightspace_gradebook import brightspace_new
    from viva.plugins.cohorts.grade_files.fill import Filled

    if wanted == "brightspace":
        return brightspace_new(grades, column or chosen.title)
    if wanted == "nbgrader":
        data = grade_tables.nbgrader(grades, chosen.name, chosen.due)
    elif wanted in _FROM_PLUGINS:
        data = importlib.import_module(_FROM_PLUGINS[wanted].module).write_grades(grades, chosen)
    else:
        data = grade_tables.plain_csv(grades) if wanted == "csv" else grade_tables.parquet(grades)
    left = tuple(f"{each.student.id}: {each.state}, without points" for each in grades if each.points is None)
    return Filled(data, len(grades) - len(left), not_written=left)


def _print_filled(filled: "Filled", output: Path) -> int:
    for sentence in filled.not_written:
        click.echo(line(sentence))
    for sentence in filled.without_row:
        click.echo(f"viva: {line(sentence)}.", err=True)
    stay = "stays as it was" if filled.untouched == 1 else "stay as they were"
    rows = f"; {counted(filled.untouched, 'row')} of students {stay}" if filled.untouched else ""
    click.echo(f"{counted(filled.written, 'grade')} written to {output}{rows}.")
    return 1 if filled.without_row else 0
