"""Trainings in a real box: cut by their budget and continued later, and the curves that they leave."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.course_of_texts import (
    NAME,
    Examined,
    best_tier,
    by_name,
    examiner_fixture,
    handed_in,
    statuses,
)
from viva.model import Tier
from viva.model.grade_request import Graded, GradeOptions, GradeRequest

KEY = "answer = 42\n"
INSIDE = '''\
import random
import numpy as np

class Walk:
    """Takes random steps, of the module's random numbers and of numpy's."""

    def __init__(self, step):
        self.step, self.place = step, np.zeros(3)

    def train(self):
        self.place = self.step(self.place) + np.random.normal(size=3) + random.random()
        return self.place

def start(step, seed):
    random.seed(seed)
    np.random.seed(seed)
    return Walk(step)

def snapshot(walk):
    return {"place": walk.place, "numpy": np.random.get_state(), "python": random.getstate()}

def restore(walk, state):
    walk.place = np.array(state["place"])
    np.random.set_state(state["numpy"])
    random.setstate(state["python"])
'''
TESTS = """\
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from viva.grading import number, training, visibility

BUDGET = Path(__file__).parents[2] / "budget.txt"  # beside the graders, for a changed test would be another test

def train(student, inside, take, give, seed=1, **how):
    walk = inside.start.keep(student.step, seed)
    order = np.random.default_rng(seed)
    epochs = training.epochs(
        4, budget_s=float(BUDGET.read_text()), save=partial(take, walk), load=partial(give, walk), rng=order,
        seed=seed, **how
    )
    for epoch in epochs:
        epoch.record(place=np.sum(walk.train()) + order.random())
    return epochs

@pytest.mark.training
@number("1")
def test_it_walks(student, inside):
    for seed in (1, 2):
        train(student, inside, inside.snapshot, inside.restore, name="walk", curve=seed == 2, seed=seed)

@number("2")
def test_own_words(student, inside):
    assert train(student, inside, student.save, student.load, name="own").reached

@number("3")
@visibility("after_published")
def test_hidden(student, inside):
    train(student, inside, inside.snapshot, inside.restore, name="secret")
"""
STEP = "def step(place): return place / 2\n"
HONEST = STEP + "def save(walk): return walk.place\ndef load(walk, state): walk.place = state\n"
LONG, SHORT = "100", "0.000001"
"""Budgets: for all epochs, and for one."""


examined = examiner_fixture(tests=TESTS, key=KEY, inside=INSIDE)


def graded(examined: Examined, source: str, folder: Path | None, budget: str, *only: str) -> Graded:
    """Grade with a budget for each training, and a folder for checkpoints."""
    (examined.course.root / "budget.txt").write_text(budget, "utf-8")
    return examined.process.grade(GradeRequest(handed_in(source), GradeOptions(only=only or None), checkpoints=folder))


def curves(result: Graded) -> Mapping[str, Any]:
    return {curve.name: curve.values for curve in result.score.curves}


def notes(result: Graded) -> list[str]:
    return [note for note in result.score.notes if "was stopped" in note]


@pytest.mark.long
def test_runs_of_one_epoch_equal_one_run(examined: Examined, tmp_path: Path) -> None:
    whole = graded(examined, HONEST, None, LONG)
    assert not whole.trained and [len(values) for values in curves(whole).values()] == [4, 4]
    for reached in (1, 2, 3):
        cut = graded(examined, HONEST, tmp_path, SHORT)
        assert curves(cut)["walk, place"] == curves(whole)["walk, place"][:reached]
        assert [f"after {reached} of 4 epochs" in note for note in notes(cut)] == [True, True]
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(cut.trained)
        assert list(cut.trained.values()) == [False] * 4 and not cut.remarks
    last = graded(examined, HONEST, tmp_path, SHORT)
    assert curves(last)["walk, place"] == curves(whole)["walk, place"] and not notes(last)
    assert list(last.trained.values()) == [True] * 4
    assert statuses(last.score) == statuses(whole.score)


def test_changed_work_or_test_begins_anew(examined: Examined, tmp_path: Path) -> None:
    graded(examined, HONEST, tmp_path, SHORT)
    other = graded(examined, HONEST + "x = 1\n", tmp_path, SHORT)
    assert [len(values) for values in curves(other).values()] == [1, 1]
    tests = next((examined.course.root / "graders" / NAME).glob("test_*.py"))
    before = tests.read_text("utf-8")
    try:
        tests.write_text(f"# changed\n{before}", "utf-8")
        changed = graded(examined, HONEST, tmp_path, SHORT)
    finally:
        tests.write_text(before, "utf-8")
    assert [len(values) for values in curves(changed).values()] == [1, 1]
    assert [len(values) for values in curves(graded(examined, HONEST, tmp_path, SHORT)).values()] == [2, 2]


HOSTILE = {
    "an object": ("return object()", "pass"),
    "1 GiB": ("import numpy; return numpy.empty(1 << 30, 'u1')", "pass"),
    "100 MiB": ("import numpy; return numpy.zeros(100 << 20, 'u1')", "pass"),
    "nested": ("value = []\n    for _ in range(9999): value = [value]\n    return value", "pass"),
    "raises": ("raise SystemExit(0)", "pass"),
    "what cannot be put back": ("return 'nonsense'", "walk.place = state['place']"),
    "says no": ("return 'nonsense'", "return False"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_checkpoint_changes_no_verdict(how: str, examined: Examined, tmp_path: Path) -> None:
    """Left out of the files, or not used and told; never an error, and never a point."""
    save, load = HOSTILE[how]
    source = STEP + f"def save(walk):\n    {save}\ndef load(walk, state):\n    {load}\n"
    if how.startswith("what"):  # what was there before can be put back
        source = source.replace("return 'nonsense'", "return 'nonsense' if walk.place.any() else {'place': walk.place}")
    for _ in range(2):
        result = graded(examined, source, tmp_path, SHORT, "test_own_words")
    entry = by_name(result.score)["test_own_words"]
    assert str(entry.status) == "passed" and [len(values) for values in curves(result).values()] == [1]
    [remark] = result.remarks
    assert remark.startswith(f"{entry.test_id}[]: own: "), remark
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 10_000


def test_box_that_ends_while_restored(examined: Examined, tmp_path: Path) -> None:
    source = HONEST.replace("walk.place = state", "import os; os._exit(3)")
    results = [graded(examined, source, tmp_path, SHORT, "test_own_words") for _ in range(3)]
    assert [str(result.score.entries[0].status) for result in results] == ["passed", "error", "passed"]
    assert "could not be put back" in results[1].remarks[0]


@pytest.mark.skipif(best_tier() is Tier.T0, reason="in T0 a box can read whatever we can, and nothing is kept")
def test_checkpoint_folder_is_closed_to_boxes(examined: Examined, tmp_path: Path) -> None:
    looks = f"""
import os

def step(place):
    found = [name for _, _, names in os.walk({str(tmp_path.parent)!r}) for name in names]
    for how in ("r", "a"):
        try:
            open(os.path.join({str(tmp_path)!r}, "mine.checkpoint"), how)
            found.append(how)
        except OSError:
            pass
    return place + 1000 * len(found)
"""
    (tmp_path / "mine.checkpoint").write_bytes(b"somebody's")
    result = graded(examined, looks, tmp_path, SHORT, "test_it_walks")
    assert abs(curves(result)["walk, place"][0]) < 100


CURVE_KEY = "def slope(step):\n    return 0.0\n"
CURVE_TESTS = """\
from viva.grading import training, visibility, weight
from viva.grading.training import Threshold

AT = Threshold("the slope", 0.5, "at least", (0.9, 0.8), {"flat": (0.0, 0.1)}, "none")

@weight(2)
def test_it_rises(student):
    def run(seed):
        run = training.epochs(3, budget_s=30, name="rising", curve=seed == 1)
        for epoch in run:
            epoch.record(slope=student.slope(epoch.number))
        return run.last("slope")
    training.judge(run, AT)

@visibility("after_published")
def test_hidden(student):
    for epoch in training.epochs(2, budget_s=30, name="secret"):
        epoch.tell(loss=student.slope(77))
        epoch.record(slope=student.slope(88))

def test_after_a_hang(student):
    training.draw("own", [1, 2], {2: 1.5})
"""


drawn_course = examiner_fixture(tests=CURVE_TESTS, key=CURVE_KEY)


@pytest.mark.long
def test_curves_of_visible_tests(drawn_course: Examined) -> None:
    score = drawn_course.score("def slope(step):\n    return step / 3\n")
    assert by_name(score)["test_it_rises"].earned == 2
    drawn = {curve.name: curve for curve in score.curves}
    assert sorted(drawn) == ["own", "rising, slope"]
    assert drawn["rising, slope"].values == pytest.approx((1 / 3, 2 / 3, 1))
    assert drawn["rising, slope"].test_id.endswith("::test_it_rises")
    assert drawn["own"].test_id.endswith("::test_after_a_hang") and drawn["own"].thresholds == ((2, 1.5),)


def test_no_curve_stays_for_next_submission(drawn_course: Examined) -> None:
    score = drawn_course.score("x = 1\n")
    assert [curve.name for curve in score.curves] == ["own"]


def test_flat_curve_is_run_twice(drawn_course: Examined) -> None:
    entry = drawn_course.entry("def slope(step):\n    return 0.1\n", "test_it_rises")
    assert entry.earned == 0 and "0.100 and 0.100 in two runs with different seeds" in entry.message


def test_curve_value_of_wrong_type(drawn_course: Examined) -> None:
    entry = drawn_course.entry("def slope(step):\n    return 'steep'\n", "test_it_rises")
    assert str(entry.status) == "failed"
