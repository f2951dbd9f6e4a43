"""`viva check [PATH]`: run the public tests on the student's own machine."""

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from viva.cli.shared.options import assignment_option, choose_assignment, course_option, open_course, training_option
from viva.model import Score, Submission, Tier

if TYPE_CHECKING:
    from viva.pipeline.process.examiner_process import ExaminerProcess

NOT_PASSED: Final = 3
"""The exit status of `--strict` for work that lost points: not a fault of the command, the course or viva."""
HOW_TO_TRAIN: Final = "`viva check --training`"


@click.command("check")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[PATH]")
@click.option("--only", multiple=True, metavar="TEST", help="Ask only this test (number or name); may be repeated.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write results.json as well.")
@click.option("--watch", is_flag=True, help="Check again whenever PATH is saved, until Ctrl-C; show what changed.")
@click.option(
    "--strict", is_flag=True, help=f"End with status {NOT_PASSED} if a public test did not pass, as CI expects."
)
@training_option(default=False)
@assignment_option
@course_option
def command(
    path: Path | None,
    only: tuple[str, ...],
    output: Path | None,
    watch: bool,
    strict: bool,
    training: bool,
    assignment: str | None,
    course_dir: Path | None,
) -> int:
    """Run the public tests on PATH (default: this folder), and show what to fix.

    Your code runs as you would run it yourself, without isolation.

    Exit status: 0 checked, 1 the command or the course is wrong, 2 something failed on viva's side, and with --strict
    3 a public test did not pass.
    """
    from viva.model.grade_request import GradeOptions, GradeRequest
    from viva.pipeline.process.examiner_process import ExaminerProcess
    from viva.pipeline.process.settings import BoxOptions
    from viva.pipeline.results_writer import write_result
    from viva.pipeline.unused_modules import unused_modules
    from viva.submissions import open_submission

    path = path or Path()
    course = open_course(course_dir, released=True)
    submission = open_submission(path, str(path))
    chosen = choose_assignment(course, assignment, submission)
    options = GradeOptions(only=only or None, visible_only=True, training=training)
    secret = course.secret_or_public(os.environ)
    boxes = BoxOptions(Tier.T0, ready=1, notebooks=submission.may_hold_notebook)
    last: Score | None = None

    def unused() -> tuple[str, ...]:
        return () if watch else unused_modules(chosen, [submission])  # a later version may use more

    with ExaminerProcess(course, chosen, secret, boxes, unused) as examiner:
        for version in _versions(path, submission, watch):
            began = time.monotonic()
            examiner.open(_import_what_prints)
            examiner.check_selection(options)
            score = examiner.grade(GradeRequest(version, options)).score
            if output is not None:
                write_result(output, score)
            if last is None:
                _print_all(examiner, score)
            else:
                _print_changes(last, score)
            last = score
            if watch:
                took_s = time.monotonic() - began
                click.echo(f"{time.strftime('%H:%M:%S')}  {took_s:.1f} s. Waiting for the next save; Ctrl-C ends.")
    if last is not None and last.has_grader_error:
        return 2
    if strict and last is not None and _fails(last):
        return NOT_PASSED
    return 0


def _import_what_prints() -> None:
    import viva.formats.terminal_table
    import viva.plugins.selfcheck.not_included  # noqa: F401  # imported while there is time


def _fails(score: Score) -> bool:
    """Return whether a test cost points; tests that are not graded yet do not count."""
    return any(entry.earned < entry.points for entry in score.entries if not entry.status.is_open)


def _versions(path: Path, submission: Submission, watch: bool) -> Iterable[Submission]:
    """Return the submission, and with `--watch` each later version of it."""
    if not watch:
        return [submission]
    from viva.plugins.selfcheck.watch import versions

    return versions(path)


def _print_all(examiner: "ExaminerProcess", score: Score) -> None:
    """Print every test, and what was not run."""
    from viva.formats.terminal_table import print_score
    from viva.plugins.selfcheck.not_included import find_left_out, write_sentence

    print_score(score, as_student=True)
    click.echo(write_sentence(find_left_out(examiner.tests, score.entries, examiner.left_out), HOW_TO_TRAIN))


def _print_changes(before: Score, now: Score) -> None:
    """Print the tests whose outcome has changed, and the total."""
    from viva.formats.terminal_table import print_score
    from viva.plugins.selfcheck.watch import changed

    new = changed(before, now)
    click.echo()
    if not new and before.notes == now.notes:
        click.echo("No test came out otherwise.")
    notes = now.notes if before.notes != now.notes else ()
    print_score(replace(now, notes=notes), as_student=True, only={entry.test_id for entry in new})
