"""The proof of a release: it decides as the course does on the starter and on every example submission."""

from collections.abc import Sequence
from pathlib import Path

from viva.config import Assignment, Course, load_course
from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Entry, Tier
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.replay.key_recording import NOT_RECORDED
from viva.verify.expected_verdicts import ExampleSubmission


def complaints(
    course: Course,
    assignment: Assignment,
    released: Path,
    tests: Sequence[str],
    tier: Tier,
    secret: bytes,
    examples: Sequence[ExampleSubmission],
) -> list[str]:
    """Return how the released course differs from the course; empty if it does not.

    A test that cannot be decided there, because it asks the key about what a wrong submission returned, is not a
    difference: it says so to the student. For a right submission it is example.

    Args:
        course: the course of the assignment.
        assignment: the released assignment.
        released: the folder of the released course.
        tests: the ids of the released tests.
        tier: the isolation level.
        secret: the secret of the course.
        examples: submissions with their expected verdicts.

    Raises:
        VivaError: example of the two courses cannot grade at all.
    """
    options = GradeOptions(only=tuple(tests), visible_only=True, training=False)
    released_course = load_course(released)
    in_course = _graded(course, assignment, tier, secret, options, examples)
    in_release = _graded(
        released_course,
        released_course.assignment(assignment.name),
        tier,
        b"a student has no secret",
        options,
        examples,
    )
    found = []
    for example in examples:
        pairs = zip(in_course[example.name].score.entries, in_release[example.name].score.entries, strict=True)
        found += [f"{example.name}: {text}" for mine, other in pairs if (text := _difference(mine, other, example))]
        if example.verdict == "starter":
            found += [
                f"the starter does not run from top to bottom: {text}" for text in _loading(in_release[example.name])
            ]
    return found


def _loading(graded: Graded) -> list[str]:
    return [note for note in graded.score.notes if note.startswith(WHILE_LOADING)]


def _graded(
    course: Course,
    assignment: Assignment,
    tier: Tier,
    secret: bytes,
    options: GradeOptions,
    examples: Sequence[ExampleSubmission],
) -> dict[str, Graded]:
    jobs = [Job(Path(k.name), k.name, assignment, k.submission) for k in examples]
    graded = {}
    for job, result in LocalPool(course, secret, BoxOptions(tier), options).run(jobs):
        if isinstance(result, Exception):
            raise result
        graded[job.name] = result
    return graded


def _difference(mine: Entry, other: Entry, example: ExampleSubmission) -> str:
    same = (mine.test_id, mine.status, mine.earned, mine.points) == (
        other.test_id,
        other.status,
        other.earned,
        other.points,
    )
    undecided = any(NOT_RECORDED in case.message or NOT_RECORDED in case.staff_message for case in other.cases)
    if same or (undecided and example.verdict != "accepted"):
        return ""
    reason = next((c.staff_message or c.message for c in other.cases if c.status is other.status), "")
    what = f"{other.status} ({reason[:200]})" if reason else str(other.status)
    return f"{mine.test_id} is {mine.status} in the course and {what} in what is released"
