"""Compares submitted predictions with the accuracy that is reported for them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from viva.plugins.training.artifacts import accuracy, predicted_classes, tied_rows
from viva.plugins.training.audits.accuracies import read_accuracy, right_answers, unit_of
from viva.plugins.training.audits.finding import Finding, begin, show

Array = np.ndarray[Any, Any]


def audit_predictions(
    predictions: Array, labels: Sequence[int] | Array, *, reported: object = None, name: str = "the accuracy"
) -> list[Finding]:
    """Return whether the reported accuracy is the one that the predictions give.

    The sentences say how many predictions are right: if the labels must stay unknown, show them only to staff.

    Args:
        predictions: classes (n,) or scores (n, C), from `artifacts.predictions`.
        labels: (n,), what is right.
        reported: the accuracy that the student states; None if none.
        name: what the sentences call it.

    Returns:
        "given" or "not_given" if an accuracy is reported ("unreadable" if it cannot be read), "tied_scores" where
        the highest score belongs to several classes, and "constant" where every prediction is the same.
    """
    findings = []
    n, reached = len(predictions), accuracy(predictions, labels)
    if reported is not None:
        findings.append(_against_report(reported, reached, n, name))
    if len(tied := tied_rows(predictions)):
        text = (
            f"In {len(tied)} of {n} rows (first row {tied[0] + 1}) several classes share the highest score; the first "
            f"one was taken. With other choices the accuracy is {_span(predictions, labels)}."
        )
        findings.append(Finding("tied_scores", text))
    classes = predicted_classes(predictions)
    if n > 1 and (classes == classes[0]).all():
        findings.append(Finding("constant", f"All {n} predictions are class {classes[0]}: one answer for every row."))
    return findings


def _against_report(reported: object, reached: Fraction, n: int, name: str) -> Finding:
    k = reached * n
    given = f"the submitted predictions give {k}/{n} = {show(reached)}"
    try:
        stated = read_accuracy(reported)
    except ValueError as why:
        return Finding("unreadable", f"{begin(name)} {why}; {given}.")
    if right_answers(reported, n) == k or abs(stated - reached) <= unit_of(stated):
        return Finding("given", f"{begin(name)} {show(stated)} is reported, and {given}.")
    fewer = f"{show(abs(stated * n - k))} rows {'fewer' if stated > reached else 'more'}"
    return Finding("not_given", f"{begin(name)} {show(stated)} is reported; {given}: {fewer}.")


def _span(predictions: Array, labels: Sequence[int] | Array) -> str:
    """Return the least and the most accuracy that ties can give."""
    scores, right = np.asarray(predictions), np.asarray(labels)
    is_highest = scores == scores.max(axis=1, keepdims=True)
    rows = np.arange(len(right))
    most = is_highest[rows, right]
    least = most & (is_highest.sum(axis=1) == 1)
    return f"{least.sum()}/{len(right)} to {most.sum()}/{len(right)}"
