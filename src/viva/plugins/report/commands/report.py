"""`viva report ASSIGNMENT|DIR`: report a class on one page and in one table; `--feedback` adds a page per student."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.cli.shared.options import assignment_option, course_option, open_course
from viva.cli.shared.record_options import records_option
from viva.formats import escaping
from viva.hooks import hooks
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
    from viva.plugins.report.commands.class_scores import Reduced, assignment_meant, missing, scores_in_records
    from viva.plugins.report.lean_attempts import LeanAttempts

    reduced: Reduced = LeanAttempts().reduce
    if feedback:
        reduced = _keep  # a student's page shows every message
    course = open_course(course_dir)
    kept = assignment_meant(course, what, records_url)
    absent: list[Student] | None = None
    if kept is None:
        for option, value in (("--roster", roster), ("--results", results)):
            if value is not None:
                raise UsageError(f"{option} is for scores that the course keeps: give the name of the assignment.")
        loaded, name = _load_assignment(what, submissions, assignment, reduced)
        attempts = [one for one, _ in loaded]
        folders = {one.attempt.name: folder for one, folder in loaded}
    else:
        if assignment not in (None, kept):
            raise UsageError(f"{what} is an assignment, and -a {assignment} another one: leave out one of the two.")
        name = kept
        attempts, listed = (
            hooks().viva_cohort_reader().match_students(scores_in_records(course, kept, records_url, reduced), roster)
        )
        folders = _find_folders(attempts, results, submissions)
        if roster is not None:
            absent = missing(attempts, listed)
    place = output or (what / "report" if kept is None else Path(f"report-{kept}"))
    written = write_report(
        attempts,
        course.assignment(name),
        place,
        feedback=feedback,
        withheld=course.withheld,
        missing=absent,
        results=folders,
    )
    click.echo("\n".join(f"written: {file}" for file in written.files))
    if written.pages:
        click.echo(f"written: {counted(written.pages, 'page')} for students below {place / 'feedback'}")
    for name, why in written.without_page:
        click.echo(f"viva: {escaping.line(name)} has no page: {escaping.line(why)}", err=True)
    return 1 if written.without_page else 0


def _keep(one: "ScoredAttempt") -> "ScoredAttempt":
    return one


def _find_folders(attempts: "Sequence[ScoredAttempt]", results: Path | None, submissions: Path) -> dict[str, Path]:
    """Return the folder of the result of each submission by its name, as far as there is one below `results`."""
    from viva.plugins.report.load_results import load_attempts

    if results is None:
        return {}
    folders = {one.score.content_hash: folder for one, folder in load_attempts(results, submissions)}
    hashes = {one.attempt.name: one.score.content_hash for one in attempts}
    return {name: folders[content_hash] for name, content_hash in hashes.items() if content_hash in folders}


def _load_assignment(
    folder: Path, submissions: Path, assignment: str | None, reduced: "Reduced"
) -> "tuple[list[tuple[ScoredAttempt, Path]], str]":
    """Return the results of one assignment below a folder, and the assignment's name."""
    from viva.plugins.report.load_results import load_attempts

    results = load_attempts(folder, submissions, reduced)
    names = list(dict.fromkeys(one.score.assignment for one, _ in results))
    if assignment is None and len(names) > 1:
        raise UsageError(f"{folder} holds results of several assignments ({', '.join(names)}); choose one with -a.")
    name = assignment or names[0]
    results = [(one, place) for one, place in results if one.score.assignment == name]
    if not results:
        raise UsageError(f"{folder} holds no results of the assignment {name}; it holds those of {', '.join(names)}.")
    return results, name
