"""`viva grades ASSIGNMENT|DIR --to PLATFORM`: turn scores into grades and write them for a learning platform."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from viva.cli.shared.options import course_option, open_course
from viva.cli.shared.record_options import records_option
from viva.formats.escaping import line
from viva.model.errors import UsageError

if TYPE_CHECKING:  # imported only when there are grades
    from viva.config import Assignment, Course
    from viva.formats.lms.fill import Filled
    from viva.formats.lms.lossless_csv import LosslessCsv
    from viva.formats.lms.returned_grade import ReturnedGrade
    from viva.model import ScoredAttempt, Student

_INTO: Final = ("canvas", "moodle", "gradescope", "brightspace")
_NEW: Final = ("nbgrader", "csv", "parquet")


@click.command("grades")
@click.argument("results", type=click.Path(path_type=Path), metavar="ASSIGNMENT|DIR")
@click.option("--assignment", "-a", metavar="NAME", help="The assignment (default: the only one of the results).")
@course_option
@records_option
@click.option("--roster", type=click.Path(path_type=Path), metavar="FILE", help="The class list, as CSV.")
@click.option(
    "--class", "export", type=click.Path(path_type=Path), metavar="EXPORT",
    help="What a platform exported of the class: says who is in it, and that all of it was graded.",
)  # fmt: skip
@click.option("--to", "wanted", required=True, type=click.Choice([*_INTO, *_NEW]), help="The platform or format.")
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
    assignment: str | None,
    course_dir: Path | None,
    records_url: str | None,
    roster: Path | None,
    export: Path | None,
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
    from viva.gradebook import final_grades, returned_grades
    from viva.gradebook.final_grades import unknown_exceptions, without_submitter

    if (into is None and wanted in _INTO and wanted != "brightspace") or (into is not None and wanted not in _INTO):
        needs = "needs --into EXPORT, the file that it exported" if into is None else "is a new file: leave out --into"
        raise UsageError(f"--to {wanted} {needs}.")
    course = open_course(course_dir)
    attempts, chosen, students = _class(course, results, assignment, records_url, roster, export)
    _refuse_below(chosen, attempts)
    policy, exceptions = chosen.policy(), chosen.exceptions()
    marks = final_grades(attempts, students, policy, exceptions, datetime.datetime.now(datetime.UTC))
    grades = returned_grades(marks, policy.rounding, with_open=with_open)
    for name in without_submitter(attempts):
        click.echo(f"viva: {line(name)}: viva does not know who submitted it, so no one gets a grade for it.", err=True)
    for id_ in unknown_exceptions(exceptions, marks):
        click.echo(f"viva: exceptions.yaml names `{line(id_)}`, but no student of the class has this id.", err=True)
    if into is None:
        filled = _new(wanted, grades, chosen, column)
    else:
        filled = _into(wanted, _read_grades_csv(into), grades, chosen, column, rescale)
    filled.write(output)
    return _print_filled(filled, output)


def _refuse_below(chosen: "Assignment", attempts: "Sequence[ScoredAttempt]") -> None:
    """Refuse scores whose programs ran with less isolation than the assignment asks for: they may be forged."""
    below = {
        one.attempt.name: one.score.isolation.tier for one in attempts if one.score.isolation.is_below(chosen.min_tier)
    }
    if below:
        names = ", ".join(f"{line(name)} ({tier})" for name, tier in list(below.items())[:5])
        more = f" and {len(below) - 5} more" if len(below) > 5 else ""
        raise UsageError(
            f"{chosen.name} asks for isolation {chosen.min_tier} or better (min_tier), and these ran with less: "
            f"{names}{more}. `viva grade` them again; nothing was written."
        )


def _class(
    course: "Course", what: Path, name: str | None, url: str | None, roster: Path | None, export: Path | None
) -> "tuple[list[ScoredAttempt], Assignment, list[Student]]":
    """Return the scores, their assignment, and everyone who is known to be in the class."""
    from viva.cli.shared.class_scores import assignment_meant, scores_below, scores_in_records, with_roster

    kept = assignment_meant(course, what, url)
    if kept is None:
        if export is not None:
            raise UsageError("--class is for scores that the course keeps: give the name of the assignment, not DIR.")
        found, chosen = _of_assignment(course, scores_below(what), name)
    elif name not in (None, kept):
        raise UsageError(f"{what} is an assignment, and -a {name} another one: leave out one of the two.")
    else:
        found, chosen = scores_in_records(course, kept, url), course.assignment(kept)
    attempts, students = with_roster(found, roster, export)
    return attempts, chosen, students


def _of_assignment(
    course: "Course", attempts: "Sequence[ScoredAttempt]", name: str | None
) -> "tuple[list[ScoredAttempt], Assignment]":
    """Return the scores of the named assignment, or of the only one that has results, and the assignment."""
    names = sorted({each.score.assignment for each in attempts})
    if name is None and len(names) > 1:
        raise UsageError(f"There are results of several assignments ({', '.join(names)}); say which with -a.")
    chosen = course.assignment(name or names[0])
    found = [each for each in attempts if each.score.assignment == chosen.name]
    if not found:
        raise UsageError(f"There is no result of `{chosen.name}`; there are results of: {', '.join(names)}.")
    return found, chosen


def _read_grades_csv(path: Path) -> "LosslessCsv":
    from viva.formats.lms.lossless_csv import MOST_BYTES, read_lossless_csv

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
        from viva.formats.lms.canvas_gradebook import canvas

        return canvas(grades_csv, grades, titles, column=column, rescale=rescale)
    if wanted == "moodle":
        from viva.formats.lms.moodle_worksheet import moodle

        return moodle(grades_csv, grades, column=column, rescale=rescale)
    if wanted == "gradescope":
        from viva.formats.lms.gradescope_grades import gradescope

        return gradescope(grades_csv, grades, rescale=rescale)
    from viva.formats.lms.brightspace_gradebook import brightspace

    return brightspace(grades_csv, grades, titles, column=column, rescale=rescale)


def _new(wanted: str, grades: "Sequence[ReturnedGrade]", chosen: "Assignment", column: str | None) -> "Filled":
    from viva.formats.lms import grade_tables
    from viva.formats.lms.brightspace_gradebook import brightspace_new
    from viva.formats.lms.fill import Filled

    if wanted == "brightspace":
        return brightspace_new(grades, column or chosen.title)
    if wanted == "nbgrader":
        data = grade_tables.nbgrader(grades, chosen.name, chosen.due)
    else:
        data = grade_tables.plain_csv(grades) if wanted == "csv" else grade_tables.parquet(grades)
    left = tuple(f"{each.student.id}: {each.state}, without points" for each in grades if each.points is None)
    return Filled(data, len(grades) - len(left), not_written=left)


def _print_filled(filled: "Filled", output: Path) -> int:
    for sentence in filled.not_written:
        click.echo(line(sentence))
    for sentence in filled.without_row:
        click.echo(f"viva: {line(sentence)}.", err=True)
    marks = "1 grade" if filled.written == 1 else f"{filled.written} grades"
    rows = f"; {filled.untouched} rows of students stay as they were" if filled.untouched else ""
    click.echo(f"{marks} written to {output}{rows}.")
    return 1 if filled.without_row else 0
