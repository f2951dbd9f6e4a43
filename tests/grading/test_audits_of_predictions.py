"""Predictions that were submitted besides an accuracy that is reported for them."""

import numpy as np
import pytest

from viva.grading.audits import audit_predictions, audit_same_predictions

LABELS = np.arange(3270) < 2033
PREDICTIONS = np.where(np.arange(3270) < 300, 1 - LABELS, LABELS)


@pytest.mark.parametrize("reported", [2970 / 3270, "90.83 %", "2970/3270", 0.9083, np.float32(2970 / 3270)])
def test_the_accuracy_of_the_predictions(reported: object) -> None:
    findings = audit_predictions(PREDICTIONS, LABELS, reported=reported, name="run 1: dev accuracy")
    assert [finding.kind for finding in findings] == ["given"]
    assert "the submitted predictions give 2970/3270 = 0.908257." in findings[0].text


def test_another_accuracy_than_that_of_the_predictions() -> None:
    (finding,) = audit_predictions(PREDICTIONS, LABELS, reported="3000/3270", name="run 1: dev accuracy")
    assert finding.kind == "not_given"
    assert finding.text == (
        "Run 1: dev accuracy 0.917431 is reported; the submitted predictions give 2970/3270 = 0.908257: 30 rows fewer."
    )
    (finding,) = audit_predictions(PREDICTIONS, LABELS, reported="many")
    assert finding.kind == "unreadable" and finding.text.endswith(
        "the submitted predictions give 2970/3270 = 0.908257."
    )


def test_ties_are_said_with_what_they_can_change() -> None:
    scores = np.array([[1.0, 1.0], [0.0, 1.0], [2.0, 2.0], [1.0, 0.0]])
    (finding,) = audit_predictions(scores, [1, 1, 0, 1])
    assert finding.kind == "tied_scores"
    assert finding.text == (
        "In 2 of 4 rows (first row 1) several classes share the highest score; the first one was taken. With other "
        "choices the accuracy is 1/4 to 3/4."
    )


def test_one_answer_for_every_row() -> None:
    findings = audit_predictions(np.ones(3270, np.int64), LABELS, reported=0.6217)
    assert [finding.kind for finding in findings] == ["given", "constant"]
    assert findings[1].text == "All 3270 predictions are class 1: one answer for every row."


def test_one_file_for_two_splits() -> None:
    rng = np.random.default_rng(5)
    dev, test = rng.integers(0, 2, 3270), rng.integers(0, 2, 1427)
    (finding,) = audit_same_predictions(dev, dev[:1427])
    assert finding.kind == "same_predictions" and "the same in all 1427 rows that both have; by chance" in finding.text
    assert audit_same_predictions(dev, dev)[0].kind == "same_predictions"
    assert audit_same_predictions(np.stack([-dev, dev], axis=1), dev)[0].kind == "same_predictions"
    assert audit_same_predictions(dev, test) == []
    assert audit_same_predictions(np.ones(3270), np.ones(1427)) == []  # a constant answer coincides by itself
    assert audit_same_predictions(dev[:4], dev[:4]) == []  # four rows may agree by chance
