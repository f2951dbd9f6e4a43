"""reference/bert/span_scoring.py against brute force and the rules of SQuAD 2.0's evaluation script, as a table."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.bert.span_scoring import (
    best_span,
    choose_threshold,
    mean_f1,
    normalize_answer,
    squad_exact_match,
    squad_f1,
)

Array = NDArray[np.float64]


def brute_force(S: Array, E: Array, T: Array, C: Array, tau: float, max_len: int | None) -> tuple[int, int] | None:
    """Every pair of tokens, one after the other."""
    best, span = -math.inf, None
    for i in range(len(T)):
        for j in range(i, len(T) if max_len is None else min(len(T), i + max_len)):
            score = sum(S * T[i]) + sum(E * T[j])
            if score > best:
                best, span = score, (i, j)
    return span if best > sum(S * C) + sum(E * C) + tau else None


def test_best_span_equals_brute_force() -> None:
    rng = np.random.default_rng(19)
    answered = unordered = 0
    for _ in range(300):
        n, d = int(rng.integers(1, 12)), int(rng.integers(1, 6))
        S, E, C, T = rng.standard_normal(d), rng.standard_normal(d), rng.standard_normal(d), rng.standard_normal((n, d))
        tau = float(rng.normal(0, 2))
        max_len = None if rng.integers(2) else int(rng.integers(1, 5))
        span = best_span(S, E, T, C, tau, max_len)
        assert span == brute_force(S, E, T, C, tau, max_len)
        answered += span is not None
        unordered += int((T @ S).argmax()) > int((T @ E).argmax())
    assert 60 < answered < 290 and unordered > 60  # both outcomes, and cases where start and end chosen apart cross


def test_threshold_is_monotone() -> None:
    rng = np.random.default_rng(20)
    S, E, C, T = rng.standard_normal(4), rng.standard_normal(4), rng.standard_normal(4), rng.standard_normal((9, 4))
    spans = [best_span(S, E, T, C, tau) for tau in np.linspace(-20, 20, 81)]
    answered = [span is not None for span in spans]
    assert answered == sorted(answered, reverse=True) and answered[0] and not answered[-1]
    assert len(set(spans)) == 2  # one span and None: the threshold does not choose between spans


def test_choose_threshold() -> None:
    rng = np.random.default_rng(21)
    for _ in range(200):
        n = int(rng.integers(1, 10))
        null, span = rng.normal(0, 3, n), rng.normal(0, 3, n)
        answerable = rng.integers(2, size=n)
        f1_null, f1_span = 1.0 - answerable, answerable * rng.random(n)
        margins = span - null
        tau = choose_threshold(null, span, f1_null, f1_span)
        every_threshold = [*(margins + 1e-9), *(margins - 1e-9), -1e9, 1e9]
        best = max(mean_f1(t, margins, f1_null, f1_span) for t in every_threshold)
        assert mean_f1(tau, margins, f1_null, f1_span) == pytest.approx(best, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Eiffel-Tower!", "eiffeltower"),
        ("A theatre, an anthem", "theatre anthem"),
        ("in the\tU.S.", "in us"),
        ("the", ""),
        ("", ""),
        ("Ça ira.", "ça ira"),
        ("“the end”", "“ end”"),  # only ASCII punctuation is removed, and the article is at a word boundary
        ("10,000", "10000"),
    ],
)
def test_answer_is_normalized_as_in_squad(text: str, expected: str) -> None:
    assert normalize_answer(text) == expected


@pytest.mark.parametrize(
    ("prediction", "golds", "exact", "f1"),
    [
        ("the cat sat", ["cat sat"], 1, 1.0),
        ("cat", ["cat sat"], 0, 2 / 3),
        ("cat sat on", ["sat on mat"], 0, 2 / 3),
        ("sat sat", ["sat"], 0, 2 / 3),  # bags, not sets
        ("cat", ["dog", "black cat"], 0, 2 / 3),  # the best gold answer counts
        ("dog", ["cat"], 0, 0.0),
        ("", [], 1, 1.0),
        ("", [""], 1, 1.0),
        ("", ["cat"], 0, 0.0),
        ("cat", [], 0, 0.0),
        ("cat", [""], 0, 0.0),
        ("the", [""], 1, 1.0),  # an article alone is empty after normalisation
        ("", ["", "cat"], 0, 0.0),  # empty golds next to real ones are dropped, as the official script does
        ("cat", ["the", "cat"], 1, 1.0),
    ],
)
def test_exact_match_and_f1(prediction: str, golds: list[str], exact: int, f1: float) -> None:
    assert squad_exact_match(prediction, golds) == exact
    assert squad_f1(prediction, golds) == pytest.approx(f1, abs=1e-15)
