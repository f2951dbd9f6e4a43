"""What authors of training tests use: thresholds that were measured, the median of three, epochs on a budget."""

import json
import math
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import beta

from viva.grading.events import Events, collecting
from viva.grading.signals import NeedsReview
from viva.model.errors import CourseError
from viva.plugins import training

RIGHT = tuple(0.90 + 0.001 * k for k in range(20))
WRONG = tuple(0.50 + 0.01 * k for k in range(8))


def threshold(value: float = 0.8, direction: str = "at least", **more: Any) -> training.Threshold:
    fields = {"right": RIGHT, "wrong": {"frozen": WRONG}} | more
    return training.Threshold("accuracy", value, direction, script="measure.py", **fields)


class Told:
    """Events, and the lines of progress that they reported."""

    def __init__(self, *, hidden: bool = False) -> None:
        self.lines: list[str] = []
        self.events = Events(self.lines.append)
        self.events.begin_test("test_it.py::test_it", hidden=hidden)


def clock(*seconds: float) -> Callable[[], float]:
    times = iter(seconds)
    return lambda: next(times)


# --- thresholds


def test_distances_are_in_standard_deviations() -> None:
    found = threshold().distances
    assert found["right"] == pytest.approx((statistics.fmean(RIGHT) - 0.8) / statistics.stdev(RIGHT))
    assert found["frozen"] == pytest.approx((0.8 - statistics.fmean(WRONG)) / statistics.stdev(WRONG))
    assert threshold().complaints() == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (threshold(0.89), "'right'; expected 4.3"),
        (threshold(0.55), "'frozen'; expected 3.3"),
        (threshold(0.95), "'right'"),
        (threshold(right=RIGHT[:19]), "right has 19 runs; expected at least 20"),
        (threshold(wrong={"few": WRONG[:7]}), "few has 7 runs; expected at least 8"),
        (threshold(wrong={"the same": RIGHT}), "'the same'"),
        (threshold(direction="at most"), "'right'"),
    ],
)
def test_threshold_too_near_is_complained_about(given: training.Threshold, says: str) -> None:
    assert any(says in complaint for complaint in given.complaints()), given.complaints()


def test_one_is_enough() -> None:
    right = (0.9,) * 96 + (0.1,) * 4
    assert threshold(right=right, one_is_enough=True).complaints() == []
    assert threshold(right=right).complaints() != []
    [says] = threshold(right=(*right[2:], 0.1, 0.1), one_is_enough=True).complaints()
    assert says == "accuracy: 6 of 100 right runs miss 0.8: too many."
    assert "has 20 runs; expected at least 100" in threshold(right=RIGHT, one_is_enough=True).complaints()[0]


@given(st.integers(1, 120).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs))))
def test_share_at_most(counted: tuple[int, int]) -> None:
    count, runs = counted
    expected = 1.0 if count == runs else float(beta.ppf(0.95, count + 1, runs - count))
    assert training.share_at_most(count, runs) == pytest.approx(expected, abs=1e-9)


def test_at_most() -> None:
    loss = threshold(0.7, "at most", right=WRONG, wrong={"untrained": RIGHT})
    assert loss.met_by(0.7) and not loss.met_by(0.71) and not loss.met_by(math.nan)
    assert all(distance > 0 for distance in loss.distances.values())


def write(path: Path, **entry: Any) -> Path:
    fields = {"value": 0.8, "direction": "at least", "right": list(RIGHT), "wrong": {"frozen": list(WRONG)}} | entry
    path.write_text(json.dumps({"script": "measure.py", "thresholds": {"accuracy": fields}}), "utf-8")
    return path


def test_read_thresholds(tmp_path: Path) -> None:
    assert training.read_thresholds(write(tmp_path / "t.json")) == {"accuracy": threshold()}


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"direction": "above"}, "accuracy: direction is 'above'; expected at least or at most"),
        ({"right": [0.9, "0.8"]}, "accuracy: right is"),
        ({"right": [0.9, float("nan")]}, "accuracy: right is"),
        ({"value": True}, "accuracy: value is"),
        ({"wrong": {}}, "at least one wrong implementation"),
        ({"one_is_enough": 1}, "accuracy: one_is_enough is 1; expected true or false."),
        ({"wrong": {"frozen": 3}}, "accuracy: wrong: frozen is 3"),
    ],
)
def test_invalid_thresholds(tmp_path: Path, entry: dict[str, Any], says: str) -> None:
    path = write(tmp_path / "t.json", **entry)
    with pytest.raises(CourseError, match=str(path)) as error:
        training.read_thresholds(path)
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", '{"thresholds": {}}', '{"script": "a"}'])
def test_no_thresholds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text, "utf-8")
    with pytest.raises(CourseError, match=r"t\.json"):
        training.read_thresholds(path)
    with pytest.raises(CourseError, match=r"cannot be read"):
        training.thresholds("there_is_no_such_file.json")


# --- one run, or three


def test_judge_one_run() -> None:
    run = Mock(return_value=0.9)
    assert training.judge(run, threshold()) == 0.9
    run.assert_called_once()


VALUES = st.lists(st.floats(allow_infinity=False), min_size=3, max_size=3)


@given(VALUES, st.sampled_from(["at least", "at most"]))
@example([0.7, 0.9, 0.6], "at least")
@example([0.9, math.nan, 0.7], "at most")
def test_judge_by_median(values: list[float], direction: str) -> None:
    limit, asked = threshold(direction=direction), list[int]()

    def run(seed: int) -> float:
        asked.append(seed)
        return values[seed]

    worst = -math.inf if direction == "at least" else math.inf
    numbers = [worst if math.isnan(value) else value for value in values]
    met = [limit.met_by(value) for value in numbers]
    passes = met[0] or limit.met_by(statistics.median(numbers))
    try:
        assert limit.met_by(training.judge(run, limit, (0, 1, 2))) and passes
    except AssertionError:
        assert not passes
    assert len(asked) == (1 if met[0] else 3 if met[1] else 2)


@given(VALUES, st.sampled_from(["at least", "at most"]))
def test_judge_by_best(values: list[float], direction: str) -> None:
    limit, run = threshold(direction=direction, one_is_enough=True), Mock(side_effect=values)
    met = [limit.met_by(value) for value in values]
    try:
        found = training.judge(run, limit, (0, 1, 2))
        assert found == values[met.index(True)] and run.call_count == met.index(True) + 1
    except AssertionError:
        assert not any(met) and run.call_args_list == [call(0), call(1), call(2)]


def test_message_of_a_miss() -> None:
    with pytest.raises(AssertionError) as error:
        training.judge({1: 0.1, 2: math.nan, 3: 0.2}.__getitem__, threshold(), help="Are the weights loaded?")
    for part in (
        "accuracy: 0.100 and no number in two runs with different seeds;",
        "expected at least 0.8.",
        "0.900 to 0.919.",
        "Are the weights loaded?",
    ):
        assert part in str(error.value)


@pytest.mark.parametrize("seeds", [(1, 2), (1, 2, 2), (1, 2, 3, 4)])
def test_invalid_seeds(seeds: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="three different seeds"):
        training.judge(lambda _: 1.0, threshold(), seeds)


# --- epochs


def test_epochs_report_progress_and_curves() -> None:
    told = Told()
    with collecting(told.events):
        run = training.epochs(3, budget_s=100, name="pretrained", clock=clock(0, 2, 4, 6))
        for epoch in run:
            epoch.tell(loss=1 / epoch.number, words="no number")
            epoch.record(accuracy=0.5 + epoch.number / 10)
    assert run.complete and run.values("accuracy") == (0.6, 0.7, 0.8) and run.last("accuracy") == 0.8
    assert told.lines == [
        "pretrained, epoch 1 of 3, accuracy 0.6, loss 1, 4 s left",
        "pretrained, epoch 2 of 3, accuracy 0.7, loss 0.5, 2 s left",
        "pretrained, epoch 3 of 3, accuracy 0.8, loss 0.3333, 0 s left",
    ]
    [curve] = told.events.curves
    assert (curve.name, curve.values) == ("pretrained, accuracy", (0.6, 0.7, 0.8))
    assert told.events.notes == ()


def test_epochs_past_the_budget() -> None:
    told = Told()
    with collecting(told.events):
        run = training.epochs(9, budget_s=5, name="scratch", clock=clock(0, 3, 6))
        for epoch in run:
            epoch.record(accuracy=epoch.number / 10)
    assert (run.reached, run.complete, run.last("accuracy")) == (2, False, 0.2)
    [note] = told.events.notes
    assert "(scratch) was stopped after 2 of 9 epochs" in note and "graded on what was reached" in note
    assert told.lines[0].endswith("2 s left")  # not what nine epochs would take


def rising(until: dict[str, training.Threshold], epochs: int = 4, **settings: Any) -> tuple[training.Epochs, Told]:
    """Record 0.1, 0.2, … as `a` and 0.9, 0.8, … as `loss`."""
    told = Told()
    with collecting(told.events):
        run = training.epochs(epochs, name="rising", until=until, **({"budget_s": 100} | settings))
        for epoch in run:
            epoch.record(a=epoch.number / 10, loss=1 - epoch.number / 10)
    return run, told


def limit(value: float, direction: str = "at least", guess: str = "") -> training.Threshold:
    return training.Threshold("a", value, direction, (), {}, "", guess)


@pytest.mark.parametrize(
    ("until", "reached"),
    [
        ({"a": limit(0.1)}, 1),
        ({"a": limit(0.15)}, 2),
        ({"a": limit(0.2), "loss": limit(0.7, "at most")}, 3),
        ({"a": limit(0.4)}, 4),
        ({"a": limit(0.5)}, 4),
        ({"a": limit(0.1, guess="nobody knows")}, 4),
        ({"b": limit(0.0)}, 4),
        ({}, 4),
    ],
)
def test_epochs_until(until: dict[str, training.Threshold], reached: int) -> None:
    run, told = rising(until)
    assert run.reached == reached == len(told.lines) and run.complete
    assert (told.events.notes != ()) is (reached < 4)


def test_whole_trainings() -> None:
    events = Events()
    events.whole_trainings = True
    with collecting(events):
        run = training.epochs(4, budget_s=100, until={"a": limit(0.1)})
        for epoch in run:
            epoch.record(a=epoch.number)
    assert run.reached == 4 and events.notes == ()


def test_epochs_of_a_hidden_test() -> None:
    told = Told(hidden=True)
    with collecting(told.events):
        for epoch in training.epochs(2, budget_s=1, name="x", clock=clock(0, 3)):
            epoch.tell(loss=0.123)
            epoch.record(accuracy=0.456)
        training.draw("gap", [0.789])
    assert (told.events.curves, told.events.notes) == ((), ())
    assert told.lines == ["x, epoch 1 of 2, 0 s left"]


def test_curve_drawn_again() -> None:
    told = Told()
    with collecting(told.events):
        training.draw("gap", [0.1], {2: 0.3, 1: 0.2})
        training.draw("gap", [0.1, 0.4], {1: 0.2})
    [curve] = told.events.curves
    assert (curve.values, curve.thresholds) == ((0.1, 0.4), ((1, 0.2),))


def test_invalid_numbers() -> None:
    invalid: list[Any] = [math.inf, math.nan, "text", None]
    for bad in invalid:
        with pytest.raises((TypeError, ValueError)):
            training.draw("gap", [bad])
    with pytest.raises(LookupError, match="recorded are: none"):
        training.epochs(1, budget_s=1).last("accuracy")
    for n, budget_s in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="at least one epoch and a budget"):
            training.epochs(n, budget_s=budget_s)


GUESS = training.Threshold("the loss", 0.5, "at most", (), {}, "bench/gpu.py", "on a GPU it was not measured")


@pytest.mark.parametrize(("values", "shown"), [([0.25], "0.25"), ([0.7, 0.2, math.nan], "0.7, 0.2, no number")])
def test_judge_by_a_guess(values: list[float], shown: str) -> None:
    """Whether it is met or missed: who would know that it is right?"""
    with pytest.raises(NeedsReview) as raised:
        training.judge(dict(zip(training.SEEDS, values, strict=False)).__getitem__, GUESS)
    assert raised.value.findings == (
        f"the loss is {shown}, and the threshold (at most 0.5) is a guess: on a GPU it was not measured",
    )
    assert raised.value.rubric == "" and GUESS.complaints() == []


def test_expect_fails_beyond_the_threshold() -> None:
    measured = replace(GUESS, guess="")
    training.expect(0.5, measured, "too large")
    for value in (0.51, math.nan):
        with pytest.raises(AssertionError, match=r"^too large$"):
            training.expect(value, measured, "too large")
    with pytest.raises(NeedsReview):
        training.expect(0.5, GUESS, "too large")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"guess": "nobody knows."}, ""),
        ({"guess": " "}, "guess is ' '; expected a clause that says why"),
        ({"guess": True}, "guess is True; expected"),
        ({"guess": "so", "right": [1, 2]}, "without right and wrong"),
        ({}, "expected wrong"),
    ],
)
def test_read_guess(tmp_path: Path, more: dict[str, Any], says: str) -> None:
    path = tmp_path / "t.json"
    entry = {"value": 1, "direction": "at most", **more}
    path.write_text(json.dumps({"script": "s.py", "thresholds": {"loss": entry}}), "utf-8")
    if says:
        with pytest.raises(CourseError, match=says):
            training.read_thresholds(path)
    else:
        assert training.read_thresholds(path)["loss"].guess == "nobody knows"
