"""Right answers as they are found in the wild lose nothing but what they lack, and numerical noise changes no verdict.

Every accepted fixture of every assignment is deformed by script and graded through the real path. What a deformed
submission must get is what its undamaged form gets: the fixture itself, or the fixture without what is really missing.
Right answers in other last digits, orders and threads lose nothing.
"""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import tests.support.deformed_folders
import tests.support.deformed_notebooks
import tests.support.rewritten_code
import tests.support.statements_in_the_way  # noqa: F401  # all four register their deformations
from tests.support.deformations import ALL, Deformation
from tests.support.editable_submission import HandIn, hand_in
from tests.support.float_noise import THROUGH_FLOAT32, in_other_order, noisy, relative
from tests.support.grade_many import ROOT, accepted, graded, lost
from tests.support.nightly_share import NIGHT, is_tonight
from viva.config import Course, load_course
from viva.model import Score, Status

ASSIGNMENTS = load_course(ROOT).assignments
NIGHTS = 10
"""After so many nights, every deformation has met every fixture."""
LOAD_S = 3
"""Seconds that loading may take here: what uses up all of them must not make the tests slow."""


@dataclass(frozen=True)
class Deformed:
    """One deformation of one accepted fixture."""

    assignment: str
    fixture: str
    deformation: Deformation
    work: HandIn
    left: HandIn | None
    """What is left of the fixture where the deformation takes something away: its points are the right ones."""

    @property
    def name(self) -> str:
        return f"{self.assignment}/{self.fixture}/{self.deformation.name}"


def deformed(course: Course, assignment: str, path: Path, names: Sequence[str]) -> Iterator[Deformed]:
    """The deformations that apply to a fixture."""
    work = hand_in(path, course.assignment(assignment))
    for name in names:
        other, left = ALL[name].deform(work), ALL[name].lacking(work)
        if other is not None and left is not None:
            yield Deformed(assignment, path.name, ALL[name], other, None if left is work else left)


@pytest.fixture(scope="module")
def quick_course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The course of this repository, with less time for loading."""
    root = tmp_path_factory.mktemp("course")
    for name in ("assignments", "graders", "reference"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("fixtures/*/data"):  # what tests that train read
        shutil.copytree(path, root / path.relative_to(ROOT), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "grader.yaml", root)
    for path in root.glob("assignments/*/assignment.yaml"):
        path.write_text(re.sub(r"load_s: \d+", f"load_s: {LOAD_S}", path.read_text("utf-8")), "utf-8")
    return load_course(root)


def wrongly_graded(
    course: Course, quick: Course, cases: Sequence[Deformed], folder: Path, workers: int = 0
) -> list[str]:
    """What gets other points than it should, one line each.

    Args:
        workers: examiners at once for what does not use up its time; 0 for one per core.
    """
    others = {c.name: (c.assignment, c.work) for c in cases if not c.deformation.slow}
    left = {f"left of {c.name}": (c.assignment, c.left) for c in cases if c.left is not None}
    slow = {c.name: (c.assignment, c.work) for c in cases if c.deformation.slow}
    scores = graded(course, others | left, folder / "in time", workers)
    scores |= graded(quick, slow, folder / "slow", workers=4)
    wrong = []
    for case in cases:
        score = scores[case.name]
        right = score.points - score.still_open if case.left is None else scores[f"left of {case.name}"].earned
        if score.earned != right:
            wrong.append(f"{case.name}: {score.earned} of {right} points: {lost(score)}")
    return wrong


@pytest.mark.long
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_deformation_applies_somewhere(assignment: str) -> None:
    course = load_course(ROOT)
    names = list(ALL)
    applied = {c.deformation.name for path in accepted(assignment) for c in deformed(course, assignment, path, names)}
    needs_torch = {"cuda", "double_by_default", "torch_settings"}
    assert set(names) - applied <= (
        set() if hand_in(accepted(assignment)[0], course.assignment(assignment)).torch else needs_torch
    )


@pytest.mark.long
def test_many_at_once(tmp_path: Path) -> None:
    """What one student alone may have done to a right answer; the quick one of these tests."""
    course, assignment = load_course(ROOT), ASSIGNMENTS[0]
    work = hand_in(accepted(assignment)[0], course.assignment(assignment))
    names = "failing_checks colab_drive imports_that_are_not_installed exits in_folders packed_twice"
    for name in names.split():
        work = ALL[name].deform(work) or work
    [score] = graded(course, {"all": (assignment, work)}, tmp_path).values()
    assert score.earned == score.points - score.still_open, lost(score)


@pytest.mark.long
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_deformations_of_some_fixtures(assignment: str, quick_course: Course, tmp_path: Path) -> None:
    """One deformation of one fixture for each assignment, from all over the list."""
    course = load_course(ROOT)
    paths, turn = accepted(assignment), ASSIGNMENTS.index(assignment)
    name = list(ALL)[turn * len(ALL) // len(ASSIGNMENTS)]
    turns = paths[turn % len(paths) :] + paths[: turn % len(paths)]
    cases = [case for path in turns for case in deformed(course, assignment, path, [name])][:1]
    assert cases, name
    wrong = wrongly_graded(course, quick_course, cases, tmp_path, workers=1)  # another one loads torch once more
    assert not wrong, "\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_deformation_in_ten_nights(assignment: str, quick_course: Course, tmp_path: Path) -> None:
    """A seventh of them keeps one of two cores busy for more than half an hour."""
    course = load_course(ROOT)
    cases = [
        case
        for number, path in enumerate(accepted(assignment))
        for case in deformed(
            course, assignment, path, [n for at, n in enumerate(ALL) if is_tonight(at + number, NIGHTS)]
        )
    ]
    wrong = wrongly_graded(course, quick_course, cases, tmp_path)
    assert not wrong, "\n".join([f"repeat it with VIVA_NIGHT={NIGHT}", *wrong])


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
def test_noise_changes_no_verdict(assignment: str, tmp_path: Path) -> None:
    """One fixture of each, the kinds of noise taking turns."""
    turn = list(load_course(ROOT).assignments).index(assignment)
    kinds = {list(NOISES)[turn % len(NOISES)]: accepted(assignment)[turn % 2 :][:1]}
    assert not (wrong := lost_by_noise(assignment, kinds, tmp_path)), "\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("assignment", load_course(ROOT).assignments)
def test_all_noise_changes_no_verdict(assignment: str, tmp_path: Path) -> None:
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
def test_large_noise_costs_points(assignment: str, tmp_path: Path) -> None:
    """The noise does reach what is compared: made large, it costs points."""
    course = load_course(ROOT)
    path = accepted(assignment)[0]
    work = noisy(hand_in(path, course.assignment(assignment)), relative(0.05))
    [score] = graded(course, {path.name: (assignment, work)}, tmp_path).values()
    assert score.earned < score.points - score.still_open
