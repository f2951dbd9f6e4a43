"""Question 1c, part ii: how many biases a layer learns if they depend on the distance alone."""

from collections.abc import Callable
from typing import Any

import numpy as np

from viva.grading import agree, agree_formula, number, visibility, weight

Mistakes = dict[str, Callable[[], Any]]
Count = tuple[int, int, bool, int | None]
"""T, m, causal and clip."""


@number("1c.ii")
@weight(2)
def test_number_of_biases_by_hand(submission: Any, key: Any) -> None:
    """How many biases a layer learns, as a formula in T and m."""
    expected, accept = key.answers["1c.ii"], ["(2*T - 1)*m*L"]
    if counts_causal_model(submission):
        expected, accept = "T*m", ["T*m*L"]
    hints = {
        "distances run from -(T - 1) to T - 1; that is one fewer": "2*T*m",
        "distances run from -(T - 1) to T - 1, not from -T to T": "(2*T + 1)*m",
        "the distance 0 is missing": "2*(T - 1)*m",
        "this is one bias for each pair of positions; they share it where i - j is the same": "T**2*m",
        "i - j has a sign: this counts one direction alone (a causal model; say so if you mean it)": "T*m",
        "this is one direction alone, and without the distance 0": "(T - 1)*m",
        "each of the m heads has biases of its own": "2*T - 1",
    }
    letters = {"T": (2.0, 20.0), "m": (2.0, 9.0), "L": (2.0, 7.0)}
    agree_formula(submission.answers["1c.ii"], expected, letters, accept=accept, hints=hints)


@number("1c.ii")
@weight(1)
def test_number_of_clipped_biases_by_hand(submission: Any, key: Any) -> None:
    """How many biases remain when distances are clipped to at most k, as a formula in k and m."""
    expected, accept = key.answers["1c.ii.clipped"], ["(2*k + 1)*m*L"]
    if counts_causal_model(submission):
        expected, accept = "(k + 1)*m", ["(k + 1)*m*L"]
    hints = {
        "the distance 0 is missing": "2*k*m",
        "i - j has a sign: this counts one direction alone": "(k + 1)*m",
        "each of the m heads has biases of its own": "2*k + 1",
        "distances run from -k to k, which are more": "(2*k - 1)*m",
    }
    letters = {"k": (2.0, 9.0), "m": (2.0, 9.0), "L": (2.0, 7.0), "T": (20.0, 40.0)}
    agree_formula(submission.answers["1c.ii.clipped"], expected, letters, accept=accept, hints=hints)


@number("1c.ii")
@weight(3)
def test_relative_bias_params(student: Any, key: Any) -> None:
    """relative_bias_params counts the distances that differ, for each head."""
    sizes: list[tuple[int, int, int | None]] = [(1, 1, None), (3, 1, None), (2, 3, None), (5, 2, None)]
    sizes += [(4, 1, 1), (4, 2, 1), (9, 2, 3), (6, 3, 5), (5, 2, 0), (3, 14_000, None), (3, 14_000, 1)]
    questions: list[Count] = [(T, m, causal, clip) for T, m, clip in sizes for causal in (False, True)]
    given = [q[:2] if q[2:] == (False, None) else q for q in questions]  # the defaults say the same
    for actual, question in zip(student.relative_bias_params.each(given), questions, strict=True):
        T, m, causal, clip = question
        hints = count_mistakes(key, T, m, causal, clip)
        agree(actual, key.relative_bias_params(*question), hints=hints, name=asked(*question))


@number("1c.ii")
@weight(1)
@visibility("after_published")
def test_number_of_biases_on_random_sizes(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random contexts, heads and clips, against counting the differences of all pairs of positions.

    Try a context of two tokens, a clip of 0, and the causal case, and count the values of i - j by hand.
    """
    questions: list[Count] = []
    for causal in (False, True, False, True):
        T, m = (int(size) for size in rng.integers(4, 40, 2))
        questions += [(T, m, causal, None), (T, m, causal, int(rng.integers(1, T))), (T, m, causal, 0)]
    expected = [len(distances(T, causal, clip)) * m for T, m, causal, clip in questions]
    agree(student.relative_bias_params.each(questions), expected)


def distances(T: int, causal: bool, clip: int | None) -> set[int]:
    """Return every i - j that a layer tells apart."""
    farthest = T if clip is None else clip
    return {max(-farthest, min(farthest, i - j)) for i in range(T) for j in range(i + 1 if causal else T)}


def asked(T: int, m: int, causal: bool, clip: int | None) -> str:
    extra = ", causal=True" * causal + (f", clip={clip}" if clip is not None else "")
    return f"relative_bias_params({T}, {m}{extra})"


def counts_causal_model(submission: Any) -> bool:
    """Return whether the student says that the formulas count a causal model."""
    return bool(submission.answers.get("1c.ii.model") == "causal")


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def count_mistakes(key: Any, T: int, m: int, causal: bool, clip: int | None) -> Mistakes:
    """Return what programs with one mistake each give, for every combination of the arguments."""
    right = key.relative_bias_params
    pairs = T * (T + 1) // 2 if causal else T**2
    return {
        "this is one bias for each pair of positions; they share it where i - j is the same": lambda: pairs * m,
        "distances run from -(T - 1) to T - 1: 2T are one too many": lambda: (
            right(T, m, causal, clip) + (0 if causal else m)
        ),
        "distances run from -(T - 1) to T - 1, not from -T to T": lambda: right(T + 1, m, causal, clip),
        "the distance 0 is missing": lambda: right(T, m, causal, clip) - m,
        "each of the m heads has biases of its own": lambda: right(T, 1, causal, clip),
        "the argument `causal` is not used": lambda: right(T, m, False, clip),
        "the argument `causal` is used the other way round": lambda: right(T, m, not causal, clip),
        "the argument `clip` is not used": lambda: right(T, m, causal, None),
        "clip=0 leaves one number for each head; `if clip:` takes 0 for no clip": lambda: right(
            T, m, causal, clip or None
        ),
        "distances are clipped to at most k, which is a distance that still counts": lambda: right(
            T, m, causal, None if clip is None else clip - 1
        ),
    }
