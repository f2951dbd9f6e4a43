"""Question 1d: multi-head attention, and what two heads can do that one cannot."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, show_call, visibility, weight

Array = NDArray[np.float64]
Mistakes = dict[str, Callable[[], Any]]

SHARPNESS = 60.0
"""The scale of the weights that copy: softmax leaves 10⁻¹³ to other tokens, and exp fits into single precision."""


@number("1d")
@weight(4)
def test_multi_head_attention(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Each head attends with its own d/heads columns, scaled by the root of that; W_O mixes what they found."""
    for batch, tokens, d, n_heads in [
        (1, 2, 2, 1),
        (1, 2, 4, 2),
        (2, 3, 6, 2),
        (3, 3, 6, 3),
        (2, 5, 8, 2),
        (1, 4, 6, 6),
        (2, 1, 6, 2),
        (2, 3, 6, 2),
    ]:
        X, *weights = matrices = batch_and_weights(rng, batch, tokens, d)
        actual = output_of(student.multi_head_attention(X, *weights, n_heads))
        hints = head_mistakes(key, *matrices, n_heads)
        agree(
            actual, key.multi_head_attention(X, *weights, n_heads), hints=hints, name=show_multi_head(matrices, n_heads)
        )
    # Scores from 0.5 to 5,000, exact in float32; the largest ones are elsewhere in the second head.
    X = np.array([[[80.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 100, 0], [79.9375, 0, 1, 0]]])
    X = np.concatenate([X, X[:, [1, 0, 3, 2]]], axis=2)
    weights = [np.eye(8), np.eye(8), np.eye(8), np.eye(8)]
    overflow = "exp over- or underflows: subtract each row's own largest score, in each head, before it"
    hints = {overflow: lambda: np.full(X.shape, np.nan)}
    name = f"{show_multi_head([X, *weights], 2)} (scores from 0.5 to 5,000)"
    actual = output_of(student.multi_head_attention(X, *weights, 2))
    agree(actual, key.multi_head_attention(X, *weights, 2), rtol=1e-2, atol=1e-2, hints=hints, name=name)


@number("1d")
@weight(3)
def test_two_heads_copy_two_tokens(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Two heads copy two distant tokens exactly; one head with the same weights loses at least half of them."""
    n, a, b = 6, 0, 5
    values = rng.standard_normal((2, n, n))
    X = np.concatenate([values, np.tile(np.eye(n), (2, 1, 1))], axis=2)  # (batch, token, value and position)
    weights = key.copying_weights(n, a, b, SHARPNESS)
    wanted = np.concatenate([values[:, a], values[:, b]], axis=1)[:, None, :].repeat(n, axis=1)
    returned = student.multi_head_attention.each([(X, *weights, 2), (X, *weights, 1)])
    two_heads, one_head = map(output_of, returned)
    mean = (wanted + np.roll(wanted, n, axis=2)) / 2
    hints: dict[str, Any] = {
        "each head gives the mean of both tokens, as a single head does": mean,
        "the heads are exchanged: the first head uses the first d/heads columns": np.roll(wanted, n, axis=2),
    }
    hints |= head_mistakes(key, X, weights.W_Q, weights.W_K, weights.W_V, weights.W_O, 2)
    agree(
        two_heads,
        wanted,
        hints=hints,
        atol=1e-4,
        name=f"multi_head_attention whose first head sees token {a} alone and its second token {b}",
    )
    agree(one_head, mean, atol=1e-4, name=f"multi_head_attention whose one head sees tokens {a} and {b} alike")


@number("1d")
@weight(4)
@visibility("after_published")
def test_multi_head_attention_on_random_sizes(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sizes; sequences of a batch do not see each other, and the order of the tokens does not matter.

    Try one head, sizes that all differ, and large scores.
    """
    for _ in range(3):
        batch, tokens, n_heads, d_head = (int(size) for size in rng.integers(2, 6, 4))
        X, *weights = batch_and_weights(rng, batch, tokens, n_heads * d_head)
        order = rng.permutation(tokens)
        questions = [(x, *weights, n_heads) for x in (X, X[:, order], X[:1])]
        together, reordered, alone = map(output_of, student.multi_head_attention.each(questions))
        agree(together, key.multi_head_attention(X, *weights, n_heads), atol=1e-4)
        agree(reordered, np.asarray(together)[:, order], atol=1e-4)
        agree(alone, np.asarray(together)[:1], atol=1e-4)


def batch_and_weights(
    rng: np.random.Generator, batch: int, tokens: int, d: int
) -> tuple[Array, Array, Array, Array, Array]:
    """X (batch, token, d), then W_Q, W_K, W_V and W_O, each (d, d)."""
    X = rng.standard_normal((batch, tokens, d)).round(1)
    W_Q, W_K, W_V, W_O = ((rng.standard_normal((d, d)) / np.sqrt(d)).round(1) for _ in range(4))
    return X, W_Q, W_K, W_V, W_O


def show_multi_head(matrices: Sequence[Array], n_heads: int) -> str:
    arguments = dict(zip(("X", "W_Q", "W_K", "W_V", "W_O"), matrices, strict=True))
    return show_call("multi_head_attention", **arguments, n_heads=n_heads)


def output_of(returned: Any) -> Any:
    """Many implementations return (output, weights); the output is what is asked for."""
    if isinstance(returned, tuple) and len(returned) == 2 and np.ndim(returned[0]) == 3:
        return returned[0]
    return returned


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def head_mistakes(key: Any, X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int) -> Mistakes:
    right, (batch, tokens, d) = key.multi_head_attention, X.shape
    d_head = d // n_heads
    strided = np.arange(d).reshape(d_head, n_heads).T.ravel()  # every n_heads-th column belongs to one head
    back = X.swapaxes(0, 1)

    def wrong_axis() -> Array:
        q, k, v = ((X @ W).reshape(batch, n_heads, tokens, d_head) for W in (W_Q, W_K, W_V))
        return attended(q, k, v).reshape(batch, tokens, d) @ W_O

    def heads(*, over_queries: bool = False) -> Array:
        q, k, v = ((X @ W).reshape(batch, tokens, n_heads, d_head).swapaxes(1, 2) for W in (W_Q, W_K, W_V))
        return attended(q, k, v, axis=2 if over_queries else 3)  # (batch, head, token, d_head)

    return {
        "the scale 1/√d_head is missing": lambda: right(X, W_Q * np.sqrt(d_head), W_K, W_V, W_O, n_heads),
        "the scores are divided by √d; each head has only d/heads components": lambda: right(
            X, W_Q / np.sqrt(n_heads), W_K, W_V, W_O, n_heads
        ),
        "the scores are divided by d_head, not by its square root": lambda: right(
            X, W_Q / np.sqrt(d_head), W_K, W_V, W_O, n_heads
        ),
        "this is one head over all columns": lambda: right(X, W_Q, W_K, W_V, W_O, 1),
        "the heads are split on the wrong axis: (batch, token, d) is reshaped to (batch, head, token, d_head) at once, "
        "which mixes tokens; reshape to (batch, token, head, d_head) and swap the axes": wrong_axis,
        "the heads are joined on the wrong axis: swap heads and tokens back before the last reshape": lambda: (
            heads().reshape(batch, tokens, d) @ W_O
        ),
        "a head takes every n-th column; it should take d/heads columns side by side": lambda: right(
            X, W_Q[:, strided], W_K[:, strided], W_V[:, strided], W_O, n_heads
        ),
        "a head takes every n-th column, and is joined that way; it should take columns side by side": lambda: right(
            X, W_Q[:, strided], W_K[:, strided], W_V[:, strided], W_O[strided], n_heads
        ),
        "attention runs over the sequences of the batch, not over the tokens: axis 0 is the batch": lambda: right(
            back, W_Q, W_K, W_V, W_O, n_heads
        ).swapaxes(0, 1),
        "softmax is taken over the queries, not over the keys": lambda: (
            heads(over_queries=True).swapaxes(1, 2).reshape(batch, tokens, d) @ W_O
        ),
        "W_O is not applied": lambda: right(X, W_Q, W_K, W_V, np.eye(d), n_heads),
        "the matrices are transposed: it is X W_Q, not X W_Qᵀ": lambda: right(X, W_Q.T, W_K.T, W_V.T, W_O.T, n_heads),
        "the heads are added up (W_O once for all of them), not joined": lambda: (
            np.tile(heads().sum(axis=1), n_heads) @ W_O
        ),
    }


def attended(q: Array, k: Array, v: Array, axis: int = 3) -> Array:
    """Attention of each head, (batch, head, token, d_head), with softmax along `axis` of the scores."""
    exponentials = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]))
    output: Array = exponentials / exponentials.sum(axis=axis, keepdims=True) @ v
    return output
