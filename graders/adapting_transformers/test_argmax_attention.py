"""Questions 2.1 and 2.3: argmax attention, what can be learned through it, and the moments of q kᵀ."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import Disagreement, agree, agree_formula, number, visibility, weight

Array = NDArray[np.float64]
Question = tuple[Array, Array, Array]
Mistakes = dict[str, Callable[[], Any]]

PRINTED: Question = (
    np.array([-2.0, 1.0, 1.0]),
    np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 2.0], [-1.0, 1.0, -2.0], [0.0, -1.0, -2.0]]),
    np.array([[3.0, 2.0, -4.0], [3.0, -2.0, 4.0], [3.0, 2.0, 0.0], [3.0, 2.0, 4.0]]),
)
"""The query, the keys and the values of the handout."""
V_OF_FOUR = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
"""Values that tell which keys were chosen."""


@number("2.1.1")
@weight(1)
def test_argmax_attention_by_hand(submission: Any, key: Any) -> None:
    """The output for the printed query, keys and values."""
    hints = {
        "this is one of the keys; the output is a value": PRINTED[1][0].tolist(),
        "these are the inner products q·k": (PRINTED[1] @ PRINTED[0]).tolist(),
        "these are the weights; the output is the value that they choose": [1, 0, 0, 0],
        "this is the sum of several values": PRINTED[2].sum(axis=0).tolist(),
    }
    answer = submission.answers["2.1.1"]
    try:
        agree(answer, key.answers["2.1.1"], hints=hints)
    except Disagreement as wrong:  # without the right answer, which it would tell
        raise AssertionError(f"Your answer is not the output: {wrong.hint or 'write three numbers'}.") from None


@number("2.1.1")
@weight(3)
def test_hard_attention(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The value of the key with the largest inner product; of several best keys the first."""
    tied = (np.array([1.0, 0.0]), np.array([[0.0, 3.0], [2.0, 1.0], [2.0, 5.0]]), np.array([[1.0], [10.0], [100.0]]))
    first = (tied[0], tied[1][[1, 2, 0]], tied[2][[1, 2, 0]])
    long_key = (np.array([1.0, 0.0]), np.array([[1.0, 0.0], [2.0, 2.0]]), np.array([[1.37, 2.0], [3.0, 4.0]]))
    misleading = (np.ones(3), np.array([[3.0, -2.0, -2.0], [1.0, 1.0, 1.0], [2.0, 0.0, 0.0]]), PRINTED[2][:3])
    questions: dict[str, Question] = {
        "the output for the handout's vectors": PRINTED,
        "the output when the second key is best": (np.array([1.0, 0.0, 0.0]), *PRINTED[1:]),
        "the output when the second and the third key are equally good": tied,
        "the output when the first and the second key are equally good": first,
        "the output when a longer key is less similar in direction": long_key,
        "the output when one large component misleads": misleading,
        "the output for random keys": in_whole_numbers(rng),
    }
    for name, (q, K, V) in questions.items():
        actual = flat(student.hard_attention(q, K, V), V.shape[1])
        agree(actual, key.hard_attention(q, K, V), hints=mistakes(q, K, V), name=name_case(name, q, K, V))
    for name, (q, K, V) in extreme().items():
        actual = flat(student.hard_attention(q, K, V), V.shape[1])
        agree(actual, key.hard_attention(q, K, V), name=name_case(name, q, K, V))


@number("2.1.1")
@weight(2)
@visibility("after_published")
@pytest.mark.timeout(30)  # a right program may print each of 132,000 products
def test_hard_attention_on_random_vectors(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sizes, with and without ties.

    Try several keys with the same largest score, a single key, and vectors of other sizes.
    """
    many = np.zeros((66_000, 2))
    many[-int(rng.integers(1, 400))] = [0.0, 1.0]
    far = (np.array([0.0, 1.0]), many, np.arange(66_000.0)[:, None])
    agree(flat(student.hard_attention(*far), 1), key.hard_attention(*far), name="the output for 66,000 keys")
    for _ in range(8):
        n, h, d = (int(size) for size in rng.integers((6, 4, 1), 13))
        twice = np.repeat(rng.integers(-2, 3, (n, h)) * 1.0, 2, axis=0)  # every key occurs twice
        tied = (rng.integers(1, 3, h) * 1.0, twice, rng.standard_normal((2 * n, d)))
        q, K, V = drawn(rng, n, h, d)
        negative = (np.abs(q) + 0.1, -np.abs(K) - 0.1, V)  # no score is above zero
        for question in [(q, K, V), tied, negative]:
            agree(flat(student.hard_attention(*question), d), key.hard_attention(*question))


@number("2.1.2")
@weight(2)
def test_what_can_be_learned(student: Any, rng: np.random.Generator) -> None:
    """hard_attention by finite differences: no gradient with respect to query and keys, one with respect to values."""
    step = 1e-5
    q, K, V = drawn(rng, 5, 4, 3)
    base = vector(student.hard_attention(q, K, V), 3)
    moved = {
        "query": (q + step * rng.standard_normal(4), K, V),
        "keys": (q, K + step * rng.standard_normal((5, 4)), V),
    }
    for what, question in moved.items():
        change = vector(student.hard_attention(*question), 3) - base
        assert np.abs(change).max() < step**2, (
            f"Moving the {what} by about {step:g} changes the output by {np.abs(change).max():.2g}; the argmax stays "
            "where it is, so nothing should change. Is it softmax instead of argmax?"
        )
    direction = rng.uniform(1, 2, (5, 3))
    change = vector(student.hard_attention(q, K, V + direction), 3) - base
    assert np.abs(change - direction).max(axis=1).min() < 1e-4, (
        f"Moving every value by its own vector moves the output by {np.round(change, 3).tolist()}, as none of them "
        "moves: the whole gradient should go to one value."
    )


@number("2.3")
@weight(2)
@pytest.mark.parametrize("moment", ["mean", "variance"])
def test_moments_by_hand(submission: Any, key: Any, moment: str) -> None:
    """Mean and variance of q kᵀ as formulas in h, mu and sigma."""
    hints = {
        "mean": {"this is the mean of one product; there are h of them": "mu**2"},
        "variance": {
            "this holds for mu = 0 only": "h*sigma**4",
            "the product of two variances is the variance of the product only for mean 0": "h*(sigma**2+mu**2)**2",
            "a factor 2 is missing: both q and k vary": "h*(sigma**4+mu**2*sigma**2)",
            "this is the variance of one product; there are h of them": "sigma**4+2*mu**2*sigma**2",
        },
    }
    variables = {"h": (1.0, 64.0), "mu": (-2.0, 2.0), "sigma": (0.1, 3.0)}
    asked = f"2.3.{moment}"
    agree_formula(submission.answers[asked], key.answers[asked], variables, hints=hints[moment])


def drawn(rng: np.random.Generator, n: int, h: int, d: int) -> Question:
    """Return a query, keys and values; the best key is neither the first nor the last, and leads by far."""
    while True:
        q, K, V = rng.standard_normal(h), rng.standard_normal((n, h)), rng.standard_normal((n, d))
        scores = K @ q
        inner = n < 3 or 0 < scores.argmax() < n - 1
        if inner and np.diff(np.sort(scores))[-1] > 0.1:
            return q, K, V


def in_whole_numbers(rng: np.random.Generator) -> Question:
    """Return a small question that a message can show; the best key is neither the first nor the last."""
    while True:
        q, K = rng.integers(-3, 4, 3).astype(np.float64), rng.integers(-3, 4, (4, 3)).astype(np.float64)
        scores = K @ q
        alone = (scores == scores.max()).sum() == 1 and -scores.min() > scores.max() > 0
        misled = (K * q).max(axis=1).argmax() != scores.argmax()  # by one large component
        if alone and misled and 0 < scores.argmax() < 3 and K.any(axis=1).all():
            return q, K, V_OF_FOUR


def name_case(name: str, q: Array, K: Array, V: Array) -> str:
    """Return the name of a case, with its input where that is small."""
    if len(K) > 4:
        return name
    return f"{name}, q = {q.tolist()}, K = {K.tolist()} and V = {V.tolist()},"


def extreme() -> dict[str, Question]:
    """Scores that softmax, half precision or a first guess of zero do not survive."""
    V = V_OF_FOUR
    q = np.array([1.0, 2.0])
    return {
        "the output for one key": (q, -q[None], V[:1]),
        "the output when all inner products are negative": (q, -np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 2.0]]), V[:3]),
        "the output when all inner products are below -100,000": (q, -1e5 * np.array([[3.0, 1.0], [1.0, 1.0]]), V[:2]),
        "the output when all inner products are below -10³⁰": (q, -1e30 * np.array([[3.0, 1.0], [1.0, 1.0]]), V[:2]),
        "the output when inner products are thousands apart": (
            q,
            np.array([[-5e3, 0.0], [1e3, 10.0], [3e3, 0.0], [2e3, 1e3 + 1]]),
            V,
        ),
        "the output when the best key leads by less than a thousandth": (
            q,
            np.array([[1.0, 1.0], [1.0, 1.0003], [1.0, 0.9]]),
            V[:3],
        ),
        "the output when the best key leads by less than a hundred-thousandth": (
            q,
            np.array([[1.0, 1.0], [1.0, 1.000004], [1.0, 0.9]]),
            V[:3],
        ),
        "the output for 300 keys": (
            q,
            np.repeat([[0.0, 1.0], [1.0, 1.0]], [280, 20], axis=0),
            np.arange(300.0)[:, None],
        ),
    }


def vector(returned: Any, size: int) -> Array:
    """Return the output as finite numbers (size,)."""
    output = np.asarray(flat(returned, size))
    assert output.shape == (size,), f"hard_attention has shape {output.shape}; expected ({size},)."
    assert output.dtype.kind in "fiu" and np.isfinite(output).all(), "hard_attention does not return finite numbers."
    return output.astype(np.float64)


def flat(returned: Any, size: int) -> Any:
    """Return a vector of the given size as (size,), also where it came as one row or one column."""
    shape = np.shape(returned) if isinstance(returned, list | tuple | np.ndarray) else ()
    if shape in ((1, size), (size, 1)):
        return np.asarray(returned).reshape(size)
    return returned


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def mistakes(q: Array, K: Array, V: Array) -> Mistakes:
    scores = K @ q
    best = np.flatnonzero(scores == scores.max())
    cosines = scores / np.linalg.norm(K, axis=1)
    return {
        "of several best keys the last is taken; take the first": lambda: V[best[-1]],
        "of several best keys all are taken; take the first": lambda: V[best].sum(axis=0),
        "the values of several best keys are averaged; take the first": lambda: V[best].mean(axis=0),
        "this is softmax attention": lambda: softmax(scores / np.sqrt(len(q))) @ V,
        "this is softmax attention without the scale": lambda: softmax(scores) @ V,
        "this is the key; the output is its value": lambda: K[best[0]],
        "these are the weights; the output is the value that they choose": lambda: np.eye(len(K))[best[0]],
        "this is the position of the best key; the output is its value": lambda: float(best[0]),
        "the least similar key is taken": lambda: V[scores.argmin()],
        "the similarity is the inner product, not the cosine": lambda: V[cosines.argmax()],
        "the similarity is the inner product, not a distance": lambda: V[((K - q) ** 2).sum(axis=1).argmin()],
        "the first value is taken always: the argmax runs over an axis of length 1": lambda: V[0],
        "the argmax is taken over the wrong axis": lambda: V[(K * q).max(axis=1).argmax()],
    }


def softmax(scores: Array) -> Array:
    exponentials = np.exp(scores - scores.max())
    weights: Array = exponentials / exponentials.sum()
    return weights
