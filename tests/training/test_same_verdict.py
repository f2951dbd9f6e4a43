"""Tests that train give the same verdict again and again, and their thresholds lie far from right and wrong."""

import json
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.course_of_texts import without_times
from tests.support.nightly_share import is_tonight
from tests.support.own_assignments import ROOT, accepted_of, examiner, example, grade
from viva.model import Score, Status
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.plugins.training import Threshold, read_thresholds

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


FILES = sorted(ROOT.glob("graders/*/thresholds/*.json"))
STORED = [(path, threshold) for path in FILES for threshold in read_thresholds(path).values()]


def names(value: object) -> str:
    return value.name if isinstance(value, Threshold) else value.parts[-3] if isinstance(value, Path) else ""


@pytest.mark.parametrize(("path", "threshold"), STORED, ids=names)
def test_threshold_is_far_from_right_and_wrong(path: Path, threshold: Threshold) -> None:
    """4.3 sample deviations from 20 right runs, 3.3 from 8 of each wrong one, computed from the values.

    Where one of three runs is enough, a few of 100 right ones may miss.
    """
    assert threshold.complaints() == []
    assert threshold.guess or threshold.right, "neither measured nor marked as a guess"
    met = all(map(threshold.met_by, threshold.right))
    assert met or threshold.one_is_enough, "a right run would have to be run again"
    stated = json.loads(path.read_text("utf-8"))["thresholds"][threshold.name].get("distances", {})
    for name, distance in stated.items():
        found = threshold.distances[name]
        assert math.isinf(found) if distance is None else found == pytest.approx(distance, abs=0.01), name


@pytest.mark.parametrize(("path", "threshold"), STORED, ids=names)
def test_threshold_can_be_measured_again(path: Path, threshold: Threshold) -> None:
    assert (ROOT / threshold.script).is_file()
    submissions = ROOT / "fixtures" / path.parts[-3] / "submissions"
    missing = [name for name in threshold.wrong if name.startswith("wrong/") and not (submissions / name).is_dir()]
    assert not missing
