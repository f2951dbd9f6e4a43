"""Question 1a: self-attention does not know the order of its inputs; positional encodings tell it."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, show_call, visibility, weight

Array = NDArray[np.float64]
Mistakes = dict[str, Callable[[], Any]]


@number("1a")
@weight(1)
def test_two_sentences_of_the_same_words(submission: Any) -> None:
    """Two sentences that are made of the same words in another order."""
    sentences = submission.answers["1a.sentences"]
    assert len(sentences) == 2, (
        f"Your answer was read as {len(sentences)} sentences; write two, such as [first sentence, second sentence]."
    )
    first, second = (re.findall(r"[\w'’-]+", sentence.lower()) for sentence in sentences)
    lacking = sorted(set(first) ^ set(second))
    assert not lacking, f"Your sentences are not made of the same words: `{lacking[0]}` stands in one of them only."
    assert sorted(first) == sorted(second), "Your sentences do not have every word equally often."
    assert first != second, "Your sentences have the same order of words as well; the order should differ."


@number("1a")
@weight(3)
def test_positional_encoding(student: Any, key: Any) -> None:
    """Sines in the even columns, cosines in the odd ones, with a wavelength for each pair of columns."""
    for max_len, d in [(3, 4), (6, 2), (20, 16), (1, 4), (300, 6), (6_000, 2)]:
        actual, expected = student.positional_encoding(max_len, d), key.positional_encoding(max_len, d)
        agree(actual, expected, hints=encoding_mistakes(max_len, d), name=f"positional_encoding({max_len}, {d})")


@number("1a")
@weight(2)
def test_self_attention(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Self-attention is softmax(QKᵀ/√d_k)V with Q = X W_Q, K = X W_K, V = X W_V."""
    for tokens, d, d_k, d_v in [(2, 3, 3, 3), (4, 3, 2, 5), (1, 3, 2, 1), (5, 2, 4, 3), (4, 3, 2, 5)]:
        X, *weights = tokens_and_matrices(rng, tokens, d, d_k, d_v)
        actual, expected = output_of(student.self_attention(X, *weights)), key.self_attention(X, *weights)
        agree(actual, expected, hints=attention_mistakes(key, X, *weights), name=show_self_attention(X, *weights))
    X = np.array([[80.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 100, 0], [1, 0, 1, 0]])  # scores from 0.5 to 5,000, row by row
    weights = [np.eye(4), np.eye(4), rng.standard_normal((4, 3)).round(1)]
    name = f"{show_self_attention(X, *weights)} (scores from 0.5 to 5,000)"
    actual, expected = output_of(student.self_attention(X, *weights)), key.self_attention(X, *weights)
    hints = large_score_mistakes(X, weights[-1])
    agree(actual, expected, rtol=1e-3, hints=hints, name=name)


@number("1a")
@weight(2)
def test_order_needs_positions(student: Any, rng: np.random.Generator) -> None:
    """Without positions another order of the tokens only reorders the outputs; with positions it changes them."""
    X, *weights = tokens_and_matrices(rng, 4, 4, 3, 2)
    order = np.array([2, 0, 3, 1])
    P = np.asarray(student.positional_encoding(4, 4))
    assert P.shape == X.shape, f"positional_encoding(4, 4) has the shape {P.shape}; expected (4, 4)."
    inputs = [X, X[order], X + P, X[order] + P]
    returned = student.self_attention.each([(x, *weights) for x in inputs])
    plain, reordered, placed, placed_elsewhere = (np.asarray(output_of(value), dtype=float) for value in returned)
    agree(
        reordered,
        plain[order],
        name=f"{show_self_attention(X[order], *weights)}, without positions and in another order,",
    )
    assert np.abs(placed_elsewhere - placed[order]).max() > 1e-3, (
        f"With your positional_encoding(4, 4) added to the tokens {X.tolist()}, another order of the tokens still only "
        "reorders the outputs: nothing tells `self_attention` where a token stands."
    )


@number("1a")
@weight(2)
@visibility("after_published")
def test_positions_and_attention_on_random_sizes(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random sizes; inner products of encodings depend on the distance of the positions alone.

    Try one token, two dimensions, and tokens in another order.
    """
    sizes = [(int(length), 2 * int(half)) for length, half in rng.integers(2, 12, (3, 2))]
    for table, size in zip(student.positional_encoding.each(sizes), sizes, strict=True):
        agree(table, key.positional_encoding(*size), atol=1e-4)
        gram = np.asarray(table) @ np.asarray(table).T
        agree(gram[1:, 1:], gram[:-1, :-1], atol=1e-4, name="the inner products, one position further,")
    questions = [tokens_and_matrices(rng, *map(int, rng.integers(2, 8, 4))) for _ in range(3)]
    for actual, question in zip(student.self_attention.each(questions), questions, strict=True):
        agree(output_of(actual), key.self_attention(*question), atol=1e-4)


def tokens_and_matrices(
    rng: np.random.Generator, tokens: int, d: int, d_k: int, d_v: int
) -> tuple[Array, Array, Array, Array]:
    """X (token, d), W_Q and W_K (d, d_k), W_V (d, d_v)."""
    W_Q, W_K, W_V = ((rng.standard_normal((d, width)) / np.sqrt(d)).round(1) for width in (d_k, d_k, d_v))
    return (2 * rng.standard_normal((tokens, d))).round(1), W_Q, W_K, W_V


def show_self_attention(X: Array, W_Q: Array, W_K: Array, W_V: Array) -> str:
    return show_call("self_attention", X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)


def output_of(returned: Any) -> Any:
    """Many implementations return (output, weights); the output is what is asked for."""
    if isinstance(returned, tuple) and len(returned) == 2 and np.ndim(returned[0]) == 2:
        return returned[0]
    return returned


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def encoding_mistakes(max_len: int, d: int) -> Mistakes:
    columns = np.arange(float(d))
    pair = 2 * (columns // 2)

    def table(exponents: Array, cosines: Any, first: int = 0) -> Array:
        angles = np.arange(first, first + max_len)[:, None] / 10000.0 ** (exponents / d)
        return np.where(cosines, np.cos(angles), np.sin(angles))

    odd = columns % 2 == 1
    halves = np.concatenate([pair[::2], pair[::2]])
    return {
        "sine and cosine are swapped": lambda: table(pair, ~odd),
        "all columns are sines": lambda: table(pair, np.zeros(d, dtype=bool)),
        "positions begin at 1; the first row is position 0": lambda: table(pair, odd, 1),
        "every column has a wavelength of its own; columns 2i and 2i + 1 share one": lambda: table(columns, odd),
        "the exponent is 2i/d for column 2i; here it is twice the column": lambda: table(2 * columns, odd),
        "the exponent is 2i/d; here it is i/d": lambda: table(pair / 2, odd),
        "the sines stand in the first half, the cosines in the second; they should alternate": lambda: table(
            halves, columns >= d // 2
        ),
    }


def large_score_mistakes(X: Array, W_V: Array) -> Mistakes:
    """Return softmax without a maximum, and with one for all rows, where queries and keys are the tokens themselves."""
    scores = X @ X.T / np.sqrt(X.shape[1])

    def weighted(maximum: Any) -> Array:
        with np.errstate(all="ignore"):
            exponentials = np.exp(scores - maximum)
            output: Array = exponentials / exponentials.sum(axis=1, keepdims=True) @ (X @ W_V)
        return output

    return {
        "exp overflows: subtract each row's largest score before it": lambda: weighted(0),
        "one maximum for all rows makes every exp(score) of a row 0: subtract each row's own": lambda: weighted(
            scores.max()
        ),
    }


def attention_mistakes(key: Any, X: Array, W_Q: Array, W_K: Array, W_V: Array) -> Mistakes:
    right, d_k = key.self_attention, W_K.shape[1]
    exponentials = np.exp((X @ W_Q) @ (X @ W_K).T / np.sqrt(d_k))
    return {
        "the scale 1/√d_k is missing": lambda: right(X, W_Q * np.sqrt(d_k), W_K, W_V),
        "the scores are divided by d_k, not by its square root": lambda: right(X, W_Q / np.sqrt(d_k), W_K, W_V),
        "the scores are divided by √d, but queries and keys have d_k components": lambda: right(
            X, W_Q * np.sqrt(d_k / len(W_Q)), W_K, W_V
        ),
        "every key has the same weight": lambda: np.tile((X @ W_V).mean(axis=0), (len(X), 1)),
        "queries and keys are exchanged": lambda: right(X, W_K, W_Q, W_V),
        "the weights are not normalised: divide by their sum over the keys": lambda: exponentials @ (X @ W_V),
        "softmax is taken over the queries (axis 0), not over the keys": lambda: (
            exponentials / exponentials.sum(axis=0) @ (X @ W_V)
        ),
        "the matrices are transposed: it is X W_Q, not X W_Qᵀ": lambda: right(X, W_Q.T, W_K.T, W_V.T),
        "the weights are applied to X, not to X W_V": lambda: right(X, W_Q, W_K, np.eye(len(W_V))),
    }
