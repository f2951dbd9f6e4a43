"""Question 4.2: SpanBERT's span masking, span boundary objective and loss."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]
Mistakes = dict[str, Callable[[], Any]]

SUBWORDS = (1, 2, 1, 3, 1, 1, 2, 1, 4, 1) * 6
"""How many subword tokens each of the 60 words has: 102 tokens."""
WORDS = [[f"w{word}"] + [f"##{piece}" for piece in range(1, count)] for word, count in enumerate(SUBWORDS)]


@number("4.2")
@weight(2)
def test_span_lengths(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Span lengths follow the geometric distribution, renormalised on 1 to max_length."""
    for p, max_length, draws in [(0.2, 10, 400), (0.3, 3, 250)]:
        source = inside.generator.keep(int(rng.integers(2**32)))
        sample = inside.repeat(student.sample_span_length, draws, p, max_length, source)
        lengths = np.asarray(sample)
        what = f"sample_span_length({p}, {max_length}, rng), drawn {draws} times,"
        assert lengths.shape == (draws,) and np.isreal(lengths).all(), f"{what} did not give whole numbers."
        assert (lengths == np.round(lengths)).all(), f"{what} gave lengths that are no whole numbers."
        low, high = int(lengths.min()), int(lengths.max())
        assert low >= 1 and high <= max_length, f"{what} gave lengths from {low} to {high}; expected 1 to {max_length}."
        check_distribution(lengths.astype(np.int64), key.span_length_distribution(p, max_length), p, what)


@number("4.2")
@weight(1)
def test_span_mask(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """Spans are whole words that do not overlap, at random places, drawn until 15 % of the tokens are masked."""
    source = inside.generator.keep(int(rng.integers(2**32)))
    wanted = math.ceil(0.15 * sum(SUBWORDS))
    drawn = inside.repeat(student.span_mask, 25, WORDS, 0.15, 0.2, 10, source)
    starts = set()
    for spans in drawn:
        first_and_last = pairs(spans)
        check_spans(first_and_last, wanted)
        starts |= {first for first, _ in first_and_last}
    assert len(starts) > 20, f"25 calls of span_mask started spans at only {len(starts)} of 60 words."
    lengths = [last - first + 1 for spans in drawn for first, last in pairs(spans)]
    mean = sum(lengths) / len(lengths)
    assert 2 < mean < 6, (
        f"The spans of 25 calls of span_mask have {mean:.1f} words on average; with p = 0.2 it is about 3."
    )


@number("4.2")
@weight(1)
def test_span_mask_of_short_texts(student: Any, inside: Any, rng: np.random.Generator) -> None:
    """In twenty words of one token a quarter is five of them, and each is masked at some time."""
    for max_length in (1, 3):
        source = inside.generator.keep(int(rng.integers(2**32)))
        words = [[f"w{word}"] for word in range(20)]
        drawn = [pairs(spans) for spans in inside.repeat(student.span_mask, 100, words, 0.25, 0.6, max_length, source)]
        for spans in drawn:
            check_spans(spans, 5, (1,) * 20, max_length)
        masked = {word for spans in drawn for first, last in spans for word in range(first, last + 1)}
        never = sorted(set(range(20)) - masked)
        assert not never, f"100 calls of span_mask on 20 words, max_length = {max_length}, never masked words {never}."


@number("4.2")
@weight(2)
def test_span_boundary_representation(student: Any, key: Any, rng: np.random.Generator) -> None:
    """y_i is two layers, each with GeLU and layer normalisation, on x_{s-1}, x_{e+1} and p_{i-s+1}."""
    for n, d, start, end in [(6, 8, 2, 3), (9, 8, 1, 7), (7, 10, 3, 3)]:
        X, P, W_1, W_2 = network(rng, n, d, start, end)
        actual = student.span_boundary_representation(X, start, end, P, W_1, W_2)
        hints = boundary_mistakes(key, X, start, end, P, W_1, W_2)
        name = f"span_boundary_representation of the span {start} … {end} in {n} tokens"
        agree_either_gelu(actual, key, (X, start, end, P, W_1, W_2), hints, name)


@number("4.2")
@weight(1)
@visibility("after_published")
def test_the_boundary_alone_decides(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Other tokens than the two boundaries do not change the representation; the boundaries do."""
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
    for n, vocabulary, masked in [(4, 3, [1, 2]), (8, 5, [3, 4, 5]), (5, 4, [0])]:
        mlm, sbo, targets = logits(rng, n, vocabulary)
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
        agree(actual, expected, hints=hints, name=f"spanbert_loss of {len(masked)} masked of {n} tokens")


@number("4.2")
@weight(1)
@visibility("after_published")
def test_spanbert_loss_on_random_logits(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random logits, also large ones."""
    for scale in (1.0, 3.0, 400.0):
        n = int(rng.integers(3, 20))
        mlm, sbo, targets = logits(rng, n, int(rng.integers(2, 30)))
        masked = sorted(rng.permutation(n)[: int(rng.integers(2, n))].tolist())
        mlm, sbo = scale * mlm, scale * sbo
        agree(student.spanbert_loss(mlm, sbo, targets, masked), key.spanbert_loss(mlm, sbo, targets, masked))


def check_distribution(lengths: NDArray[np.int64], probabilities: Array, p: float, what: str) -> None:
    """Mean and chi-square; a right sampler fails less than once in a million submissions, a known mistake always."""
    values = np.arange(1, len(probabilities) + 1)
    mean = float(values @ probabilities)
    variance = float((values - mean) ** 2 @ probabilities)
    counts = np.bincount(lengths, minlength=len(values) + 1)[1:]
    expected = len(lengths) * probabilities
    clipped = p * (1 - p) ** (values - 1)
    clipped[-1] = (1 - p) ** (len(values) - 1)
    because = ""
    if distance(counts, len(lengths) * clipped) < distance(counts, expected):
        because = f" All longer lengths have become {len(values)}; draw again or renormalise, do not clip."
    far = 6 * math.sqrt(variance / len(lengths))
    drawn = float(lengths.mean())
    assert abs(drawn - mean) < far, f"{what} had the mean {drawn:.2f}; expected {mean:.2f} ± {far:.2f}.{because}"
    critical = len(values) + 40  # exceeded with probability below 1e-6 for up to nine degrees of freedom
    about = np.round(expected).astype(int).tolist()
    assert distance(counts, expected) < critical, (
        f"{what} gave lengths 1, 2, … {counts.tolist()} times; expected about {about}.{because}"
    )


def distance(counts: Array | NDArray[np.int64], expected: Array) -> float:
    """Pearson's chi-square statistic."""
    return float(((counts - expected) ** 2 / expected).sum())


def pairs(spans: Any) -> list[tuple[int, int]]:
    """Spans in any nesting of sequences and arrays as pairs of whole numbers."""
    try:
        return [(int(first), int(last)) for first, last in spans]
    except (TypeError, ValueError):
        raise AssertionError("span_mask: expected a list of pairs (first word, last word).") from None


def check_spans(
    spans: list[tuple[int, int]], wanted: int, sizes: tuple[int, ...] = SUBWORDS, max_length: int = 10
) -> None:
    """Raise with a sentence for the student unless the spans are as the question asks."""
    shown = f"span_mask returned {spans}"
    inside_text = all(0 <= first <= last < len(sizes) for first, last in spans)
    assert inside_text, f"{shown}: expected pairs (first word, last word), 0 ≤ first ≤ last ≤ {len(sizes) - 1}."
    longest = max((last - first + 1 for first, last in spans), default=0)
    assert longest <= max_length, f"{shown}: a span has {longest} words; expected at most max_length = {max_length}."
    words = [word for first, last in spans for word in range(first, last + 1)]
    assert len(words) == len(set(words)), f"{shown}: spans overlap."
    costs = [sum(sizes[first : last + 1]) for first, last in spans]
    # Whole words cannot always fill the budget exactly; a sampler that never exceeds it may stop short of one word.
    assert sum(costs) > wanted - max(sizes), f"{shown}: only {sum(costs)} tokens are masked; the budget is {wanted}."
    assert sum(costs) - max(costs) < wanted, f"{shown}: spans were drawn after the budget of {wanted} tokens was spent."


def network(rng: np.random.Generator, n: int, d: int, start: int, end: int) -> tuple[Array, Array, Array, Array]:
    """X (n, d), P (10, d), W_1 (3 d, d), W_2 (d, d), drawn until every layer is lively."""
    while True:
        X, P, W_1, W_2 = (rng.standard_normal(shape) for shape in ((n, d), (10, d), (3 * d, d), (d, d)))
        if lively(X, start, end, P, W_1, W_2):
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
    """GeLU by erf or by tanh, and any usual epsilon of layer normalisation, are right."""
    by_erf = key.span_boundary_representation(*question)
    by_tanh = key.span_boundary_representation(*question, tanh=True)
    given = np.asarray(actual)
    comparable = given.shape == by_erf.shape and given.dtype.kind == "f"
    use_tanh = comparable and np.abs(given - by_tanh).sum() < np.abs(given - by_erf).sum()
    agree(actual, by_tanh if use_tanh else by_erf, hints=hints, name=name, rtol=5e-3, atol=5e-3)


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def boundary_mistakes(key: Any, X: Array, start: int, end: int, P: Array, W_1: Array, W_2: Array) -> Mistakes:
    represent = key.span_boundary_representation
    inner, swapped = X.copy(), X.copy()
    inner[[start - 1, end + 1]] = X[[start, end]]
    swapped[[start - 1, end + 1]] = X[[end + 1, start - 1]]
    later, d = np.roll(P, -1, axis=0), X.shape[1]
    return {
        "the ends of the span are used; take the tokens beside it": lambda: represent(inner, start, end, P, W_1, W_2),
        "left and right are swapped in h_0 = [left; right; p]": lambda: represent(swapped, start, end, P, W_1, W_2),
        "positions are off by one: p_1, row 0 of P, is the first token's": lambda: represent(
            X, start, end, later, W_1, W_2
        ),
        "the layer normalisation is missing": lambda: plain_network(X, start, end, P, W_1, W_2),
        "the variance is that of a sample, divided by d - 1 instead of d": lambda: (
            represent(X, start, end, P, W_1, W_2) * np.sqrt((d - 1) / d)
        ),
    }


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
    return rng.standard_normal(shape), rng.standard_normal(shape), rng.integers(vocabulary, size=n).tolist()
