"""The proof of a release: it decides as the course does on the starter and on every example submission.

One that runs into a time limit is left out: the limit is the same there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from viva.examiner.load_notes import WHILE_LOADING
from viva.examiner.recorded_key.record import NOT_RECORDED
from viva.model import Entry, Score
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.release.key_answers import Side, right_submissions
from viva.plugins.release.starter_failures import unforeseen
from viva.plugins.verify.expected_verdicts import ExampleSubmission

STARTER_FAILS: Final = "the starter does not run from top to bottom"


def compare_courses(
    course: Side, released: Side, examples: Sequence[ExampleSubmission], found: Mapping[str, Score]
) -> list[str]:
    """Return how the released course differs from the course; empty if it does not.

    A test that cannot be decided there, because it asks the key about what a wrong submission returned, is not a
    difference: it says so to the student. For a right submission it is one.

    Args:
        course: the author's course.
        released: the released one.
        examples: submissions with their expected verdicts.
        found: what they got when the assignment was verified.

    Raises:
        VivaError: one of the two courses cannot grade at all.
    """
    right = right_submissions(course.assignment, examples)
    decided = [k for k in examples if k.verdict != "timeout"]
    in_course = {**found, **_grade(course, [k for k in decided if k.name not in found])}
    in_release = _grade(released, decided)
    wrong = []
    for example in decided:
        mine, other = in_course[example.name], in_release[example.name]
        wrong += [f"{example.name}: {text}" for text in _differences(mine, other, example, released.options)]
        if example.verdict == "starter":
            notes = [note for note in other.notes if note.startswith(WHILE_LOADING)]
            failures = unforeseen(notes, example.submission, right[0].submission)
            wrong += [f"{STARTER_FAILS}: {note}" for note in failures]
    return wrong


def _grade(side: Side, examples: Sequence[ExampleSubmission]) -> dict[str, Score]:
    """Grade the examples.

    Raises:
        VivaError: one cannot be graded at all.
    """
    if not examples:
        return {}
    jobs = [Job(Path(k.name), k.name, side.assignment, k.submission) for k in examples]
    scores = {}
    for job, result in LocalPool(side.course, side.secret, BoxOptions(side.tier), side.options).run(jobs):
        if isinstance(result, Exception):
            raise result
        scores[job.name] = result.score
    return scores


def _differences(course: Score, released: Score, example: ExampleSubmission, options: GradeOptions) -> list[str]:
    """Return how the released tests differ from the same tests of the course, of which there may be more."""
    mine, others = (filter(options.selects_entry, score.entries) for score in (course, released))
    pairs = zip(mine, others, strict=True)
    return [text for mine, other in pairs if (text := _difference(mine, other, example))]


def _difference(mine: Entry, other: Entry, example: ExampleSubmission) -> str:
    same = _decision(mine) == _decision(other)
    undecided = any(NOT_RECORDED in case.message or NOT_RECORDED in case.staff_message for case in other.cases)
    if same or (undecided and example.verdict != "accepted"):
        return ""
    reason = next((c.staff_message or c.message for c in other.cases if c.status is other.status), "")
    what = f"{other.status} ({reason[:200]})" if reason else str(other.status)
    return f"{mine.test_id} is {mine.status} in the course and {what} in what is released"


def _decision(entry: Entry) -> tuple[object, ...]:
    return entry.test_id, entry.status, entry.earned, entry.points
