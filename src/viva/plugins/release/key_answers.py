"""The key's answers to the public tests, recorded with several submissions that must lead to the same questions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from viva.config import Assignment, Course
from viva.examiner.recorded_key.record import Record
from viva.examiner.recorded_key.recorded_values import packed
from viva.model import Tier
from viva.model.errors import CourseError, GraderError
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.model.score import test_of
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.pipeline.retry import at_most_twice
from viva.plugins.release import KEY_RECORDER
from viva.plugins.release.key_recording import KeyRecording
from viva.plugins.verify.expected_verdicts import ExampleSubmission

_ABOUT_THE_STUDENT: Final = "it asks the key about something that the student returned"


@dataclass(slots=True)
class KeyAnswers:
    """What was recorded, and which tests cannot be answered from a record."""

    record: Record
    unfit: dict[str, str] = field(default_factory=dict)
    """By test: why it cannot be released."""


@dataclass(frozen=True, slots=True)
class Side:
    """A course, as it is or as it is released, and how it grades."""

    course: Course
    assignment: Assignment
    tier: Tier
    secret: bytes
    options: GradeOptions


def record_key(side: Side, example: ExampleSubmission) -> KeyRecording:
    """Return what the tests ask the key when they grade one submission.

    The examiner is a fresh one, which has cached no answer of an earlier submission.

    Raises:
        CourseError: a right submission loses points.
        GraderError: the examiner ended.
    """
    name = side.assignment.name

    def grade() -> Graded:
        boxes = BoxOptions(side.tier, ready=1)
        with ExaminerProcess(side.course, side.assignment, side.secret, boxes) as examiner:
            return examiner.grade(GradeRequest(example.submission, replace(side.options, interceptor=KEY_RECORDER)))

    graded = at_most_twice(grade, lambda: False)
    if not graded.interceptor_output:
        raise GraderError(f"{name}: grading {example.name} was interrupted, so that nothing was recorded.")
    for entry in graded.score.entries:
        if example.verdict == "accepted" and entry.earned < entry.points and not entry.status.is_open:
            what = f"{entry.test_id} gives {example.name}, which is right, {entry.earned} of {entry.points} points"
            raise CourseError(f"{name}: {what}; `viva verify` says more.")
    return KeyRecording.from_plain(graded.interceptor_output)


def join_recordings(
    tests: Collection[str], first: KeyRecording, second: KeyRecording, starter: KeyRecording
) -> KeyAnswers:
    """Return the key's answers to some tests, which must ask it the same whatever the submission is.

    Args:
        tests: the ids of the tests to be released.
        first: of a right submission, for these tests alone.
        second: of another one; it may hold further tests.
        starter: of the starter; it may hold further tests.
    """
    unfit = _problems(first) | _differences(first, second)
    for case_id, questions in starter.asked.items():
        if not questions <= first.asked.get(case_id, set()):
            unfit.setdefault(test_of(case_id), _ABOUT_THE_STUDENT)
    record = Record(first.answers, first.functions, first.seeds, first.seed_id, _same_hints(first, second, starter))
    return KeyAnswers(record, {test: why for test, why in unfit.items() if test in tests})


def right_submissions(assignment: Assignment, examples: Sequence[ExampleSubmission]) -> list[ExampleSubmission]:
    """Return two or more right submissions; the key itself comes last.

    Raises:
        CourseError: there are fewer than two.
    """
    right = [k for k in examples if k.verdict == "accepted" and k.name != "key"]
    right += [k for k in examples if k.name == "key"]
    if len(right) < 2:
        raise CourseError(
            f"{assignment.name}: a release compares two right submissions, and fixtures/{assignment.name}/submissions/"
            "accepted holds none; put one there."
        )
    return right


def _problems(key_recording: KeyRecording) -> dict[str, str]:
    return {test_of(case_id): reasons[0] for case_id, reasons in key_recording.problems.items()}


def _differences(first: KeyRecording, second: KeyRecording) -> dict[str, str]:
    cases = first.asked.keys() | second.asked.keys()
    return {test_of(case): _ABOUT_THE_STUDENT for case in cases if first.asked.get(case) != second.asked.get(case)}


def _same_hints(first: KeyRecording, *others: KeyRecording) -> dict[str, dict[str, object]]:
    """Return the hints whose value does not depend on what a student returned."""

    def same(at: str, name: str, value: object) -> bool:
        given = [key_recording.hints[at][name] for key_recording in others if name in key_recording.hints.get(at, {})]
        return all(packed(other) == packed(value) for other in given)

    kept = {at: {name: v for name, v in hints.items() if same(at, name, v)} for at, hints in first.hints.items()}
    return {at: hints for at, hints in kept.items() if hints}
