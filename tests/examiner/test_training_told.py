"""What a test that trains tells besides its outcome: curves and notes of visible tests, nothing of hidden ones."""

from collections.abc import Iterator

import pytest

from tests.support.course_of_texts import Examined, examiner_fixture, by_name, write_course

KEY = "def slope(step):\n    return 0.0\n"
TESTS = '''\
from viva.grading import training, visibility, weight
from viva.grading.training import Threshold

AT = Threshold("the slope", 0.5, "at least", (0.9, 0.8), {"flat": (0.0, 0.1)}, "none")


@weight(2)
def test_it_rises(student):
    """It rises."""
    def run(seed):
        run = training.epochs(3, budget_s=30, name="rising", curve=seed == 1)
        for epoch in run:
            epoch.record(slope=student.slope(epoch.number))
        return run.last("slope")
    training.judge(run, AT)


@visibility("after_published")
def test_hidden(student):
    """It is hidden."""
    for epoch in training.epochs(2, budget_s=30, name="secret"):
        epoch.tell(loss=student.slope(77))
        epoch.record(slope=student.slope(88))


def test_after_a_hang(student):
    """Speaks of itself, not of the test before."""
    training.draw("own", [1, 2], {2: 1.5})
'''


examined = examiner_fixture(tests=TESTS, key=KEY)


@pytest.mark.long
def test_curves_of_visible_tests_come_with_the_score(examined: Examined) -> None:
    score = examined.score("def slope(step):\n    return step / 3\n")
    assert by_name(score)["test_it_rises"].earned == 2
    drawn = {curve.name: curve for curve in score.curves}
    assert sorted(drawn) == ["own", "rising, slope"]
    assert drawn["rising, slope"].values == pytest.approx((1 / 3, 2 / 3, 1))
    assert drawn["rising, slope"].test_id.endswith("::test_it_rises")
    assert drawn["own"].test_id.endswith("::test_after_a_hang") and drawn["own"].thresholds == ((2, 1.5),)


def test_nothing_stays_for_the_next_submission(examined: Examined) -> None:
    score = examined.score("x = 1\n")
    assert [curve.name for curve in score.curves] == ["own"]


def test_a_flat_one_is_run_twice_and_told_so(examined: Examined) -> None:
    entry = examined.entry("def slope(step):\n    return 0.1\n", "test_it_rises")
    assert entry.earned == 0 and "0.100 and 0.100 in two runs with different seeds" in entry.message


def test_a_value_that_is_no_number_is_the_students_failure(examined: Examined) -> None:
    entry = examined.entry("def slope(step):\n    return 'steep'\n", "test_it_rises")
    assert str(entry.status) == "failed"
