"""Question 1c, part i: biases in place of concatenated positions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import Disagreement, agree, agree_formula, number, show_call, visibility, weight

Array = NDArray[np.float64]
Mistakes = dict[str, Callable[[], Any]]

UNSTATED = 'the question has no 1/√d; if you mean it, say so: `"1c.scale": 1/sqrt(d)`'


@number("1c.i")
@weight(2)
def test_attention_with_bias_up_to_scale(submission: Any, student: Any, key: Any, rng: np.random.Generator) -> None:
    """The bias is added to the scores before the exponential (normalised or not)."""
    stated = scale_is_stated(submission)
    for sizes in [(2, 3, 2, 2), (4, 4, 3, 5)]:
        Q, K, V, Pi = matrices(rng, *sizes)
        V = np.abs(V)  # so that a row of the output has a positive sum
        actual = output_of(student.attention_with_bias(Q, K, V, Pi))
        expected = key.attention_with_bias(Q, K, V, Pi)
        if np.shape(actual) != expected.shape:
            agree(actual, expected, name="attention_with_bias")
        mistakes = bias_mistakes(key, Q, K, V, Pi).items()
        hints = {name: lambda mistake=mistake: rows_scaled(mistake()) for name, mistake in mistakes}
        right = [rows_scaled(value) for value in readings(key, stated, Q, K, V, Pi)]
        agree_with_one(
            rows_scaled(actual), right, hints, f"{show_attention(Q, K, V, Pi)}, each row divided by its sum,"
        )


@number("1c.i")
@weight(3)
def test_attention_with_bias(submission: Any, student: Any, key: Any, rng: np.random.Generator) -> None:
    """Attention with a bias is softmax(QKᵀ + Π)V: the weights of each query sum to 1."""
    stated = scale_is_stated(submission)
    for sizes in [(1, 2, 1, 1), (3, 5, 2, 2), (4, 4, 4, 3), (3, 5, 2, 2)]:
        Q, K, V, Pi = matrices(rng, *sizes)
        actual = output_of(student.attention_with_bias(Q, K, V, Pi))
        unnormalised = key.unnormalised_attention_with_bias(Q, K, V, Pi)
        hints: dict[str, Any] = {"the weights are not normalised: divide by Σ_j exp(q·k_j + π_j)": unnormalised}
        hints |= bias_mistakes(key, Q, K, V, Pi)
        agree_with_one(actual, readings(key, stated, Q, K, V, Pi), hints, show_attention(Q, K, V, Pi))


@number("1c.i")
@weight(2)
def test_position_bias(submission: Any, student: Any, key: Any, rng: np.random.Generator) -> None:
    """position_bias returns the π with which a bias does what concatenated positions do."""
    stated = scale_is_stated(submission)
    for n, m, d_pos in [(2, 2, 1), (3, 5, 4), (4, 4, 2), (5, 3, 16), (3, 5, 4)]:
        Q_pos, K_pos = rng.standard_normal((n, d_pos)).round(1), rng.standard_normal((m, d_pos)).round(1)
        Pi, expected = student.position_bias(Q_pos, K_pos), key.position_bias(Q_pos, K_pos)
        divided = expected / np.sqrt(d_pos)
        hints = pi_mistakes(key, Q_pos, K_pos) | {UNSTATED: divided}
        name = show_call("position_bias", Q_pos=Q_pos, K_pos=K_pos)
        agree_with_one(Pi, [expected, divided] if stated else [expected], hints, name)


@number("1c.i")
@weight(2)
def test_bias_instead_of_concatenation(submission: Any, student: Any, key: Any, rng: np.random.Generator) -> None:
    """With the bias of your position_bias, attention does what it does with concatenated positions."""
    stated = scale_is_stated(submission)
    for n, m, d in [(3, 3, 2), (4, 5, 3)]:
        Q, K, V, no_bias = matrices(rng, n, m, d, 2)
        V, no_bias = np.abs(V), 0 * no_bias  # rows of the output have positive sums
        Q_pos, K_pos = rng.standard_normal((n, d)).round(1), rng.standard_normal((m, d)).round(1)
        actual = output_of(student.attention_with_bias(Q, K, V, student.position_bias(Q_pos, K_pos)))
        wide = np.hstack([Q, Q_pos]), np.hstack([K, K_pos])
        one, kept, own = (
            rows_scaled(key.attention_with_bias(*wide, V, no_bias, scale)) for scale in (1.0, d**-0.5, (2 * d) ** -0.5)
        )
        hints = {UNSTATED: kept, "the positions are not used": rows_scaled(key.attention_with_bias(Q, K, V, no_bias))}
        if np.shape(actual) != one.shape:
            agree(actual, one, name="attention_with_bias")
        pi = show_call("position_bias", Q_pos=Q_pos, K_pos=K_pos)
        name = f"{show_call('attention_with_bias', Q=Q, K=K, V=V)}, Pi from {pi}, each row divided by its sum,"
        agree_with_one(rows_scaled(actual), [one, kept, own] if stated else [one], hints, name)


@number("1c.i")
@weight(2)
@visibility("after_published")
def test_bias_on_random_matrices(submission: Any, student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random shapes; a constant added to a row of Π changes nothing, a very small bias hides a key.

    Try more keys than queries, biases in the thousands, and a bias of minus one million for one key.
    """
    stated = scale_is_stated(submission)
    for _ in range(3):
        n, m, d, dv = (int(size) for size in rng.integers(2, 9, 4))
        Q, K, V, Pi = matrices(rng, n, m, d, dv)
        Q, K, Pi = (np.round(8 * matrix) / 8 for matrix in (Q, K, Pi))  # so that float32 holds the large scores below
        hidden = np.where(np.arange(m) == 0, -1e4, Pi)
        shifted = Pi + 4096.0 * (-1.0) ** np.arange(n)[:, None]
        questions = [(Q, K, V, Pi), (Q, K, V, shifted), (Q, K, V, hidden)]
        plain, moved, without = map(output_of, student.attention_with_bias.each(questions))
        agree_with_one(plain, readings(key, stated, Q, K, V, Pi), {}, "attention_with_bias")
        agree(moved, plain, rtol=5e-3, atol=5e-3)
        agree_with_one(without, readings(key, stated, Q, K[1:], V[1:], Pi[:, 1:]), {}, "with a hidden key")


def scale_is_stated(submission: Any) -> bool:
    """Return whether the student says that the scores are divided by √d, which the question leaves out."""
    scale = submission.answers.get("1c.scale")
    if scale is None:
        return False
    letters = ["d", "d_k", "d_q", "k"]
    try:
        agree_formula(scale, "1/sqrt(d)", letters, accept=[f"1/sqrt({letter})" for letter in letters[1:]])
    except Disagreement:
        return False
    return True


def readings(key: Any, stated: bool, Q: Array, K: Array, V: Array, Pi: Array) -> list[Array]:
    """The right outputs: without a scale; where one is stated, also with the products or all scores divided by √d.

    The key is asked for all of them, whatever a student states, so that a released folder can replay its answers.
    """
    right, root = key.attention_with_bias, np.sqrt(Q.shape[1])
    values = [right(Q, K, V, Pi), right(Q, K, V, Pi, 1 / root), right(Q / root, K, V, Pi / root)]
    return values if stated else values[:1]


def agree_with_one(actual: Any, right: list[Array], hints: dict[str, Any], name: str) -> None:
    """Agree with the right answer that is meant; the message speaks of the first if none is."""
    meant = next((value for value in right[1:] if is_near(actual, value)), right[0])
    agree(actual, meant, hints=hints, name=name)


def is_near(actual: Any, value: Array) -> bool:
    try:
        return np.shape(actual) == value.shape and np.allclose(np.asarray(actual, dtype=float), value, 1e-2, 1e-3)
    except (TypeError, ValueError):
        return False


def matrices(rng: np.random.Generator, n: int, m: int, d: int, dv: int) -> tuple[Array, Array, Array, Array]:
    """Q (n, d), K (m, d), V (m, dv), Π (n, m)."""
    Q, K, V, Pi = (rng.standard_normal(shape).round(1) for shape in [(n, d), (m, d), (m, dv), (n, m)])
    return Q, K, V, Pi


def show_attention(Q: Array, K: Array, V: Array, Pi: Array) -> str:
    return show_call("attention_with_bias", Q=Q, K=K, V=V, Pi=Pi)


def output_of(returned: Any) -> Any:
    """Many implementations return (output, weights); the output is what is asked for."""
    if isinstance(returned, tuple) and len(returned) == 2 and np.ndim(returned[0]) == 2:
        return returned[0]
    return returned


def rows_scaled(matrix: Any) -> Array:
    """Return each row divided by its sum: a factor per row, such as a missing normaliser, disappears."""
    values = np.asarray(matrix, dtype=float)
    with np.errstate(all="ignore"):
        scaled: Array = values / values.sum(axis=1, keepdims=True)
        return scaled


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def bias_mistakes(key: Any, Q: Array, K: Array, V: Array, Pi: Array) -> Mistakes:
    right, root = key.attention_with_bias, np.sqrt(Q.shape[1])
    exponentials = np.exp(Q @ K.T + Pi)
    mistakes: Mistakes = {
        UNSTATED: lambda: right(Q, K, V, Pi, 1 / root),
        f"{UNSTATED} (here the bias is divided as well)": lambda: right(Q / root, K, V, Pi / root),
        "the bias is not used": lambda: right(Q, K, V, np.zeros_like(Pi)),
        "the bias is added after softmax, not to the scores": lambda: right(Q, K, V, np.zeros_like(Pi)) + Pi @ V,
        "the bias is subtracted": lambda: right(Q, K, V, -Pi),
        "the scores are multiplied by the bias; add it": lambda: softmax(Q @ K.T * Pi) @ V,
        "softmax is taken over the queries (axis 0), not over the keys": lambda: exponentials / exponentials.sum(0) @ V,
    }
    if len(Q) == len(K):
        mistakes["the bias is used transposed: row i holds the biases of query i"] = lambda: right(Q, K, V, Pi.T)
    return mistakes


def pi_mistakes(key: Any, Q_pos: Array, K_pos: Array) -> Mistakes:
    return {
        "rows and columns are swapped: row i holds the biases of query i": lambda: key.position_bias(K_pos, Q_pos),
        "this is the exponential; the bias is added before it is taken": lambda: np.exp(Q_pos @ K_pos.T),
        "the distance of the positions is no dot product": lambda: np.linalg.norm(Q_pos[:, None] - K_pos, axis=2),
    }


def softmax(scores: Array) -> Array:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights: Array = exponentials / exponentials.sum(axis=1, keepdims=True)
    return weights
