"""Question 1e: question and passage in one input, start and end of the answer, and passages that are too long."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, agree_on, number, strategies, visibility, weight

Array = NDArray[np.float64]
Mistakes = dict[str, Callable[[], Any]]
Window = tuple[int, int]
Packed = tuple[list[str], list[int]]
Chunks = tuple[list[Window], list[Array], list[Array]]


@number("1e.i")
@weight(2)
def test_pack_pair(student: Any, key: Any) -> None:
    """[CLS] question [SEP] passage [SEP]; segment 0 up to and including the first [SEP], then segment 1."""
    question = strategies.token_lists(("who", "sail", "##ed"), 1, 4)
    passage = strategies.token_lists(("ada", "to", "lyon"), 1, 6)
    agree_on(student.pack_pair, key.pack_pair, question, passage, examples=20, hints=packing_mistakes())
    long = (["who", "sail"] * 50, ["ada", "sail", "##ed"] * 200)  # nothing is cut off
    name = "pack_pair(['who', 'sail'] * 50, ['ada', 'sail', '##ed'] * 200)"
    agree(student.pack_pair(*long), key.pack_pair(*long), name=name)


@number("1e.ii")
@weight(1)
def test_span_logits(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Start and end logits are the products of each token's state with the start and the end vector."""
    for batch, tokens, d in [(1, 3, 2), (2, 4, 3), (3, 3, 3)]:
        H, w_s, w_e = (rng.standard_normal(shape).round(1) for shape in ((batch, tokens, d), d, d))
        start, end = key.span_logits(H, w_s, w_e)
        hints = {
            "start and end are swapped": (end, start),
            "these are probabilities; the logits are what softmax is applied to": (
                np.exp(log_softmax(start)),
                np.exp(log_softmax(end)),
            ),
            "start and end of each token stand side by side; return two arrays (batch, token)": np.stack(
                [start, end], axis=-1
            ),
        }
        name = f"span_logits with H of shape {H.shape}"
        if batch == 1:
            name = f"span_logits({H.tolist()}, {w_s.tolist()}, {w_e.tolist()})"
        agree(student.span_logits(H, w_s, w_e), (start, end), hints=hints, name=name)


@number("1e.ii")
@weight(1)
def test_span_ce(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The loss is the cross entropy of the start plus that of the end, softmax over the tokens, mean over the batch."""
    for batch, tokens, scale in [(1, 4, 1.0), (3, 5, 1.0), (4, 4, 2.0), (2, 6, 1000.0)]:
        question = span_question(rng, batch, tokens, scale)
        large = " in the thousands" * (scale > 9)
        name = f"span_ce with logits of shape {question[0].shape}{large}"
        if batch == 1:
            name = f"span_ce({', '.join(str(part.tolist()) for part in question)})"
        agree_sum_or_mean(student.span_ce(*question), key.span_ce(*question), span_mistakes(key, *question), name)


@number("1e.ii")
@weight(1)
@visibility("after_published")
def test_spans_of_random_states(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random states, from the logits to the loss.

    Try spans of one token, spans at either end, and batches of one text.
    """
    for _ in range(3):
        batch, tokens, d = (int(size) for size in rng.integers(2, 10, 3))
        H, w_s, w_e = rng.standard_normal((batch, tokens, d)), rng.standard_normal(d), rng.standard_normal(d)
        logits = key.span_logits(H, w_s, w_e)
        agree(student.span_logits(H, w_s, w_e), logits)
        question = (*logits, rng.integers(tokens, size=batch), rng.integers(tokens, size=batch))
        agree_sum_or_mean(student.span_ce(*question), key.span_ce(*question))


@number("1e.iii")
@weight(2)
def test_sliding_windows(student: Any, key: Any) -> None:
    """Windows begin every `stride` tokens, have at most `max_len` tokens, and together cover the text to its end."""
    lengths, longest, steps = strategies.lengths(1, 16), strategies.lengths(5, 7), strategies.lengths(1, 4)
    agree_on(
        student.sliding_windows, key.sliding_windows, lengths, longest, steps, examples=30, hints=window_mistakes(key)
    )


@number("1e.iii")
@weight(2)
def test_merge_spans(student: Any, key: Any, rng: np.random.Generator) -> None:
    """The best span of all windows lies in one window, begins before it ends, and is counted in the passage."""
    one, two, close = [(0, 3)], [(0, 3), (2, 5)], [(0, 3), (1, 4)]
    for windows, start, end in [
        by_hand(one, [[0, 2, 1]], [[0.5, 0, 3]]),
        by_hand(one, [[0, 0.5, 4]], [[3, 0, 1]]),  # the best end is before the best start
        by_hand(two, [[0, 1, 0.5], [3, 0, 1]], [[0.5, 0, 1], [0.5, 2, 0]]),
        by_hand(two, [[3, 0, 0.5], [1, 0, 0.4]], [[0, 0.5, 1], [0.2, 0.1, 4]]),  # best start and best end are apart
        by_hand(two, [[0, 0, 5], [0.5, 0, 0]], [[0, 0, 4], [1, 0.5, 0]]),  # the second window is less sure of the best
        by_hand(close, [[0, 0, 5], [0, 1, 0.5]], [[0, 0, 4], [0, 1, 0]]),  # the same, inside the second window
        by_hand(two, [[0, 7, 6.5], [6, 1, 0]], [[6, 5.5, 0], [6, 0, 1]]),  # the second window is surer, and lower
        by_hand(two, [[-9, -7, -8], [-3, -6, -9]], [[-5, -6, -9], [-8, -4, -9]]),  # no sum is positive
        by_hand(two, [[-9e20, -8e20, -8e20], [-7e20, -6e20, -9e20]], [[-5e20, -6e20, -9e20], [-8e20, -9e20, -4e20]]),
        by_hand([(0, 1), (1, 2)], [[2], [1]], [[1], [3]]),  # windows of one token
        chunks(rng, key.sliding_windows(11, 4, 2)),
    ]:
        shown = [[[round(float(value), 2) for value in row] for row in side] for side in (start, end)]
        name = f"merge_spans({windows}, {shown[0]}, {shown[1]})"
        expected, hints = key.merge_spans(windows, start, end), merge_mistakes(windows, start, end)
        agree(student.merge_spans(windows, start, end), expected, hints=hints, name=name)


@number("1e.iii")
@weight(1)
@visibility("after_published")
def test_long_passages(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random passages: their windows, and the best span of all windows.

    Try passages that just fit, that are one token too long, and answers at the border of two windows.
    """
    cuts, merges = [], []
    for _ in range(40):
        n, max_len = int(rng.integers(1, 60)), int(rng.integers(2, 16))
        cuts.append((n, max_len, int(rng.integers(1, max_len + 1))))
        merges.append(chunks(rng, key.sliding_windows(*cuts[-1])))
    cuts += [(n, longest, step) for n in range(1, 16) for longest in range(1, 6) for step in range(1, longest + 1)]
    merges += [long_span(300), best_ends_first(150)]
    agree(student.sliding_windows.each(cuts), [key.sliding_windows(*cut) for cut in cuts])
    agree(student.merge_spans.each(merges), [key.merge_spans(*question) for question in merges])


def span_question(rng: np.random.Generator, batch: int, tokens: int, scale: float) -> tuple[Array, Array, Any, Any]:
    """Start and end logits (batch, token), true starts and ends (batch,)."""
    start, end = ((scale * rng.standard_normal((batch, tokens))).round(1) for _ in range(2))
    if scale > 9:  # a large loss: a small one would be lost in the rounding of float32
        return start - 5 * scale, end - 5 * scale, start.argmin(axis=1), end.argmin(axis=1)
    return start, end, rng.integers(tokens, size=batch), rng.integers(tokens, size=batch)


def agree_sum_or_mean(actual: Any, expected: float, hints: Mistakes | None = None, name: str = "your answer") -> None:
    """The paper adds start and end, many programs take the mean of the two: both are right."""
    shown = np.asarray(actual)
    shown = shown.reshape(()) if shown.size == 1 else shown
    halved = shown.shape == () and shown.dtype.kind == "f" and abs(shown - expected / 2) < abs(shown - expected)
    try:
        agree(actual, expected / 2 if halved else expected, name=name)
    except AssertionError:
        agree(actual, expected, hints=hints, name=name)


def chunks(rng: np.random.Generator, windows: list[Window]) -> Chunks:
    """Windows, and logits for the tokens of each; no two spans have nearly the same score."""
    while True:
        start, end = ([2 * rng.standard_normal(last - first) for first, last in windows] for _ in range(2))
        scores = sorted(
            s[i] + e[j] for s, e in zip(start, end, strict=True) for i in range(len(s)) for j in range(i, len(s))
        )
        if len(scores) == 1 or scores[-1] - scores[-2] > 1e-2:
            return windows, start, end


def long_span(n: int) -> Chunks:
    """One window, of which nearly all of its n tokens are the best span."""
    return by_hand([(0, n)], [[-1.0, 8.0, *[-1.0] * (n - 2)]], [[*[-1.0] * (n - 2), 8.0, -1.0]])


def best_ends_first(n: int) -> Chunks:
    """The later a token, the better a start, and the worse an end: the best few of both make no span together."""
    return by_hand([(0, n)], [[-99.0, *map(float, range(1, n))]], [[-1.1 * i for i in range(n)]])


def by_hand(windows: list[Window], start: list[list[float]], end: list[list[float]]) -> Chunks:
    return windows, [np.array(row, dtype=np.float64) for row in start], [np.array(row, dtype=np.float64) for row in end]


# What students get wrong, computed only for an answer that is wrong, so that a message can name it.


def packing_mistakes() -> dict[str, Callable[[list[str], list[str]], Packed]]:
    def pack(question: list[str], passage: list[str], *, final: bool = True, boundary: int = 0) -> Packed:
        tokens = ["[CLS]", *question, "[SEP]", *passage, *(["[SEP]"] if final else [])]
        first = len(question) + 2 + boundary
        return tokens, [0] * first + [1] * (len(tokens) - first)

    return {
        "the final [SEP] is missing": lambda q, p: pack(q, p, final=False),
        "the first [SEP] has segment 1; it belongs to the question, segment 0": lambda q, p: pack(q, p, boundary=-1),
        "the first token of the passage has segment 0": lambda q, p: pack(q, p, boundary=1),
        "all tokens have segment 0; the passage is segment 1": lambda q, p: (pack(q, p)[0], [0] * (len(q + p) + 3)),
        "[CLS] is missing": lambda q, p: (pack(q, p)[0][1:], pack(q, p)[1][1:]),
        "question and passage are swapped": lambda q, p: pack(p, q),
        "a second [CLS] stands before the passage": lambda q, p: (
            ["[CLS]", *q, "[SEP]", "[CLS]", *p, "[SEP]"],
            [0] * (len(q) + 2) + [1] * (len(p) + 2),
        ),
        "segments are counted from 1": lambda q, p: (pack(q, p)[0], [segment + 1 for segment in pack(q, p)[1]]),
    }


def span_mistakes(key: Any, start_logits: Array, end_logits: Array, start: Any, end: Any) -> Mistakes:
    loss, batch = key.span_ce, len(start_logits)
    rows = np.arange(batch)

    def over_batch(logits: Array, position: Any) -> float:
        return float(-log_softmax(logits.T).T[rows, position].mean())

    return {
        "softmax is taken over the texts (axis 0), not over the tokens": lambda: (
            over_batch(start_logits, start) + over_batch(end_logits, end)
        ),
        "softmax is taken over all texts and tokens at once": lambda: loss(
            start_logits.reshape(1, -1).repeat(batch, 0),
            end_logits.reshape(1, -1).repeat(batch, 0),
            rows * start_logits.shape[1] + start,
            rows * start_logits.shape[1] + end,
        ),
        "the losses are added up over the texts; take their mean": lambda: (
            batch * loss(start_logits, end_logits, start, end)
        ),
        "only the start counts": lambda: loss(start_logits, start_logits, start, start) / 2,
        "only the end counts": lambda: loss(end_logits, end_logits, end, end) / 2,
        "start and end are swapped": lambda: loss(start_logits, end_logits, end, start),
        "softmax is applied twice": lambda: loss(
            np.exp(log_softmax(start_logits)), np.exp(log_softmax(end_logits)), start, end
        ),
        "the sign is turned round": lambda: -loss(start_logits, end_logits, start, end),
    }


def window_mistakes(key: Any) -> dict[str, Callable[[int, int, int], list[Window]]]:
    def full(n: int, max_len: int, stride: int) -> list[Window]:
        return [(first, first + max_len) for first in range(0, n - max_len + 1, stride)]

    return {
        "the last tokens are dropped where no whole window fits; the last window may be shorter": full,
        "the last tokens are dropped, but a short text gets its window": lambda n, m, s: full(n, m, s) or [(0, n)],
        "`stride` is taken as the overlap; it is the step from one start to the next": lambda n, m, s: (
            key.sliding_windows(n, m, m - s)
        ),
        "windows follow after the first one that reaches the end": lambda n, m, s: [
            (first, min(first + m, n)) for first in range(0, n, s)
        ],
        "the last window goes beyond the end of the text": lambda n, m, s: [
            (first, first + m) for first, _ in key.sliding_windows(n, m, s)
        ],
        "the second number is the last token of the window; it is the first one after it": lambda n, m, s: [
            (first, last - 1) for first, last in key.sliding_windows(n, m, s)
        ],
        "windows do not overlap; `stride` is not used": lambda n, m, s: key.sliding_windows(n, m, m),
        "the last window is moved back to be whole; it begins one stride after the one before": lambda n, m, s: [
            (min(first, max(n - m, 0)), last) for first, last in key.sliding_windows(n, m, s)
        ],
    }


def merge_mistakes(windows: list[Window], start: list[Array], end: list[Array]) -> Mistakes:
    places = [
        (w, i, j, windows[w][0])
        for w in range(len(windows))
        for i in range(len(start[w]))
        for j in range(len(start[w]))
    ]

    def best(allowed: Callable[[int, int, int], bool], score: Callable[[int, int, int], float]) -> tuple[int, int]:
        _, i, j, first = max((p for p in places if allowed(*p[:3])), key=lambda p: score(*p[:3]))
        return first + i, first + j

    def total(w: int, i: int, j: int) -> float:
        return float(start[w][i] + end[w][j])

    def relative() -> tuple[int, int]:
        _, i, j, _ = max((p for p in places if p[1] <= p[2]), key=lambda p: total(*p[:3]))
        return i, j

    def normalised(w: int, i: int, j: int) -> float:
        return float(log_softmax(start[w])[i] + log_softmax(end[w])[j])

    def across() -> tuple[int, int]:
        at = [(w, i, first + i) for w, i, j, first in places if j == 0]
        pairs = [(a, b) for a in at for b in at if a[2] <= b[2]]
        a, b = max(pairs, key=lambda p: start[p[0][0]][p[0][1]] + end[p[1][0]][p[1][1]])
        return a[2], b[2]

    return {
        "the end stands before the start; only spans with i ≤ j count": lambda: best(lambda w, i, j: True, total),
        "start and end come from different windows; a span lies in one window": across,
        "the span is counted in its window; add where the window begins": relative,
        "only the first window is used": lambda: best(lambda w, i, j: w == 0 and i <= j, total),
        "spans of one token (i = j) are left out": lambda: best(lambda w, i, j: i < j, total),
        "softmax is applied in each window, so that their scores cannot be compared; use the logits": lambda: best(
            lambda w, i, j: i <= j, normalised
        ),
        "the second number is the first token after the span; it is its last": lambda: (
            lambda span: (span[0], span[1] + 1)
        )(best(lambda w, i, j: i <= j, total)),
    }


def log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result
