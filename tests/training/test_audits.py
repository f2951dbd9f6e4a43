"""What stated accuracies and submitted predictions say, on results that were really printed, and on made ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.plugins.training.audits import (
    audit_accuracy,
    audit_grid,
    audit_predictions,
    audit_runs,
    read_accuracy,
    right_answers,
)

DEV, TEST = 3270, 1427
MAJORITY = Fraction(2033, DEV)


def kinds(value: object, n: int, majority: Fraction | None = MAJORITY) -> set[str]:
    return {finding.kind for finding in audit_accuracy(value, n, majority=majority)}


ACCURACIES = [
    (0.6217125382262997, DEV, {"count", "majority"}),
    (0.62171254, DEV, {"count", "majority"}),
    ("62.17 %", DEV, {"count", "majority"}),
    (62.17, DEV, {"count", "majority"}),
    ("2033/3270", DEV, {"count", "majority"}),
    (0.62171256542206, DEV, {"count", "majority"}),  # went through float32
    (0.6271899088997898, TEST, {"count", "not_above_majority"}),
    (0.6330, DEV, {"few_digits", "not_above_majority"}),  # a number has no trailing zeros
    (0.7091743119266055, DEV, {"count"}),
    (0.6923615977575333, TEST, {"count"}),
    (0.7104, DEV, {"count"}),  # four digits, as most people copy them
    (0.7093, DEV, {"no_count"}),
    (0.7091743, TEST, {"no_count"}),  # 2319/3270 is not a k/1427
    (0.705, DEV, {"few_digits"}),
    (0.9, DEV, {"count", "small_subset"}),
    (0.9, TEST, {"few_digits", "small_subset"}),
    (0.6, TEST, {"few_digits", "small_subset", "not_above_majority"}),
    (0.6, DEV, {"count", "small_subset", "not_above_majority"}),
    (0.622, DEV, {"few_digits", "majority"}),
    (0.62, DEV, {"few_digits", "not_above_majority"}),
    (0.8, TEST, {"few_digits", "small_subset"}),
    (1, DEV, {"count"}),
    (0, DEV, {"count", "not_above_majority"}),
    ("about seventy", DEV, {"unreadable"}),
    (None, DEV, {"unreadable"}),
    (float("nan"), DEV, {"unreadable"}),
    ("10^400", DEV, {"unreadable"}),
    (-0.5, DEV, {"unreadable"}),
]


def test_audit_accuracy() -> None:
    with Rows() as row:
        for value, n, found in ACCURACIES:
            with row(value, n):
                assert kinds(value, n) == found


@pytest.mark.parametrize(
    ("value", "n", "words"),
    [
        (0.6217125382262997, DEV, "2033/3270: the majority class"),
        (0.6271899088997898, TEST, "0.62719 = 895/1427"),
        (0.6330, DEV, "below 0.647"),
        (0.9, TEST, "9/10: measured on 10 rows only? (0.9 · 1427 = 1284.3 is no whole number)"),
        (0.9, DEV, "(0.9 · 3270 = 2943 is a whole number)"),
        (0.7093, DEV, "0.7093 · 3270 = 2319.41, and the nearest are 2319/3270 = 0.709174 and 2320/3270 = 0.70948"),
    ],
)
def test_audit_accuracy_texts(value: object, n: int, words: str) -> None:
    assert any(words in finding.text for finding in audit_accuracy(value, n, majority=MAJORITY))


@given(st.integers(2, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_honest_accuracy(rows: tuple[int, int]) -> None:
    """k/n as a program prints it is k/n, whatever k and n are, as a number, as text and as a percentage."""
    k, n = rows
    for value in (k / n, str(k / n), f"{100 * k / n} %"):
        assert any(f"= {k}/{n}" in finding.text for finding in audit_accuracy(value, n))


def test_right_answers() -> None:
    assert right_answers(0.6271899088997898, TEST) == right_answers("62.72 %", TEST) == 895
    assert right_answers(0.7091743, TEST) is right_answers(0.63, TEST) is right_answers("none", TEST) is None


@given(st.integers(0, TEST), st.integers(4, 7))
def test_rounded_accuracy(k: int, digits: int) -> None:
    cut = math.floor(k / TEST * 10**digits) / 10**digits
    for value in (round(k / TEST, digits), cut):
        assert "no_count" not in kinds(value, TEST, None)


SWEEP = {
    "run 1": {"lr": "1e-3", "epochs": 9, "dev": 0.6217125382262997, "test": 0.6271899088997898},
    "run 2": {"lr": "5e-4", "epochs": 7, "dev": 0.6217125382262997, "test": 0.6194814295725298},
    "run 3": {"lr": "125e-4", "epochs": 12, "dev": 0.6217125382262997, "test": 0.6187806587245971},
}


def test_collapsed_sweep() -> None:
    findings = audit_runs(SWEEP, {"dev": DEV, "test": TEST}, majority={"dev": MAJORITY})
    texts = [f.text for f in findings]
    assert sum(f.kind == "majority" for f in findings) == 3
    assert any("Run 1, run 2, run 3 tie for the best dev accuracy" in t for t in texts)
    assert any("No dev accuracy reaches 0.647155" in t for t in texts)
    assert next(f.text for f in findings if f.kind == "repeated").startswith("Run 1, run 2, run 3 have the same dev")
    assert not any(f.kind in ("missing", "same_splits", "no_count") for f in findings)


def test_healthy_sweep() -> None:
    runs = {"a": {"dev": 2305 / DEV, "test": 1007 / TEST}, "b": {"dev": 2263 / DEV, "test": 981 / TEST}}
    findings = audit_runs(runs, {"dev": DEV, "test": TEST}, majority={"dev": MAJORITY, "test": MAJORITY})
    assert [f.kind for f in findings] == ["count"] * 4


def test_audit_runs() -> None:
    runs = {"full": {"dev": 0.9, "test": 0.9}, "head": {"dev": 0.6, "test": 0.9}, "prefix": {"dev": 0.8}}
    texts = {f.kind: f.text for f in audit_runs(runs, {"dev": DEV, "test": TEST})}
    assert texts["same_splits"] == "Full: dev and test have the same accuracy 0.9: were they the same rows?"
    assert texts["repeated"].startswith("Full, head have the same test accuracy 0.9")
    assert texts["missing"] == "Prefix: test accuracy is not stated."
    assert "tie" not in texts and "none_learned" not in texts


def test_audit_grid() -> None:
    findings = audit_grid(SWEEP, {"lr": [1e-4, 5e-4, 1e-3], "epochs": [7, 9]})
    assert [f.text for f in findings if f.kind == "not_reported"] == [
        f"No run has lr {lr}, epochs {epochs}, which was asked for."
        for lr, epochs in [("0.0001", 7), ("0.0001", 9), ("0.0005", 9), ("0.001", 7)]
    ]
    (other,) = (f.text for f in findings if f.kind == "not_asked")
    assert other.startswith("Run 3 has lr 0.0125, epochs 12")
    assert audit_grid({"r": {"lr": "0.001", "epochs": "7"}}, {"lr": [1e-3], "epochs": [7]}) == []
    assert "lr unstated" in audit_grid({"r": {"epochs": 7}}, {"lr": [1e-3], "epochs": [7]})[1].text


@pytest.mark.parametrize(("text", "value"), [("71.04", "0.7104"), ("71.04 %", "0.7104"), ("0,71", "0.71"), (1, "1")])
def test_read_accuracy(text: object, value: str) -> None:
    assert read_accuracy(text) == Fraction(value)


LABELS = np.arange(3270) < 2033
PREDICTIONS = np.where(np.arange(3270) < 300, 1 - LABELS, LABELS)


@pytest.mark.parametrize("reported", [2970 / 3270, "90.83 %", "2970/3270", 0.9083, np.float32(2970 / 3270)])
def test_accuracy_of_predictions(reported: object) -> None:
    findings = audit_predictions(PREDICTIONS, LABELS, reported=reported, name="run 1: dev accuracy")
    assert [finding.kind for finding in findings] == ["given"]
    assert "the submitted predictions give 2970/3270 = 0.908257." in findings[0].text


def test_other_accuracy() -> None:
    (finding,) = audit_predictions(PREDICTIONS, LABELS, reported="3000/3270", name="run 1: dev accuracy")
    assert finding.kind == "not_given"
    assert finding.text == (
        "Run 1: dev accuracy 0.917431 is reported; the submitted predictions give 2970/3270 = 0.908257: 30 rows fewer."
    )
    (finding,) = audit_predictions(PREDICTIONS, LABELS, reported="many")
    assert finding.kind == "unreadable" and finding.text.endswith(
        "the submitted predictions give 2970/3270 = 0.908257."
    )


def test_tied_predictions() -> None:
    scores = np.array([[1.0, 1.0], [0.0, 1.0], [2.0, 2.0], [1.0, 0.0]])
    (finding,) = audit_predictions(scores, [1, 1, 0, 1])
    assert finding.kind == "tied_scores"
    assert finding.text == (
        "In 2 of 4 rows (first row 1) several classes share the highest score; the first one was taken. With other "
        "choices the accuracy is 1/4 to 3/4."
    )


def test_constant_predictions() -> None:
    findings = audit_predictions(np.ones(3270, np.int64), LABELS, reported=0.6217)
    assert [finding.kind for finding in findings] == ["given", "constant"]
    assert findings[1].text == "All 3270 predictions are class 1: one answer for every row."
