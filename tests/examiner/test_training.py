"""Trainings in a real box: the curves that they leave."""

import pytest

from tests.support.course_of_texts import Examined, by_name, examiner_fixture

CURVE_KEY = "def slope(step):\n    return 0.0\n"
CURVE_TESTS = """\
import pytest
from viva.grading import visibility, weight
from viva.plugins import training
from viva.plugins.training import Threshold

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

@pytest.mark.training
def test_budget_ends_it(student):
    run = training.epochs(4, budget_s=0.000001, name="short")
    for epoch in run:
        epoch.record(slope=student.slope(epoch.number))
    assert run.reached == 1
"""


drawn_course = examiner_fixture(tests=CURVE_TESTS, key=CURVE_KEY)


@pytest.mark.long
def test_curves_of_visible_tests(drawn_course: Examined) -> None:
    score = drawn_course.score("def slope(step):\n    return step / 3\n")
    assert by_name(score)["test_it_rises"].earned == 2
    drawn = {curve.name: curve for curve in score.curves}
    assert sorted(drawn) == ["own", "rising, slope", "short, slope"]
    assert len(drawn["short, slope"].values) == 1
    assert [note for note in score.notes if "(short) was stopped after 1 of 4 epochs" in note]
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
