"""`viva explain RESULT TEST`: run one test on one submission again and show staff each question and answer."""

import json
import os
from pathlib import Path
from typing import Any

import click

from viva.cli.shared.options import (
    assignment_option,
    choose_assignment,
    choose_gpus,
    choose_tier,
    course_option,
    open_course,
    tier_option,
)
from viva.config import keep_apart
from viva.model.errors import UsageError


@click.command("explain")
@click.argument("result", type=click.Path(path_type=Path), metavar="RESULT|SUBMISSION")
@click.argument("test", metavar="TEST")
@assignment_option
@course_option
@tier_option
def command(result: Path, test: str, assignment: str | None, course_dir: Path | None, tier_name: str | None) -> int:
    """Run TEST (its number or name) again on the submission of RESULT (a results.json, or the submission itself).

    Shows staff what a student does not see: hidden inputs, the full comparison, the grader's own traceback.
    """
    from viva.formats.escaping import terminal
    from viva.model.grade_request import GradeOptions, GradeRequest
    from viva.pipeline.process.examiner_process import ExaminerProcess
    from viva.pipeline.process.settings import BoxOptions
    from viva.submissions import open_submission

    path, graded_hash = _submission_of(result)
    course = open_course(course_dir)
    keep_apart(course.root, [path])
    submission = open_submission(path, str(path), withheld=course.withheld)
    chosen = choose_assignment(course, assignment, submission)
    tier = choose_tier(tier_name, chosen.min_tier)
    if graded_hash and graded_hash != submission.content_hash:
        click.echo("viva: the submission has changed since it was graded; this is about how it is now.", err=True)
    options = GradeOptions(only=(test,), questions=True)
    boxes = BoxOptions(tier, ready=1, gpus=choose_gpus("auto"))
    with ExaminerProcess(course, chosen, course.secret(os.environ), boxes) as examiner:
        examiner.open()
        examiner.check_selection(options)
        graded = examiner.grade(GradeRequest(submission, options))
    for note in graded.score.notes:
        click.echo(terminal(f"note: {note}"))
    for entry in graded.score.entries:
        click.echo(f"{entry.number} {entry.test_id}: {entry.status}, {entry.earned} of {entry.points} points")
        for text in (entry.message, entry.staff_message):
            if text:
                click.echo(terminal("  " + text.replace("\n", "\n  ")))
    for test_id, questions in graded.questions:
        click.echo(f"asked by {test_id}:")
        for op, subject, arguments, outcome in questions:
            click.echo(terminal(f"  {op} {subject} {arguments}\n    → {outcome}"))
    return 2 if graded.score.has_grader_error else 0


def _submission_of(result: Path) -> tuple[Path, str]:
    """Return the submission's path, and the hash that was graded if `result` is a results.json."""
    if result.suffix != ".json" or not result.is_file():
        return result, ""
    try:
        data: Any = json.loads(result.read_text("utf-8"))
        extra = data["extra_data"]
        return Path(extra["submission"]), str(extra["content_hash"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{result}: this is not a results.json that viva wrote; give the submission's path instead."
        ) from None
