"""Tests that train give the same verdict again and again, and two submissions next to each other do not disturb it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest

from tests.support.course_of_texts import without_times
from tests.support.nightly_share import is_tonight
from tests.support.own_assignments import accepted_of, examiner, example, grade
from viva.model import Score, Status
from viva.pipeline.process.examiner_process import ExaminerProcess

SHORT = {
    "transfer_learning": "test_pretrained_is_ahead_after_one_epoch",
    "adapting_transformers": "test_full_tuning_learns",
    "bert_lora_fudge": "test_lora_tuning_learns",
}
"""One test of each assignment, of ten seconds at most."""
BESIDE = {
    "transfer_learning": ("accepted/einsum_by_hand", "wrong/base_not_loaded"),
    "adapting_transformers": ("accepted/plain_loops", "wrong/head_frozen"),
    "bert_lora_fudge": ("accepted/plain_loops", "wrong/trainable_base"),
}
ACCEPTED = [(assignment, name) for assignment in SHORT for name in accepted_of(assignment)]
REPEATED = [next(pair for pair in ACCEPTED if pair[0] == assignment) for assignment in SHORT]
"""One fixture of each assignment for eight repetitions; the whole verdict of every fixture is repeated as well."""


@pytest.fixture(scope="module")
def training_tests() -> dict[str, list[str]]:
    """The tests of each assignment that train and need no GPU."""
    found = {}
    for assignment in SHORT:
        with examiner(assignment) as one:
            one.open()
            found[assignment] = [entry.test_id for entry in one.tests if entry.needs == ("training",)]
    return found


@pytest.fixture(scope="module")
def three_examiners() -> Iterator[Callable[[str], list[ExaminerProcess]]]:
    """Return a function that gives three examiners of an assignment, the same ones for all its fixtures."""
    with ExitStack() as stack:
        yield cache(lambda assignment: [stack.enter_context(examiner(assignment)) for _ in range(3)])


def verdicts(scores: list[Score]) -> Iterator[dict[str, Any]]:
    for score in scores:
        assert score.curves
        yield without_times(score)


@pytest.mark.training
@pytest.mark.nightly
@pytest.mark.parametrize(("assignment", "name"), REPEATED)
def test_short_verdict_eight_times(assignment: str, name: str) -> None:
    with examiner(assignment) as one:
        scores = [grade(one, example(assignment, name), SHORT[assignment]) for _ in range(8)]
    assert all(entry.status is Status.PASSED for score in scores for entry in score.entries)
    first, *others = verdicts(scores)
    assert all(other == first for other in others)


@pytest.mark.training
@pytest.mark.nightly
@pytest.mark.parametrize(("assignment", "name"), [pair for at, pair in enumerate(ACCEPTED) if is_tonight(at, 3)])
def test_whole_verdict_of_three_examiners(
    assignment: str,
    name: str,
    training_tests: dict[str, list[str]],
    three_examiners: Callable[[str], list[ExaminerProcess]],
) -> None:
    only = training_tests[assignment]
    scores = [grade(one, example(assignment, name), *only) for one in three_examiners(assignment)]
    assert all(entry.status is Status.PASSED for score in scores for entry in score.entries)
    first, *others = verdicts(scores)
    assert all(other == first for other in others)


@pytest.mark.training
@pytest.mark.parametrize("assignment", BESIDE)
def test_two_submissions_side_by_side(assignment: str, training_tests: dict[str, list[str]]) -> None:
    names, only = BESIDE[assignment], training_tests[assignment]
    with examiner(assignment) as one, examiner(assignment) as other:
        alone = [grade(one, example(assignment, name), *only) for name in names]
        with ThreadPoolExecutor() as threads:
            pairs = zip((one, other), names, strict=True)
            beside = list(threads.map(lambda pair: grade(pair[0], example(assignment, pair[1]), *only), pairs))
    assert list(verdicts(beside)) == list(verdicts(alone))
