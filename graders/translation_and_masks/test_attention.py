"""Questions 2.1 and 2.2: scaled dot-product attention, its scale, and separate matrices for queries and keys."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from viva.grading import agree, agree_formula, number, show_call, visibility, weight

Array = NDArray[np.float64]
Mistakes = dict[str, Callable[[], Any]]


@number("2.1")
@weight(3)
def test_attention(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Attention is softmax(QKᵀ/√d_k)V, with softmax over the keys."""
    small = (np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 1.0], [3.0, 0.0]]), np.array([[1.0], [10.0]]))
    for Q, K, V in [small, normal(rng, 3, 5, 4, 2), normal(rng, 4, 4, 9, 4), normal(rng, 1, 3, 2, 5)]:
        actual = output_of(student.scaled_dot_product_attention(Q, K, V))
        agree(
            actual,
            key.scaled_dot_product_attention(Q, K, V),
            hints=attention_mistakes(key, Q, K, V),
            name=show_attention(Q, K, V),
        )


@number("2.1")
@weight(2)
def test_attention_with_a_mask(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Masked keys (1 in the mask) get no weight, and the weights of the others still sum to 1."""
    for n, m in [(3, 4), (5, 5), (3, 4), (16, 16)]:
        Q, K, V = normal(rng, n, m, 4, 3)
        mask = half_masked(rng, n, m)
        hints = mask_mistakes(key, Q, K, V, mask)
        actual = output_of(student.scaled_dot_product_attention(Q, K, V, mask))
        expected = key.scaled_dot_product_attention(Q, K, V, mask)
        agree(actual, expected, hints=hints, name=show_attention(Q, K, V, mask))


@number("2.1")
@weight(1)
def test_attention_with_large_scores(student: Any, key: Any) -> None:
    """Scores of a thousand overflow exp, unless each row's largest is subtracted first; masks hold for them as well."""
    Q, V = 60.0 * np.eye(3), np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 4.0]])
    K = np.array([[20.0, 40.0, 60.0], [40.0, 60.0, 20.0], [60.0, 20.0, 40.0]])
    actual = output_of(student.scaled_dot_product_attention(Q, K, V))
    name = f"{show_attention(Q, K, V)} (scores of about 2,000)"
    agree(actual, key.scaled_dot_product_attention(Q, K, V), hints=large_score_mistakes(Q, K, V), name=name)
    # Each number below is exact in float32: d_k = 4 makes the scale 1/2.
    Q = np.array([[2000.0, 0, 0, 0], [25.0, 50.0, 0, 0], [-2000.0, 0, 0, 0], [0, 0, 50.0, -100.0]])
    K = np.array([[3.0, 1.0, 0, 2.0], [2.0, 3.0, 1.0, 0], [3.0, 0, 2.0, 1.0]])
    V = np.vstack([V[:2], [[-4.0, 6.0]]])
    expected = key.scaled_dot_product_attention(Q, K, V)
    name, hints = f"{show_attention(Q, K, V)} (scores from -3,000 to 3,000)", large_score_mistakes(Q, K, V)
    agree(output_of(student.scaled_dot_product_attention(Q, K, V)), expected, hints=hints, name=name)
    Q, K = (
        np.array([[100.0, 0, 0, 0], [-100.0, 0, 0, 1.0]]),
        np.array([[-120.0, 0, 0, 2.0], [120.0, 0, 0, 3.0], [-120.0, 0, 0, 4.0]]),
    )
    mask = np.array([[0, 1, 0], [1, 0, 1]])  # the masked score is 12,000 above the others
    expected = key.scaled_dot_product_attention(Q, K, V, mask)
    actual = output_of(student.scaled_dot_product_attention(Q, K, V, mask))
    agree(actual, expected, name=f"{show_attention(Q, K, V, mask)} (masked scores are 12,000 above the others)")
    # Each row sees two keys, whose scores of about -18,000 are below many a number that is used for -infinity.
    Q, K = np.diag([300.0, 300.0, 300.0, 0.0]), np.repeat([[-120.0], [-120.03125], [-120.0]], 4, axis=1)
    mask = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    expected = key.scaled_dot_product_attention(Q, K, V, mask)
    actual = output_of(student.scaled_dot_product_attention(Q, K, V, mask))
    name = f"{show_attention(Q, K, V, mask)} (visible scores are about -18,000)"
    agree(actual, expected, rtol=1e-2, atol=1e-2, name=name)


@number("2.1")
@weight(2)
@visibility("after_published")
def test_attention_on_random_matrices(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random shapes; weights sum to 1; keys and values in another order give the same output.

    Try more keys than queries, values of another width, and scores in the hundreds.
    """
    for _ in range(3):
        n, m, d, dv = (int(size) for size in rng.integers(2, 12, 4))
        Q, K, V = normal(rng, n, m, d, dv)
        order, mask = rng.permutation(m), half_masked(rng, n, m)
        questions = [(Q, K, V), (Q, K[order], V[order]), (Q, K, np.eye(m)), (Q, K, V, mask)]
        returned = student.scaled_dot_product_attention.each(questions)
        plain, reordered, weights, masked = (output_of(value) for value in returned)
        agree(plain, key.scaled_dot_product_attention(Q, K, V))
        agree(reordered, plain)
        agree(np.asarray(weights).sum(axis=1), np.ones(n), name="the sum of the weights")
        agree(masked, key.scaled_dot_product_attention(Q, K, V, mask))


@number("2.1")
@weight(2)
def test_attention_scores(student: Any, key: Any, rng: np.random.Generator) -> None:
    """With one matrix for queries and keys the scores are symmetric; with two they need not be."""
    for n, d, d_k, shared in [(3, 2, 2, True), (3, 2, 2, False), (5, 4, 3, True), (5, 4, 3, False)]:
        X, W_Q = rng.standard_normal((n, d)).round(1), rng.standard_normal((d, d_k)).round(1)
        W_K = W_Q if shared else rng.standard_normal((d, d_k)).round(1)
        expected = key.attention_scores(X, W_Q, W_K)
        hints = scores_mistakes(key, X, W_Q, W_K)
        name = show_call("attention_scores", X=X, W_Q=W_Q, W_K=W_K)
        agree(student.attention_scores(X, W_Q, W_K), expected, hints=hints, name=name)


@number("2.2")
@weight(1)
@pytest.mark.parametrize("moment", ["mean", "variance"])
def test_moments_by_hand(submission: Any, key: Any, moment: str) -> None:
    """Mean and variance of q·k as formulas in h, mu and sigma."""
    mistakes = {
        "mean": {"this is the mean of one product; there are h of them": "mu**2"},
        "variance": {
            "this holds for mu = 0 only": "h*sigma**4",
            "the product of two variances is the variance of the product only for mean 0": "h*(sigma**2+mu**2)**2",
            "a factor 2 is missing: both q and k vary": "h*(sigma**4+mu**2*sigma**2)",
            "this is the variance of one product; there are h of them": "sigma**4+2*mu**2*sigma**2",
        },
    }
    variables = {"h": (1.0, 64.0), "mu": (-2.0, 2.0), "sigma": (0.1, 3.0)}
    number_of_question = f"2.2.{moment}"
    agree_formula(
        submission.answers[number_of_question], key.answers[number_of_question], variables, hints=mistakes[moment]
    )


@number("2.2")
@weight(1)
def test_qk_moments(student: Any, key: Any, rng: np.random.Generator) -> None:
    """qk_moments(mu, sigma, h) is the pair of mean and variance of q·k."""
    for mu, sigma, h in [
        (0.0, 1.0, 64),
        (1.0, 1.0, 1),
        (0.7, 1.3, 16),
        (-0.5, 0.4, 4096),
        (*rng.uniform(0.2, 2, 2), int(rng.integers(2, 99))),
    ]:
        hints = {
            "the variance holds for mu = 0 only": (h * mu**2, h * sigma**4),
            "this is the standard deviation, not the variance": (h * mu**2, key.qk_moments(mu, sigma, h)[1] ** 0.5),
            "sigma is the standard deviation, not the variance": key.qk_moments(mu, sigma**0.5, h),
        }
        name = f"qk_moments({mu:.3g}, {sigma:.3g}, {h})"
        agree(student.qk_moments(mu, sigma, h), key.qk_moments(mu, sigma, h), hints=hints, name=name)


@number("2.2")
@weight(1)
@visibility("after_published")
def test_the_scale_keeps_softmax_from_saturating(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Σ α(1-α) of 16 keys stays near 0.87 as d_k grows; without the scale it falls to 0.05.

    Try large d_k, and look at how close the largest weight is to 1.
    """
    for d in (4, 64, 1024):
        Q, K = rng.standard_normal((8, d)), rng.standard_normal((16, d))
        weights = output_of(student.scaled_dot_product_attention(Q, K, np.eye(16)))
        sensitivity = float(np.mean(key.softmax_sensitivity(np.asarray(weights))))
        assert sensitivity > 0.7, f"with d_k = {d} the softmax is saturated: Σ α(1-α) is {sensitivity:.2f}"


def normal(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array]:
    """Q (n, d), K (m, d), V (m, dv)."""
    Q, K, V = (rng.standard_normal(shape).round(1) for shape in [(n, d), (m, d), (m, dv)])
    return Q, K, V


def show_attention(Q: Array, K: Array, V: Array, mask: NDArray[np.int64] | None = None) -> str:
    return show_call("scaled_dot_product_attention", Q=Q, K=K, V=V, **({} if mask is None else {"mask": mask}))


def half_masked(rng: np.random.Generator, n: int, m: int) -> NDArray[np.int64]:
    """(n, m), each row with at least one masked and one visible key, so that either reading of it is defined."""
    mask = rng.integers(2, size=(n, m))
    first, second = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)[:, :2].T
    mask[np.arange(n), first], mask[np.arange(n), second] = 0, 1
    return mask


def output_of(returned: Any) -> Any:
    """Many implementations return (output, weights); the output is what is asked for."""
    if isinstance(returned, tuple) and len(returned) == 2 and np.ndim(returned[0]) == 2:
        return returned[0]
    return returned


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def attention_mistakes(key: Any, Q: Array, K: Array, V: Array) -> Mistakes:
    d, attention = Q.shape[1], key.scaled_dot_product_attention
    return {
        "the scale 1/√d_k is missing": lambda: attention(Q * np.sqrt(d), K, V),
        "the scores are divided by d_k, not by its square root": lambda: attention(Q / np.sqrt(d), K, V),
        "softmax is taken over the queries (axis 0), not over the keys": lambda: softmax(scores_of(Q, K), axis=0) @ V,
        "softmax is taken over all scores at once": lambda: softmax(scores_of(Q, K), axis=None) @ V,
        "these are the weights; multiply them with V": lambda: softmax(scores_of(Q, K), axis=1),
    }


def large_score_mistakes(Q: Array, K: Array, V: Array) -> Mistakes:
    scores = scores_of(Q, K)

    def weighted(maximum: float) -> Array:
        with np.errstate(all="ignore"):
            exponentials = np.exp(scores - maximum)
            output: Array = exponentials / exponentials.sum(axis=1, keepdims=True) @ V
        return output

    return {
        "exp overflows: subtract each row's largest score before it": lambda: weighted(0.0),
        "one maximum for all rows makes every exp(score) of a row 0: subtract each row's own": lambda: weighted(
            float(scores.max())
        ),
    }


def mask_mistakes(key: Any, Q: Array, K: Array, V: Array, mask: NDArray[np.int64]) -> Mistakes:
    scores, attention = scores_of(Q, K), key.scaled_dot_product_attention
    return {
        "the mask is read the other way round: 1 means masked": lambda: attention(Q, K, V, 1 - mask),
        "the mask is not used": lambda: attention(Q, K, V),
        "the scale 1/√d_k is missing": lambda: attention(Q * np.sqrt(Q.shape[1]), K, V, mask),
        "masked weights are set to 0 after softmax, so the others do not sum to 1": lambda: (
            (softmax(scores, axis=1) * (1 - mask)) @ V
        ),
        "masked scores are set to 0, which is no small score": lambda: softmax(scores * (1 - mask), axis=1) @ V,
    }


def scores_mistakes(key: Any, X: Array, W_Q: Array, W_K: Array) -> Mistakes:
    right, d_k = key.attention_scores, W_K.shape[1]
    return {
        "rows and columns are swapped: row i holds the scores of query i": lambda: right(X, W_K, W_Q),
        "the scale 1/√d_k is missing": lambda: right(X, W_Q * np.sqrt(d_k), W_K),
        "these are the weights; the scores are what softmax is applied to": lambda: softmax(right(X, W_Q, W_K), axis=1),
        "W_Q is used for the keys as well": lambda: right(X, W_Q, W_Q),
    }


def scores_of(Q: Array, K: Array) -> Array:
    scores: Array = Q @ K.T / np.sqrt(Q.shape[1])
    return scores


def softmax(scores: Array, axis: int | None) -> Array:
    exponentials = np.exp(scores - scores.max())
    weights: Array = exponentials / exponentials.sum(axis=axis, keepdims=True)
    return weights
