"""Numerical noise never changes a verdict: right answers in other last digits, orders and threads lose nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.editable_submission import HandIn, hand_in
from tests.support.float_noise import THROUGH_FLOAT32, in_other_order, noisy, relative
from tests.support.grade_many import ROOT, accepted, graded, lost
from tests.support.nightly_share import is_tonight
from viva.config import load_course
from viva.model import Score, Status

NOISES: dict[str, Callable[[HandIn], HandIn]] = {
    "the last digits of float64, sums from the other end": lambda work: in_other_order(noisy(work, relative(1e-13))),
    "rounded through float32, two threads": lambda work: noisy(work, THROUGH_FLOAT32, threads=2),
}


NOT_ASKED = {
    "test_the_layer_starts_at_the_pretrained_weight": "W + 0 is W in every arithmetic; what differs has a factor not 0",
    "test_loss_falls_on_a_repeating_corpus": "trains; two threads of torch on cores that others use may take any time",
}
"""Tests about which this noise says nothing, and why."""

QUICK = ("translation_and_masks", "attention_theory")
"""One for each kind of noise; the others are among what the long test asks."""


def missed(score: Score) -> set[str]:
    """The tests that have lost points."""
    return {e.test_id.split("::")[-1] for e in score.entries if not e.status.is_open and e.status is not Status.PASSED}


@pytest.mark.long
@pytest.mark.parametrize("assignment", QUICK)
def test_noise_never_changes_a_verdict(assignment: str, tmp_path: Path) -> None:
    """One fixture of each, the kinds of noise taking turns."""
    turn = list(load_course(ROOT).assignments).index(assignment)
    kinds = {list(NOISES)[turn % len(NOISES)]: accepted(assignment)[turn % 2 :][:1]}
    assert not (wrong := lost_by_noise(assignment, kinds, tmp_path)), "\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", load_course(ROOT).assignments)
def test_no_noise_changes_any_verdict(assignment: str, tmp_path: Path) -> None:
    paths = [path for at, path in enumerate(accepted(assignment)) if is_tonight(at, 2)]
    wrong = lost_by_noise(assignment, dict.fromkeys(NOISES, paths), tmp_path)
    assert not wrong, "\n".join(wrong)


def lost_by_noise(assignment: str, kinds: dict[str, list[Path]], folder: Path) -> list[str]:
    """What loses points under these kinds of noise, one line each."""
    course = load_course(ROOT)
    works = {
        f"{path.name}, {name}": (assignment, NOISES[name](hand_in(path, course.assignment(assignment))))
        for name, paths in kinds.items()
        for path in paths
    }
    scores = graded(course, works, folder)
    return [f"{name}: {lost(score)}" for name, score in scores.items() if not missed(score) <= set(NOT_ASKED)]


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", load_course(ROOT).assignments)
def test_noise_of_a_percent_is_seen(assignment: str, tmp_path: Path) -> None:
    """The noise does reach what is compared: made large, it costs points."""
    course = load_course(ROOT)
    path = accepted(assignment)[0]
    work = noisy(hand_in(path, course.assignment(assignment)), relative(0.05))
    [score] = graded(course, {path.name: (assignment, work)}, tmp_path).values()
    assert score.earned < score.points - score.still_open
