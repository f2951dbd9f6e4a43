"""Question 4.1: answer spans, the null answer, its threshold, and the scores of SQuAD 2.0."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]

S, E = np.array([1.0, 0.0]), np.array([0.0, 1.0])
"""With these, the first column of T holds the start scores and the second the end scores."""
TOKENS = np.array([[2.0, 1.0], [0.5, 4.0], [3.0, 0.2], [1.0, 1.5]])


@number("4.1")
@weight(3)
def test_best_span(student: Any, key: Any) -> None:
    """The best span ends where it starts or later, and is answered if it beats the null score by more than τ."""
    last_first = np.array([[0.0, 5.0], [1.0, 0.0], [5.0, 1.0]])  # the best end stands before the best start
    one_token = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 0.0]])
    for T, C, tau in [
        (TOKENS, (1.0, 1.0), 0.0),
        (last_first, (1.0, 1.0), 0.0),
        (one_token, (1.0, 1.0), 0.0),
        (TOKENS, (7.0, -3.0), 0.0),
        (TOKENS, (3.0, 3.5), 0.0),
        (TOKENS, (3.0, 3.5), -1.0),
        (TOKENS, (3.0, 2.5), 1.0),
    ]:
        hints = {
            "the end stands before the start; only spans with i ≤ j count": unordered_span(T, C, tau),
            "spans of one token (i = j) are left out": best_of(T, C, tau, lambda i, j: i < j),
            "the sign of τ is turned round: answer if ŝ > s_null + τ": best_of(T, C, -tau, lambda i, j: i <= j),
            "s_null is S·C + E·C, both of them": best_of(T, (C[0], 0.0), tau, lambda i, j: i <= j),
            "the null answer is never given": best_of(T, (-1e9, 0.0), tau, lambda i, j: i <= j),
        }
        expected = key.best_span(S, E, T, np.array(C), tau)
        name = f"best_span with start scores {T[:, 0].tolist()}, end scores {T[:, 1].tolist()}, C = {C}, τ = {tau:g}"
        agree(student.best_span(S, E, T, np.array(C), tau), expected, hints=hints, name=name)


@number("4.1")
@weight(1)
def test_longest_answer(student: Any, key: Any) -> None:
    """An answer has at most max_len tokens."""
    T = np.array([[5.0, 0.0], [0.0, 1.2], [1.0, 2.0], [0.5, 3.0], [0.2, 5.0]])
    C = np.array([0.1, 0.1])
    for max_len in (3, 4, 5, 2, 1):
        hints = {
            "max_len is not used": key.best_span(S, E, T, C, 0.0),
            "a span from i to j has j - i + 1 tokens": key.best_span(S, E, T, C, 0.0, max_len + 1),
        }
        expected = key.best_span(S, E, T, C, 0.0, max_len)
        agree(
            student.best_span(S, E, T, C, 0.0, max_len), expected, hints=hints, name=f"best_span, max_len = {max_len}"
        )


@number("4.1")
@weight(2)
@visibility("after_published")
def test_best_span_on_random_vectors(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random vectors; raising τ never turns the null answer into a span."""
    questions, expected = [], []
    for _ in range(4):
        n, d = (int(size) for size in rng.integers(2, 14, 2))
        start, end, C, T = (rng.standard_normal(shape) for shape in (d, d, d, (n, d)))
        while (T @ start).argmax() <= (T @ end).argmax():  # the best end is to stand before the best start
            T = rng.standard_normal((n, d))
        margin, max_len = margin_of(start, end, T, C), int(rng.integers(1, n + 1))
        for question in [(margin - 1,), (margin + 1,), (-50.0, max_len)]:
            questions.append((start, end, T, C, *question))
            expected.append(key.best_span(*questions[-1]))
    agree(inside.each(student.best_span, questions), expected)


@number("4.1")
@weight(1)
def test_squad_exact_match(student: Any, key: Any) -> None:
    """Exact match ignores case, ASCII punctuation, the articles a, an, the, and spaces; any gold answer may match."""
    for prediction, golds in [
        ("The Eiffel  Tower!", ["eiffel tower"]),
        ("an apple", ["Apple.", "pear"]),
        ("another theatre", ["other atre"]),
        ("cat", ["dog", "the cat"]),
        ("cat sat", ["cat"]),
        ("", []),
        ("cat", []),
        ("", ["cat"]),
        ("", ["the", "cat"]),
    ]:
        name = f"squad_exact_match({prediction!r}, {golds})"
        agree(student.squad_exact_match(prediction, golds), key.squad_exact_match(prediction, golds), name=name)


@number("4.1")
@weight(2)
def test_squad_f1(student: Any, key: Any) -> None:
    """F1 compares bags of normalised tokens with the best gold answer; an empty side scores 1 only if both are."""
    for prediction, golds in [
        ("the cat sat", ["a cat sat"]),
        ("cat", ["cat sat"]),
        ("cat sat on", ["sat on mats, dog"]),
        ("sat sat", ["sat"]),
        ("cat", ["dog", "black cat", "a big black cat"]),
        ("dog", ["cat"]),
        ("", []),
        ("cat", []),
        ("", ["cat"]),
        ("", ["the", "cat"]),
        ("cat", ["cat", ""]),
    ]:
        best_set = max((f1_of_sets(prediction, gold) for gold in golds), default=0.0)
        hints = {"tokens are counted once; F1 compares bags, not sets": best_set}
        if golds:
            hints["only the first gold answer is used"] = key.squad_f1(prediction, golds[:1])
        name = f"squad_f1({prediction!r}, {golds})"
        agree(student.squad_f1(prediction, golds), key.squad_f1(prediction, golds), hints=hints, name=name)


@number("4.1")
@weight(2)
def test_choose_threshold(student: Any, key: Any) -> None:
    """The chosen τ gives the best mean F1 that any threshold gives on the development set."""
    for null_scores, span_scores, f1_null, f1_span in [
        ([1.0, 1.0, 1.0], [2.0, 4.0, 7.0], [1.0, 0.0, 0.0], [0.0, 0.6, 1.0]),
        ([2.0, 0.0], [1.0, 3.0], [0.0, 0.0], [0.9, 0.8]),  # answering everything is best
        ([0.0, 1.0, 0.0], [5.0, 5.0, 9.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]),  # answering nothing is best
        ([0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.3]),
        ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]),  # the best answer is no answer
        ([-9.0, -9.0, -9.0], [1.0, 3.0, 6.0], [1.0, 0.0, 0.0], [0.0, 0.6, 1.0]),  # every margin is far from 0
    ]:
        dev = tuple(np.array(column) for column in (null_scores, span_scores, f1_null, f1_span))
        check_threshold(student.choose_threshold(*dev), key, *dev)


@number("4.1")
@weight(2)
@visibility("after_published")
def test_scores_and_threshold_on_random_answers(student: Any, key: Any, inside: Any, rng: np.random.Generator) -> None:
    """Random development sets, and random answers with several golds."""
    for n in (1, 8, 40):
        answerable = rng.integers(2, size=n)
        dev = (rng.normal(0, 2, n), rng.normal(0, 2, n), 1.0 - answerable, answerable * rng.random(n))
        check_threshold(student.choose_threshold(*dev), key, *dev)
    vocabulary = np.array(["the", "A", "red", "Red,", "house", "house!", "sea", "an"])
    questions = [("The red house!", ["a house"])]
    for _ in range(8):
        prediction, *golds = (
            " ".join(rng.choice(vocabulary, int(size))) for size in rng.integers(0, 5, int(rng.integers(2, 5)))
        )
        questions.append((prediction, golds))
    agree(inside.each(student.squad_f1, questions), [key.squad_f1(*question) for question in questions])
    matches = [key.squad_exact_match(*question) for question in questions]
    agree(inside.each(student.squad_exact_match, questions), matches)


def check_threshold(tau: Any, key: Any, null_scores: Array, span_scores: Array, f1_null: Array, f1_span: Array) -> None:
    """Any τ that reaches the best mean F1 is right.

    So is one that is a margin itself, rounded in either direction and even in float32, whether a question at exactly τ
    counts as answered or not.
    """
    margins = span_scores - null_scores
    best = mean_f1(key.choose_threshold(null_scores, span_scores, f1_null, f1_span), margins, f1_null, f1_span)
    agree(np.ndim(tau), 0, name="the number of dimensions of choose_threshold's result")
    chosen = float(tau)
    assert not np.isnan(chosen), "choose_threshold returned nan."
    width = 1e-6 * (1 + abs(chosen)) if np.isfinite(chosen) else 0.0
    reached, turned = (
        max(mean_f1(t, margins, f1_null, f1_span) for t in (tau, tau - width, tau + width)) for tau in (chosen, -chosen)
    )
    because = " The sign is turned round: answer if ŝ > s_null + τ." if turned >= best - 1e-9 else ""
    assert reached >= best - 1e-9, (
        f"choose_threshold returned {chosen:g}, with which the mean F1 is {reached:.4f}; "
        f"another threshold reaches {best:.4f}.{because}"
    )


def mean_f1(tau: float, margins: Array, f1_null: Array, f1_span: Array) -> float:
    """Mean F1 when the questions with a margin above `tau` are answered."""
    return float(np.where(margins > tau, f1_span, f1_null).mean())


def margin_of(start: Array, end: Array, T: Array, C: Array) -> float:
    """ŝ - s_null."""
    spans = (T @ start)[:, None] + (T @ end)[None, :]
    return float(spans[np.triu_indices(len(T))].max() - (start + end) @ C)


# What students get wrong, computed for the same question, so that a message can name it.


def best_of(T: Array, C: tuple[float, float], tau: float, allowed: Any) -> tuple[int, int] | None:
    spans = {(i, j): T[i, 0] + T[j, 1] for i in range(len(T)) for j in range(len(T)) if allowed(i, j)}
    best = max(spans, key=lambda span: spans[span])
    return best if spans[best] > C[0] + C[1] + tau else None


def unordered_span(T: Array, C: tuple[float, float], tau: float) -> tuple[int, int] | None:
    return best_of(T, C, tau, lambda i, j: True)


def f1_of_sets(prediction: str, gold: str) -> float:
    articles = {"a", "an", "the"}
    one, other = (set(text.replace(",", "").split()) - articles for text in (prediction, gold))
    common = len(one & other)
    return 2 * common / (len(one) + len(other)) if common else 0.0
