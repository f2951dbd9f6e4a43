"""Questions 2.3 and 2.4: linear attention and group attention."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, agree_formula, number, show_call, weight

Array = NDArray[np.float64]
Mistakes = dict[str, Callable[[], Any]]

CANCELLED = 1e-6
"""The error that single precision may leave where the terms of a long sum cancel."""
LONG = 20_000
"""Tokens at which a (query, key) matrix no longer fits into the memory that a submission has."""


@number("2.3")
@weight(1)
def test_linear_attention_up_to_scale(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Linear attention applies the feature map to Q and K and sums over the keys first (normalised or not)."""
    feature_map = inside.elu_plus_one
    for n, m, d, dv in [(2, 3, 2, 2), (5, 4, 3, 6)]:
        Q, K, V = random_matrices(rng, n, m, d, dv)
        V = np.abs(V)  # so that a row of the output has a positive sum
        actual = student.linear_attention(Q, K, V, feature_map)
        expected = key.kernel_attention(Q, K, V)
        agree_shape(actual, expected, "linear_attention")
        name = f"{show_linear_attention('linear_attention', Q, K, V)}, each row divided by its sum,"
        agree(rows_scaled(actual), rows_scaled(expected), hints=numerator_mistakes(key, Q, K, V), name=name)


@number("2.3")
@weight("3/2")
def test_linear_attention(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Linear attention divides each row by φ(q)·Σφ(k), so that it is a weighted mean of the values."""
    for n, m, d, dv in [(1, 2, 1, 1), (4, 6, 3, 2), (7, 7, 5, 5), (2, 1025, 2, 1)]:
        Q, K, V = without_small_sums(rng, n, m, d, dv)
        actual, expected = student.linear_attention(Q, K, V, inside.elu_plus_one), key.kernel_attention(Q, K, V)
        name = show_linear_attention("linear_attention", Q, K, V)
        agree(actual, expected, atol=CANCELLED, hints=normaliser_mistakes(key, Q, K, V), name=name)
    Q, K, V = without_small_sums(rng, 4, 6, 3, 2)  # as above, so that nothing kept from there is right
    phi_q, phi_k = Q**2 + 1, K**2 + 1
    expected = (phi_q @ phi_k.T) @ V / (phi_q @ phi_k.sum(axis=0))[:, None]
    hints = {"another feature map than the one handed over is used": key.kernel_attention(Q, K, V)}
    actual = student.linear_attention(Q, K, V, inside.squared_plus_one)
    agree(actual, expected, hints=hints, name=show_linear_attention("linear_attention", Q, K, V, "x² + 1"))


@number("2.3")
@weight("3/2")
def test_causal_linear_attention(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """In the causal variant position i sums over the keys up to i."""
    for n, d, dv in [(3, 2, 1), (8, 4, 3), (1, 3, 2), (300, 3, 2), (8, 4, 3)]:
        Q, K, V = without_small_sums(rng, n, n, d, dv)
        actual = student.causal_linear_attention(Q, K, V, inside.elu_plus_one)
        expected = key.kernel_attention(Q, K, V, causal=True)
        name = show_linear_attention("causal_linear_attention", Q, K, V)
        agree(actual, expected, atol=CANCELLED, hints=causal_mistakes(key, Q, K, V), name=name)
    Q, K, V = without_small_sums(rng, 6, 6, 3, 2)
    weights = np.tril((Q**2 + 1) @ (K**2 + 1).T)
    hints = {"another feature map than the one handed over is used": key.kernel_attention(Q, K, V, causal=True)}
    actual, expected = student.causal_linear_attention(Q, K, V, inside.squared_plus_one), weights @ V
    expected /= weights.sum(axis=1, keepdims=True)
    agree(actual, expected, hints=hints, name=show_linear_attention("causal_linear_attention", Q, K, V, "x² + 1"))


@number("2.3")
@weight(1)
def test_linear_attention_of_a_long_text(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """20,000 tokens: time and memory grow with n, so no matrix of n × n scores is made."""
    Q, K, V = random_matrices(rng, LONG, LONG, 2, 2)
    V = np.abs(V)
    call = student.linear_attention.call(Q, K, V, inside.elu_plus_one)
    assert call.raised is None or call.raised.limit not in ("memory", "time"), (
        f"linear_attention of {LONG:,} tokens ran out of {call.raised.limit}: "
        "multiply φ(K)ᵀ with V first, so that no (query, key) matrix is needed."
    )
    if call.raised is not None:
        raise call.raised
    expected = key.kernel_attention(Q, K, V)
    agree_shape(call.value, expected, f"linear_attention of {LONG:,} tokens")
    actual = rows_scaled(call.value)  # the normaliser is asked for above
    name = "linear_attention of a long text, rows divided by their sums,"
    agree(actual, rows_scaled(expected), rtol=1e-3, name=name)


@number("2.4")
@weight(2)
def test_group_attention(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Group attention is attention inside each of G consecutive groups of equal size."""
    for n, groups in [(6, 2), (6, 3), (8, 1), (5, 5), (6, 2), (int(4 * rng.integers(2, 6)), 4)]:
        Q, K, V = random_matrices(rng, n, n, 3, 2)
        actual, expected = student.group_attention(Q, K, V, groups), key.group_attention(Q, K, V, groups)
        name = show_call("group_attention", Q=Q, K=K, V=V, groups=groups)
        agree(actual, expected, hints=group_mistakes(key, Q, K, V, groups), name=name)
    Q, K, V = random_matrices(rng, 8, 8, 4, 1)
    Q, K = np.round(4 * Q) * 2.0 ** np.array([[0, 9, 0, 4, 9, 9, 0, 2]]).T, np.round(2 * K)  # exact in float32
    actual, expected = student.group_attention(Q, K, V, 4), key.group_attention(Q, K, V, 4)
    name = f"{show_call('group_attention', Q=Q, K=K, V=V, groups=4)} (scores up to tens of thousands)"
    agree(actual, expected, rtol=1e-2, atol=1e-2, name=name)  # torch scales queries and keys one by one, which rounds


@number("2.4")
@weight(1)
def test_groups_of_unequal_size_are_refused(student: Any) -> None:
    """Tokens that cannot be divided into equal groups raise an error instead of a wrong result."""
    ones = np.ones((4, 2))
    agree(student.group_attention(ones, ones, ones, 2), ones, name="group_attention of ones")
    for n, groups in [(5, 2), (4, 3), (2, 4), (9, 6)]:
        part = np.ones((n, 2))
        call = student.group_attention.call(part, part, part, groups)
        said = f"group_attention of {n} tokens in {groups} groups returned a value; raise a ValueError."
        assert call.raised is not None, said
        if call.raised.limit is not None or call.raised.type_name in ("SystemExit", "KeyboardInterrupt"):
            raise call.raised


@number("2.4")
@weight(1)
def test_number_of_scores_by_hand(submission: Any, key: Any) -> None:
    """How many scores group attention computes, as a formula in n and G."""
    hints = {
        "this is full attention": "n**2",
        "this is one group; there are G of them": "(n/G)**2",
        "each of the G groups has n/G tokens, not G": "n*G",
    }
    agree_formula(submission.answers["2.4"], key.answers["2.4"], {"n": (8.0, 512.0), "G": (2.0, 8.0)}, hints=hints)


def random_matrices(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array]:
    """Q (n, d), K (m, d), V (m, dv)."""
    Q, K, V = (rng.standard_normal(shape).round(1) for shape in [(n, d), (m, d), (m, dv)])
    return Q, K, V


def show_linear_attention(function: str, Q: Array, K: Array, V: Array, feature_map: str = "elu(x) + 1") -> str:
    return f"{show_call(function, Q=Q, K=K, V=V)}, feature_map(x) = {feature_map},"


def without_small_sums(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array]:
    """Q, K and V for which no denominator is so small that the 1e-6 that some add to it shows."""
    Q, K, V = random_matrices(rng, n, m, d, dv)
    return np.maximum(Q, -1.0), np.maximum(K, -1.0), V


def agree_shape(actual: Any, expected: Array, name: str) -> None:
    """Complain about the shape before anything is computed with the answer."""
    if np.shape(actual) != expected.shape:
        agree(actual, expected, name=name)


def rows_scaled(matrix: Any) -> Any:
    """Return each row divided by its sum: a factor per row, such as a missing normaliser, disappears."""
    values = np.asarray(matrix)
    with np.errstate(all="ignore"):
        return values / values.sum(axis=1, keepdims=True)


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def numerator_mistakes(key: Any, Q: Array, K: Array, V: Array) -> Mistakes:
    return {
        "this is softmax attention": lambda: rows_scaled(key.scaled_dot_product_attention(Q, K, V)),
        "the feature map is not applied to the queries": lambda: rows_scaled(Q @ (elu_plus_one(K).T @ V)),
        "the feature map is not applied to the keys": lambda: rows_scaled(elu_plus_one(Q) @ (K.T @ V)),
    }


def normaliser_mistakes(key: Any, Q: Array, K: Array, V: Array) -> Mistakes:
    return {
        "the normaliser φ(Q)(φ(K)ᵀ1) is missing": lambda: key.kernel_attention(Q, K, V, normalised=False),
        "the sum is divided by the number of keys, not by φ(q)·Σφ(k)": lambda: (
            key.kernel_attention(Q, K, V, normalised=False) / len(K)
        ),
        "this is softmax attention": lambda: key.scaled_dot_product_attention(Q, K, V),
    }


def causal_mistakes(key: Any, Q: Array, K: Array, V: Array) -> Mistakes:
    phi_q, phi_k = elu_plus_one(Q), elu_plus_one(K)
    sums = np.cumsum(phi_k[:, :, None] * V[:, None, :], axis=0)  # (token, d, dv)
    numerator = np.einsum("nd,ndv->nv", phi_q, sums)
    return {
        "every position sees the future": lambda: key.kernel_attention(Q, K, V),
        "the normaliser is missing": lambda: numerator,
        "the normaliser sums over all keys, not over those up to i": lambda: (
            numerator / (phi_q @ phi_k.sum(axis=0))[:, None]
        ),
    }


def group_mistakes(key: Any, Q: Array, K: Array, V: Array, groups: int) -> Mistakes:
    n, d = Q.shape

    def strided() -> Array:
        order = np.arange(n).reshape(-1, groups).T.ravel()  # every G-th token together
        output = np.empty_like(V)
        output[order] = key.group_attention(Q[order], K[order], V[order], groups)
        return output

    return {
        "every token attends to all groups": lambda: key.scaled_dot_product_attention(Q, K, V),
        "the groups take every G-th token; they should be consecutive": strided,
        "the scale 1/√d_k is missing": lambda: key.group_attention(Q * np.sqrt(d), K, V, groups),
        "`groups` is taken as the size of a group": lambda: key.group_attention(Q, K, V, n // groups),
    }


def elu_plus_one(x: Array) -> Array:
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
