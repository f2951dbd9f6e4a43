"""`viva explain RESULT TEST`: run one test on one submission again and show staff each question and answer."""

import contextlib
import json
import os
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from viva.config import Course, keep_apart
from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.model.grade_request import Graded


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
    from viva.model.grade_request import GradeOptions, GradeRequest
    from viva.pipeline.process.examiner_process import ExaminerProcess
    from viva.pipeline.process.settings import BoxOptions
    from viva.submissions import open_submission

    course = open_course(course_dir)
    path, graded_hash = _submission_of(result, course)
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
    _print(graded)
    return 2 if graded.score.has_grader_error else 0


def _print(graded: "Graded") -> None:
    from viva.formats.decimal_points import worth_in_words
    from viva.formats.escaping import terminal

    width = shutil.get_terminal_size((100, 0)).columns

    def line(text: str, indent: str) -> None:
        for part in text.split("\n"):
            filled = textwrap.fill(
                terminal(part),
                max(width, 40),
                initial_indent=indent,
                subsequent_indent=indent + "    ",
                break_long_words=False,
                break_on_hyphens=False,
                replace_whitespace=False,
            )
            click.echo(filled)

    for note in graded.score.notes:
        line(f"note: {note}", "")
    for entry in graded.score.entries:
        click.echo(f"{entry.number} {entry.test_id}: {entry.status}, {worth_in_words(entry)}")
        for text in filter(None, (entry.message, entry.staff_message)):
            line(text, "  ")
    for test_id, questions in graded.questions:
        shown = [(asked, answered) for _, _, asked, answered in questions if answered]
        if shown:
            click.echo(f"asked by {test_id.removesuffix('[]')}:")
        for asked, answered in shown:
            line(asked, "  ")
            line(f"→ {answered}", "    ")


def _submission_of(result: Path, course: Course) -> tuple[Path, str]:
    """Return the submission's path, and the hash that was graded if `result` is a results.json or the folder of one.

    A result names its submission as it was given to `viva grade`, or as the class names it. So the path is tried from
    here, from the folders that hold the result, from the course and from the classes that were unpacked there; the
    first place whose files are those that were graded counts. A folder of results is not a submission.

    Raises:
        UsageError: the file is not a result, or the submission is in none of these places.
    """
    from viva.submissions import open_submission
    from viva.submissions.unpacked_classes import UNPACKED

    if (result / "results.json").is_file():
        result = result / "results.json"
    if result.suffix != ".json" or not result.is_file():
        return result, ""
    try:
        extra: Any = json.loads(result.read_text("utf-8"))["extra_data"]
        named, graded_hash = Path(extra["submission"]), str(extra["content_hash"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{result}: this is not a results.json that viva wrote; give the submission's path instead."
        ) from None
    above = [Path(), *result.absolute().parents, course.root]
    places = dict.fromkeys([*above, *(folder for place in above for folder in (place / UNPACKED).glob("*"))])
    paths = [place / named for place in places]
    there = [path for path in paths if path.exists() and not result.resolve().is_relative_to(path.resolve())]
    for path in there:
        with contextlib.suppress(UsageError):  # such as a folder of another kind
            if open_submission(path, str(path), withheld=course.withheld).content_hash == graded_hash:
                return path, graded_hash
    if not there:
        raise UsageError(
            f"{result}: the submission {named} was not found here, next to its result or in a folder above it, or in "
            f"{course.root}; give the submission's path instead."
        )
    return there[0], graded_hash
