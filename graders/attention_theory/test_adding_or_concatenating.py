"""Question 1b: the dot product of two tokens whose position embedding was added, or concatenated."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, agree_formula, number, show_call, visibility, weight

Vectors = tuple[NDArray[np.float64], ...]

BY_HAND = {
    "add": {
        "these are the terms of concatenation; adding has two more": "x1*x2 + p1*p2",
        "one of the two cross terms is missing": "x1*x2 + x1*p2 + p1*p2",
        "a cross term is missing": "x1*x2 + p1*x2 + p1*p2",
        "words meet words and positions meet positions as well": "x1*p2 + p1*x2",
        "word 1 meets word 2; here each meets itself": "(x1 + p1)**2",
    },
    "concat": {
        "concatenated vectors have no cross terms: each component meets its own kind": "(x1 + p1)*(x2 + p2)",
        "the two parts are added, not multiplied": "x1*x2*p1*p2",
        "the positions are missing": "x1*x2",
        "each component meets its own kind; here words meet positions": "x1*p2 + p1*x2",
    },
}


SUMMED = 5e-6
"""How far a sum in float32 may be off where its terms cancel."""


@number("1b")
@weight(2)
@pytest.mark.parametrize("kind", ["add", "concat"])
def test_dot_products_by_hand(submission: Any, key: Any, kind: str) -> None:
    """The dot product of z1 and z2 in the terms x1, p1, x2 and p2."""
    letters = dict.fromkeys(("x1", "p1", "x2", "p2"), (-2.0, 2.0))
    answer, name = submission.answers[f"1b.{kind}"], f"1b.{kind}"
    agree_formula(answer, key.answers[name], letters, hints=BY_HAND[kind])


@number("1b")
@weight(3)
def test_dot_products(student: Any, key: Any, rng: np.random.Generator) -> None:
    """dot_add multiplies the sums, dot_concat the concatenations."""
    small = tuple(np.array(vector) for vector in ([1.0, 2.0], [3.0, 0.0], [0.0, 1.0], [2.0, 5.0]))
    for x1, p1, x2, p2 in [small, vectors(rng, 1, 1), vectors(rng, 7, 7)]:
        added, joined = key.dot_add(x1, p1, x2, p2), key.dot_concat(x1, p1, x2, p2)
        hints = {
            "the cross terms x1·p2 + p1·x2 are missing": joined,
            "of the two cross terms only x1·p2 is there": joined + x1 @ p2,
            "of the two cross terms only p1·x2 is there": joined + p1 @ x2,
            "these are the cross terms alone": added - joined,
        }
        agree(
            student.dot_add(x1, p1, x2, p2),
            added,
            hints=hints,
            atol=SUMMED,
            name=show_dot_product("dot_add", x1, p1, x2, p2),
        )
        hints = {
            "the cross terms x1·p2 + p1·x2 are in it; concatenated vectors have none": added,
            "the positions are not in it": x1 @ x2,
        }
        agree(
            student.dot_concat(x1, p1, x2, p2),
            joined,
            hints=hints,
            atol=SUMMED,
            name=show_dot_product("dot_concat", x1, p1, x2, p2),
        )
    for d, d_pos in [(3, 2), (2, 5), (1, 4)]:
        x1, p1, x2, p2 = vectors(rng, d, d_pos)
        actual, expected = student.dot_concat(x1, p1, x2, p2), key.dot_concat(x1, p1, x2, p2)
        agree(actual, expected, atol=SUMMED, name=show_dot_product("dot_concat", x1, p1, x2, p2))


@number("1b")
@weight(2)
@visibility("after_published")
def test_cross_terms_vanish_on_average(student: Any, key: Any, rng: np.random.Generator) -> None:
    """For random words and positions adding and concatenating differ by terms of mean 0, but not of variance 0.

    Try many random vectors, and compare the mean of your products with their spread.
    """
    draws, d = 200, 16
    questions = [vectors(rng, d, d) for _ in range(draws)]
    added = np.array(student.dot_add.each(questions), dtype=float).reshape(draws)
    joined = np.array(student.dot_concat.each(questions), dtype=float).reshape(draws)
    cross = added - joined
    deviation = np.sqrt(2 * d)
    assert abs(cross.mean()) < 5 * deviation / np.sqrt(draws), f"the mean of the cross terms is {cross.mean():.2f}"
    assert 0.6 < cross.std() / deviation < 1.6, f"the cross terms vary by {cross.std():.2f}, not by {deviation:.2f}"
    agree(added, [key.dot_add(*question) for question in questions], atol=1e-4)
    agree(cross, [key.cross_terms(*question) for question in questions], atol=1e-4)


def vectors(rng: np.random.Generator, d: int, d_pos: int) -> Vectors:
    """x1 (d,), p1 (d_pos,), x2 (d,), p2 (d_pos,)."""
    return tuple(rng.standard_normal(size).round(1) for size in (d, d_pos, d, d_pos))


def show_dot_product(function: str, *four: NDArray[np.float64]) -> str:
    return show_call(function, **dict(zip(("x1", "p1", "x2", "p2"), four, strict=True)))
