"""Question 4.2: SpanBERT's span boundary objective and its loss."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, show_call, visibility, weight

Array = NDArray[np.floating[Any]]
Mistakes = dict[str, Callable[[], Any]]


@number("4.2")
@weight(2)
def test_span_boundary_representation(student: Any, key: Any, rng: np.random.Generator) -> None:
    """y_i is two layers, each with GeLU and layer normalisation, on x_{s-1}, x_{e+1} and p_{i-s+1}."""
    for n, d, start, end in [(4, 3, 1, 2), (6, 8, 2, 3), (9, 8, 1, 7), (7, 10, 3, 3), (13, 8, 2, 11)]:
        X, P, W_1, W_2 = network(rng, n, d, start, end)
        actual = student.span_boundary_representation(X, start, end, P, W_1, W_2)
        hints = boundary_mistakes(key, X, start, end, P, W_1, W_2)
        name = show_call("span_boundary_representation", X=X, start=start, end=end, P=P, W_1=W_1, W_2=W_2)
        agree_either_gelu(actual, key, (X, start, end, P, W_1, W_2), hints, name)


@number("4.2")
@weight(1)
@visibility("after_published")
def test_the_boundary_alone_decides(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Other tokens than the two boundaries do not change the representation; the boundaries do.

    Try changing a token inside the span, a token far away, and the two tokens at its borders.
    """
    start, end = 3, 6
    X, P, W_1, W_2 = network(rng, 11, 8, start, end)
    before = student.span_boundary_representation(X, start, end, P, W_1, W_2)
    agree_either_gelu(before, key, (X, start, end, P, W_1, W_2))
    changed = rng.standard_normal(X.shape)
    changed[[start - 1, end + 1]] = X[[start - 1, end + 1]]
    agree(student.span_boundary_representation(changed, start, end, P, W_1, W_2), before)
    for row in (start - 1, end + 1):
        moved = X.copy()
        while (moved == X).all() or not lively(moved, start, end, P, W_1, W_2):
            moved[row] = rng.standard_normal(8)
        after = student.span_boundary_representation(moved, start, end, P, W_1, W_2)
        agree_either_gelu(after, key, (moved, start, end, P, W_1, W_2))


@number("4.2")
@weight(1)
def test_spanbert_loss(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The loss is the mean over the masked tokens of both cross entropies, added."""
    for n, vocabulary, masked in [(4, 3, [3, 0, 2]), (8, 5, [3, 4, 5, 7, 0]), (5, 4, [0]), (4, 3, [1, 2, 3])]:
        mlm, sbo, targets = logits(rng, n, vocabulary)
        for position, target in zip(masked, rng.permutation(vocabulary).tolist(), strict=False):
            targets[position] = target  # each id occurs: none of them marks padding
        expected = key.spanbert_loss(mlm, sbo, targets, masked)
        hints = {
            "the losses are added up over the tokens; take their mean": expected * len(masked),
            "the span boundary objective is missing": expected
            - key.spanbert_loss(0 * mlm, sbo, targets, masked)
            + math.log(vocabulary),
            "the two losses are averaged; add them": expected / 2,
            "every token counts, not only the masked ones": key.spanbert_loss(mlm, sbo, targets, list(range(n))),
            "logarithms to base 2 are used; take natural ones": expected / math.log(2),
        }
        actual = student.spanbert_loss(mlm, sbo, targets, masked)
        name = show_call("spanbert_loss", mlm_logits=mlm, sbo_logits=sbo, targets=targets, masked=masked)
        agree(actual, expected, hints=hints, name=name)


@number("4.2")
@weight(1)
@visibility("after_published")
def test_spanbert_loss_on_random_logits(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random logits, also large ones.

    Try spans of one token, several spans, and logits in the thousands.
    """
    for scale in (1.0, 3.0, 400.0):
        n = int(rng.integers(3, 20))
        mlm, sbo, targets = logits(rng, n, int(rng.integers(2, 30)))
        masked = sorted(rng.permutation(n)[: int(rng.integers(2, n))].tolist())
        targets[masked[0]] = 0
        mlm, sbo = scale * mlm, scale * sbo
        agree(student.spanbert_loss(mlm, sbo, targets, masked), key.spanbert_loss(mlm, sbo, targets, masked))
    # Rows whose largest logits differ by thousands, in steps that float32 holds exactly.
    rows = 1024.0 * np.array([[3], [-4], [0], [2], [-1]])
    mlm, sbo, targets = logits(rng, 5, 6)
    targets[1] = 0
    mlm, sbo = (np.round(64 * values) / 64 + rows for values in (mlm, sbo))
    for masked in ([4, 1, 2], [1], [0, 1, 2, 3, 4]):
        agree(student.spanbert_loss(mlm, sbo, targets, masked), key.spanbert_loss(mlm, sbo, targets, masked))


def network(rng: np.random.Generator, n: int, d: int, start: int, end: int) -> tuple[Array, Array, Array, Array]:
    """X (n, d), P (3 or more, d), W_1 (3 d, d), W_2 (d, d); every layer is lively, also with a known mistake."""
    while True:
        shapes = ((n, d), (max(3, end - start + 1), d), (3 * d, d), (d, d))
        X, P, W_1, W_2 = (rng.standard_normal(shape).round(1) for shape in shapes)
        if all(lively(tokens, start, end, rows, W_1, W_2) for tokens, rows in mistaken_inputs(X, start, end, P)):
            return X, P, W_1, W_2


def lively(X: Array, start: int, end: int, P: Array, W_1: Array, W_2: Array) -> bool:
    """Whether no row comes near a constant, where layer normalisation blows up a difference between two epsilons."""
    h = np.stack([np.concatenate([X[start - 1], X[end + 1], P[i]]) for i in range(end - start + 1)])
    for W in (W_1, W_2):
        h = np.maximum(h @ W, 0)  # close enough to GeLU
        if h.var(axis=1).min() < 0.2:
            return False
        h = (h - h.mean(axis=1, keepdims=True)) / h.std(axis=1, keepdims=True)
    return True


def agree_either_gelu(
    actual: Any, key: Any, question: tuple[Any, ...], hints: Mistakes | None = None, name: str = "your answer"
) -> None:
    """GeLU by erf or by tanh, and any usual epsilon of layer normalisation, are right: the nearest is compared."""
    right = [
        key.span_boundary_representation(*question, tanh=tanh, epsilon=epsilon)
        for epsilon in (1e-12, 1e-6, 1e-5, 1e-3)
        for tanh in (False, True)
    ]
    given = np.asarray(actual)
    if given.shape == right[0].shape and given.dtype.kind == "f":
        right.sort(key=lambda expected: float(np.abs(given - expected).sum()))
    agree(actual, right[0], hints=hints, name=name, rtol=5e-3, atol=5e-3)  # hints fit whatever GeLU and epsilon
    agree(actual, right[0], name=name, rtol=1e-4, atol=1e-4)


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def boundary_mistakes(key: Any, X: Array, start: int, end: int, P: Array, W_1: Array, W_2: Array) -> Mistakes:
    def with_mistake(number: int) -> Array:
        tokens, rows = mistaken_inputs(X, start, end, P)[number]
        result: Array = key.span_boundary_representation(tokens, start, end, rows, W_1, W_2)
        return result

    d = X.shape[1]
    return {
        "the ends of the span are used; take the tokens beside it": lambda: with_mistake(1),
        "left and right are swapped in h_0 = [left; right; p]": lambda: with_mistake(2),
        "positions are off by one: p_1, row 0 of P, is the first token's": lambda: with_mistake(3),
        "the layer normalisation is missing": lambda: plain_network(X, start, end, P, W_1, W_2),
        "the variance is that of a sample, divided by d - 1 instead of d": lambda: (
            with_mistake(0) * np.sqrt((d - 1) / d)
        ),
    }


def mistaken_inputs(X: Array, start: int, end: int, P: Array) -> list[tuple[Array, Array]]:
    """X and P: as they are, with the span's ends next to it, with both sides swapped, with positions one too far."""
    inner, swapped = X.copy(), X.copy()
    inner[[start - 1, end + 1]] = X[[start, end]]
    swapped[[start - 1, end + 1]] = X[[end + 1, start - 1]]
    return [(X, P), (inner, P), (swapped, P), (X, np.roll(P, -1, axis=0))]


def plain_network(X: Array, start: int, end: int, P: Array, W_1: Array, W_2: Array) -> Array:
    rows = [np.concatenate([X[start - 1], X[end + 1], P[i]]) for i in range(end - start + 1)]
    result: Array = gelu(gelu(np.stack(rows) @ W_1) @ W_2)
    return result


def gelu(x: Array) -> Array:
    result: Array = 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    return result


def logits(rng: np.random.Generator, n: int, vocabulary: int) -> tuple[Array, Array, list[int]]:
    """Two matrices (n, vocabulary) and n target ids."""
    shape = (n, vocabulary)
    mlm, sbo = rng.standard_normal(shape).round(1), rng.standard_normal(shape).round(1)
    return mlm, sbo, rng.integers(vocabulary, size=n).tolist()
