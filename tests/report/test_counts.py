"""What is counted over a class: points, environments, curves, and wrong answers that are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from tests.support.report_class import entry, marked
from viva.model import Isolation, ScoredAttempt, Status
from viva.model.score import Curve
from viva.plugins.report import charts
from viva.plugins.report.class_counts import (
    UNKNOWN,
    collect_wrong_answers,
    count_environments,
    count_isolation,
    find_curve_bands,
    normalize_message,
)


@given(draw.lists(draw.floats(-5, 200), max_size=60), draw.floats(0.5, 150))
def test_histogram_counts_every_value(values: list[float], most: float) -> None:
    bins = charts.count_bins(values, most)
    assert sum(n for _, _, n in bins) == len(values)
    assert not bins or (bins[0][0] == 0 and bins[-1][1] == pytest.approx(most))


def test_environments_are_counted_once_a_submission() -> None:
    class_ = [marked(f"s{i}", entry("1"), environment=("numpy lacks float", "numpy lacks float")) for i in range(3)]
    class_ += [marked("t", entry("1"), environment=("sacrebleu is not installed",))]
    assert count_environments(class_) == [("numpy lacks float", 3), ("sacrebleu is not installed", 1)]


def test_isolation_counts_levels_and_missing_layers() -> None:
    weak = Isolation("T1", missing=("Landlock",))
    class_ = [marked("a"), marked("b"), marked("c", isolation=weak)]
    assert count_isolation(class_) == [("T1", "Landlock", 1), ("T3", "", 2)]


def test_curve_bands() -> None:
    class_ = [
        marked(f"s{i}", curves=(Curve("t", "loss", values, ((2, 0.5),)),))
        for i, values in enumerate([(4.0, 1.0), (2.0,), (0.0, 3.0)])
    ]
    (band,) = find_curve_bands([*class_, marked("none", curves=(Curve("t", "loss", ()),))])
    assert band.submissions == 3 and band.thresholds == ((2, 0.5),)
    assert band.rows == ((1, 1.0, 2.0, 3.0, 3), (2, 1.5, 2.0, 2.5, 2))
    drawn = charts.lay_out_curve(band)
    assert len(drawn.dots) == 2 and drawn.dots[0][0] < drawn.dots[1][0]


HIDDEN = "This test is hidden: what it asks and what went wrong is not shown."


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("f(3) is 0.5; expected 1.", "f(17) is -2e-3; expected 1.", True),
        ("gave [1, 2, 3]; expected [1]", "gave [4, 5]; expected [9]", True),
        ("`bleu` is not defined.", "`blue` is not defined.", False),
        ("The mask is wrong\n  cell 3", "The mask is wrong\n  cell 8", True),
        ("4*d**2 is not right: at d = 3 it gives 36.", "4*d**2 is not right: at d = 5 it gives 100.", True),
        ("4*d**2 is not right", "3*d**2 is not right", False),
        ("2(d+1) is not right", "3(d+1) is not right", False),
        ("11/12 is not right", "11/13 is not right", False),
        ("x1 is wrong", "x2 is wrong", False),  # a name, no number
        ("a is 1. It equals a known mistake: M.", "b is 2. It equals a known mistake: M.", True),
    ],
)
def test_messages_that_differ_in_values_are_one(one: str, two: str, same: bool) -> None:
    assert (normalize_message(one) == normalize_message(two)) is same


def test_wrong_answers() -> None:
    wrong = "g is 1. It equals a known mistake: no clipping."
    class_ = [marked(f"s{i}", entry("1.1", Status.FAILED, message=wrong)) for i in range(5)]
    class_ += [marked("own", entry("1.1", Status.ERROR, message="Your code raised KeyError."))]
    class_ += [marked("right", entry("1.1"))]
    (question,) = collect_wrong_answers(class_)
    assert question.students == 6
    assert [(c.text, c.is_known_mistake, c.count, c.example) for c in question.clusters] == [
        ("no clipping", True, 5, "s0")
    ]
    assert question.others == 1


def test_wrong_answers_of_hidden_tests() -> None:
    def hidden(name: str, staff: str) -> ScoredAttempt:
        return marked(name, entry("1.1", Status.FAILED, message=HIDDEN, staff=staff, visibility="hidden"))

    (question,) = collect_wrong_answers(
        [hidden("a", "h(1) is 2"), hidden("b", "h(7) is 9"), hidden("c", ""), hidden("d", "")]
    )
    assert [(c.text, c.count) for c in question.clusters] == [("h(#) is #", 2), (UNKNOWN, 2)]


def test_open_tests() -> None:
    open_ = [entry("1", status, message="x") for status in (Status.DEFERRED, Status.GRADER_ERROR, Status.SKIPPED)]
    assert collect_wrong_answers([marked("s", *open_)]) == []


def test_manually_graded_tests() -> None:
    """Neither to students nor, of a hidden test, to staff."""
    marks = [
        entry(
            "1", Status.PARTIAL, earned=1, message="Which mask?", staff="Marked by grace.", rubric="1", visibility=how
        )
        for how in ("visible", "hidden")
    ]
    assert collect_wrong_answers([marked(name, mark) for name in "abc" for mark in marks]) == []


@given(draw.text(max_size=300))
def test_any_message(text: str) -> None:
    key, known = normalize_message(text)
    assert "\n" not in key and len(key) < 500
    assert known == ("It equals a known mistake: " in text and known)
    assert normalize_message(key)[0] == normalize_message(normalize_message(key)[0])[0]
