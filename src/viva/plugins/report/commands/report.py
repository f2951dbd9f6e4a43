"""`viva report ASSIGNMENT|DIR`: report a class on one page and in one table; `--feedback` adds a page per student."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.options import assignment_option, course_option, open_course
from viva.cli.shared.record_options import records_option
from viva.formats import escaping
from viva.model.counting import counted
from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.model import ScoredAttempt, Student
    from viva.plugins.report.commands.class_scores import Reduced


@click.command("report")
@click.argument("what", type=click.Path(path_type=Path), metavar="ASSIGNMENT|DIR")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="OUT",
    help="Where to write (default: DIR/report, or report-ASSIGNMENT).",
)  # fmt: skip
@click.option(
    "--feedback", is_flag=True, help="A page for each submission as well, for its student: OUT/feedback/….html."
)
@click.option(
    "--submissions", type=click.Path(path_type=Path), default=Path(), metavar="DIR",
    help="For --feedback: the folder in which `viva grade` was started (default: this one).",
)  # fmt: skip
@click.option(
    "--results", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
    help="For --feedback of an ASSIGNMENT: what `viva grade -o DIR` wrote, to show notebooks as the course ran them.",
)  # fmt: skip
@click.option(
    "--roster", type=click.Path(path_type=Path), metavar="FILE",
    help="The roster as CSV: the report of an ASSIGNMENT then says who has not submitted.",
)  # fmt: skip
@assignment_option
@course_option
@records_option
def command(
    what: Path,
    output: Path | None,
    feedback: bool,
    submissions: Path,
    results: Path | None,
    roster: Path | None,
    assignment: str | None,
    course_dir: Path | None,
    records_url: str | None,
) -> int:
    """Report on a class, for staff: OUT/report.html and OUT/report.csv. Of an ASSIGNMENT whose scores the course
    keeps, or of the results in DIR, which `viva grade -o` wrote.

    Only kept scores hold what hidden tests found.

    Exit status: 0 written, 1 the scores cannot be read, or the report or a student's page cannot be written.
    """  # noqa: D205  # click shows it as the help text, in one paragraph
    from viva.plugins.report.build import write_report
    from viva.plugins.report.commands.class_scores import (
        Reduced,
        assignment_meant,
        missing,
        scores_in_records,
        with_roster,
    )
    from viva.plugins.report.feedback.executed_notebooks import ExecutedNotebooks
    from viva.plugins.report.lean_attempts import LeanAttempts

    course = open_course(course_dir)
    kept = assignment_meant(course, what, records_url)
    listed: list[Student] = []
    executed: Mapping[str, bytes] = {}
    reduced: Reduced = (lambda one: one) if feedback else LeanAttempts().of
    if kept is None:
        if roster is not None:
            raise UsageError("--roster is for scores that the course keeps: give the name of the assignment, not DIR.")
        if results is not None:
            raise UsageError("--results is for scores that the course keeps: DIR has the executed notebooks already.")
        there, name = _below(what, submissions, assignment, reduced)
        attempts, executed = [one for one, _ in there], ExecutedNotebooks(there)
    else:
        if assignment not in (None, kept):
            raise UsageError(f"{what} is an assignment, and -a {assignment} another one: leave out one of the two.")
        attempts, listed = with_roster(scores_in_records(course, kept, records_url, reduced), roster)
        name = kept
        executed = ExecutedNotebooks(_with_places(attempts, results, submissions) if results is not None else [])
    place = output or (what / "report" if kept is None else Path(f"report-{kept}"))
    written = write_report(
        attempts,
        course.assignment(name),
        place,
        feedback=feedback,
        withheld=course.withheld,
        missing=None if roster is None else missing(attempts, listed),
        executed=executed,
    )
    click.echo("\n".join(f"written: {file}" for file in written.files))
    if written.pages:
        click.echo(f"written: {counted(written.pages, 'page')} for students below {place / 'feedback'}")
    for name, why in written.without_page:
        click.echo(f"viva: {escaping.line(name)} has no page: {escaping.line(why)}", err=True)
    return 1 if written.without_page else 0


def _with_places(
    attempts: "Sequence[ScoredAttempt]", folder: Path, submissions: Path
) -> "list[tuple[ScoredAttempt, Path]]":
    """Return the submissions whose results are below a folder, each with the folder of its result."""
    from viva.plugins.report.load_results import attempts_below

    places = {one.score.content_hash: place for one, place in attempts_below(folder, submissions)}
    found = ((one, places.get(one.score.content_hash)) for one in attempts)
    return [(one, place) for one, place in found if place is not None]


def _below(
    folder: Path, submissions: Path, assignment: str | None, reduced: "Reduced"
) -> "tuple[list[tuple[ScoredAttempt, Path]], str]":
    """Return the results of one assignment below a folder, and the assignment's name."""
    from viva.plugins.report.load_results import attempts_below

    results = attempts_below(folder, submissions, reduced)
    names = list(dict.fromkeys(one.score.assignment for one, _ in results))
    if assignment is None and len(names) > 1:
        raise UsageError(f"{folder} holds results of several assignments ({', '.join(names)}): say one with -a.")
    name = assignment or names[0]
    results = [(one, place) for one, place in results if one.score.assignment == name]
    if not results:
        raise UsageError(f"{folder} holds no results of the assignment {name}; it holds those of {', '.join(names)}.")
    return results, name
