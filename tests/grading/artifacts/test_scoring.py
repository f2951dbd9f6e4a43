"""Accuracy from predictions and labels: an exact number, with ties resolved as argmax resolves them."""

from fractions import Fraction

import numpy as np
import pytest

from viva.grading import artifacts


def test_accuracy_is_exact() -> None:
    labels = np.arange(3270) < 2033
    assert artifacts.accuracy(np.ones(3270, np.int64), labels) == Fraction(2033, 3270)
    assert artifacts.accuracy(np.array([[0.0, 1.0]] * 3), [1, 1, 0]) == Fraction(2, 3)


def test_of_tied_scores_the_first_counts_and_the_rows_are_told() -> None:
    scores = np.array([[1.0, 1.0], [0.0, 2.0], [-np.inf, -np.inf], [3.0, -1.0]])
    assert artifacts.predicted_classes(scores).tolist() == [0, 1, 0, 0]
    assert artifacts.tied_rows(scores).tolist() == [0, 2]
    assert artifacts.tied_rows(np.array([1, 1])).tolist() == []
    assert artifacts.accuracy(scores, [1, 1, 0, 0]) == Fraction(3, 4)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="expected one for each row"):
        artifacts.accuracy(np.array([1, 0]), [1, 0, 0])
    with pytest.raises(ValueError, match="expected one for each row"):
        artifacts.accuracy(np.array([], np.int64), [])


@pytest.mark.parametrize("classes", [1, 0, ["a"], ["a", "A "]])
def test_classes_that_make_no_sense_are_the_authors_fault(classes: object) -> None:
    with pytest.raises(ValueError, match="two or more classes"):
        artifacts.predictions(None, "p.csv", 3, classes=classes)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected one row or more"):
        artifacts.predictions(None, "p.csv", 3, ids=[1, 1, 2])
