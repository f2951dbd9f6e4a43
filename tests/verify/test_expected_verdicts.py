"""What submission.yaml says of an example, also of tests that train, and what the answer key submits."""

import dataclasses
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, write_course
from viva.model import Case, Entry, Score, Status, Submission
from viva.plugins.verify.expected_verdicts import ExampleSubmission, key_submission
from viva.plugins.verify.verdict_check import complaints, waits


def entry(name: str, status: Status, points: int, *needs: str) -> Entry:
    earned = Fraction(points if status is Status.PASSED else 0)
    return Entry(f"test_a.py::{name}", name, "1", "visible", status, earned, Fraction(points), (), needs=needs)


def score(trained: Status) -> Score:
    entries = (entry("test_step", Status.FAILED, 3), entry("test_mask", Status.PASSED, 2))
    return Score("a", "0", "b", 1, (*entries, entry("test_it_learns", trained, 5, "training")))


def known(*failing: str, training: int | None = None) -> ExampleSubmission:
    points = None if training is None else Fraction(training)
    return ExampleSubmission("wrong/a", "wrong", Submission("a", (), "0"), Fraction(2), points, failing)


@pytest.mark.parametrize("trained", [Status.FAILED, Status.PASSED, Status.TIMEOUT, Status.DEFERRED])
def test_list_without_trainings_leaves_them_open(trained: Status) -> None:
    assert complaints(known("test_step"), score(trained)) == []
    assert not waits(known("test_step"), score(trained))


def test_list_with_a_training_covers_all() -> None:
    both = known("test_step", "test_it_learns")
    assert complaints(both, score(Status.FAILED)) == []
    assert "should not pass but did: test_it_learns" in complaints(both, score(Status.PASSED))[0]
    assert waits(both, score(Status.DEFERRED)) and complaints(both, score(Status.DEFERRED)) == []


def test_empty_list_covers_trainings() -> None:
    assert "test_it_learns, test_step" in complaints(known(), score(Status.FAILED))[0]


def test_stated_points_of_training() -> None:
    assert complaints(known("test_step", training=0), score(Status.FAILED)) == []
    assert "training got 5 points, expected 0" in complaints(known("test_step", training=0), score(Status.PASSED))[0]
    assert complaints(known("test_step", training=0), score(Status.DEFERRED)) == []


def test_lost_test_shows_exception() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nAssertionError: It is 5.\nassert 5'
    case = Case("", Status.FAILED, Fraction(0), Fraction(3), "It is 5.", trace)
    one = score(Status.FAILED)
    lost = dataclasses.replace(one.entries[0], cases=(case,))
    told = "; ".join(complaints(known(), dataclasses.replace(one, entries=(lost,))))
    assert "AssertionError: It is 5." in told and "Traceback" not in told


def test_key_submits_files(tmp_path: Path) -> None:
    course = write_course(tmp_path, tests="", key="def two(): return 2\n")
    alone = key_submission(course, course.assignment(NAME))
    folder = tmp_path / "graders" / NAME / "handed_in"
    (folder / "runs").mkdir(parents=True)
    (folder / "predictions.csv").write_bytes(b"0\n1\n")
    (folder / "runs" / "log.csv").write_bytes(b"epoch\n1\n")
    found = key_submission(course, course.assignment(NAME))
    assert {f.path: f.data for f in found.files} == {
        **{f.path: f.data for f in alone.files}, "predictions.csv": b"0\n1\n", "runs/log.csv": b"epoch\n1\n",
    }  # fmt: skip
    assert found.content_hash != alone.content_hash


@pytest.mark.parametrize(
    ("status", "rubric", "is_open"),
    [(Status.NEEDS_REVIEW, "", True), (Status.DEFERRED, "", True), (Status.NEEDS_REVIEW, "2.1", False)],
)
def test_verdict_waits_for_a_person(status: Status, rubric: str, is_open: bool) -> None:
    """A test that rests on a guess has not passed, although it must fail."""
    undecided = dataclasses.replace(entry("test_it", status, 1), rubric=rubric)
    example = ExampleSubmission("wrong/one", "wrong", Submission("one", (), ""), failing=("test_it",))
    graded = Score("s", "h", "a", 1, (undecided,))
    assert waits(example, graded) is is_open
    assert ("should not pass but did: test_it" in complaints(example, graded)) is not is_open
