"""Question 4.1: answer spans, the null answer, its threshold, and the scores of SQuAD 2.0."""

import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viva.grading import agree, number, visibility, weight

Array = NDArray[np.floating[Any]]

S, E = np.array([1.0, 0.0]), np.array([0.0, 1.0])
"""With these, the first column of T holds the start scores and the second the end scores."""
TOKENS = np.array([[2.0, 1.0], [0.5, 4.0], [3.0, 0.2], [1.0, 1.5]])


AS_THE_SCRIPT_DOES: list[tuple[str, list[str]]] = [
    ("well-known", ["well known", "a wellknown"]),  # a hyphen goes without leaving a space
    ("well-known", ["well known"]),
    ("the-cat", ["cat"]),  # punctuation goes first, and what is left is not an article
    ("A.M.", ["am"]),
    ("“cat”", ["cat"]),  # punctuation beyond ASCII stays
    ("5 €", ["5"]),
    ("$5", ["5"]),
    ("snake_case", ["snakecase"]),  # the underscore is punctuation
    ("black\tcat\n", ["Black \u00a0cat"]),
    ("Straße", ["strasse"]),  # lower case is not case folding
    ("CAFÉ", ["café"]),
    ("café", ["cafe"]),
    ("cafe\u0301", ["caf\u00e9"]),  # one letter, or a letter and its accent: the script does not unify them
    ("ﬁsh", ["fish"]),
    ("5.0", ["5"]),  # numbers are words like others
    ("5.0", ["50"]),
    ("the boy's", ["boy"]),
    ("salt and pepper", ["salt pepper"]),  # only articles go
    ("cat the sat", ["cat sat"]),  # wherever they are
    ("The.", []),
    ("", ["a", "The!"]),
    ("cat", ["the", "an"]),
]
"""Predictions and gold answers on which programs differ that nearly do what the official script of SQuAD does."""


@number("4.1")
@weight(3)
def test_best_span(student: Any, key: Any) -> None:
    """The best span ends where it starts or later, and is answered if it beats the null score by more than τ."""
    below_zero = np.array([[-5.0, -3.0], [-4.0, -6.0], [-2.0, -9.0]])
    last_first = np.array([[0.0, 5.0], [1.0, 0.0], [5.0, 1.0]])  # the best end is before the best start
    one_token = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 0.0]])
    short = np.array([[2.0, 1.5]])
    for T, C, tau in [
        (TOKENS, (1.0, 1.0), 0.0),
        (last_first, (1.0, 1.0), 0.0),
        (one_token, (1.0, 1.0), 0.0),
        (short, (1.0, 1.0), 0.0),
        (short, (1.0, 1.0), 2.0),
        (2.0**10 * one_token, (1.0, 1.0), 8000.0),
        (2.0**10 * one_token, (1.0, 1.0), 8300.0),
        (2.0**10 * one_token, (1.0, 2.0**14), -8000.0),
        (2.0**10 * one_token, (1.0, 2.0**14), -8300.0),
        (TOKENS, (7.0, -3.0), 0.0),
        (TOKENS, (3.0, 3.5), 0.0),
        (TOKENS, (3.0, 3.5), -1.0),
        (TOKENS, (3.0, 2.5), 1.0),
        (below_zero, (-20.0, -15.0), 0.0),
        (2.0**17 * below_zero, (-(2.0**22), -(2.0**22)), 0.0),
        (below_zero, (-3.0, -2.0), -2.0),
    ]:
        hints = {
            "the end stands before the start; only spans with i ≤ j count": unordered_span(T, C, tau),
            "spans of one token (i = j) are left out": best_of(T, C, tau, lambda i, j: i < j),
            "the sign of τ is turned round: answer if ŝ > s_null + τ": best_of(T, C, -tau, lambda i, j: i <= j),
            "s_null is S·C + E·C, both of them": best_of(T, (C[0], 0.0), tau, lambda i, j: i <= j),
            "the null answer is never given": best_of(T, (-1e9, 0.0), tau, lambda i, j: i <= j),
        }
        if T.max() < 0:
            hints["the search for the largest score must not begin at 0: all scores may be negative"] = None
        expected = key.best_span(S, E, T, np.array(C), tau)
        name = f"best_span with start scores {T[:, 0].tolist()}, end scores {T[:, 1].tolist()}, C = {C}, τ = {tau:g}"
        agree(student.best_span(S, E, T, np.array(C), tau), expected, hints=hints, name=name)


@number("4.1")
@weight(1)
def test_longest_answer(student: Any, key: Any) -> None:
    """An answer has at most max_len tokens."""
    T = np.array([[5.0, 0.0], [0.0, 1.2], [1.0, 2.0], [0.5, 3.0], [0.2, 5.0]])
    low = np.array([0.1, 0.1])
    rows = [(3, low), (4, low), (5, low), (2, low), (1, low), (9, low)]
    rows += [(4, np.array([4.25, 4.25])), (2, np.array([3.5, 3.5]))]  # only a longer span beats the null score
    for max_len, C in rows:
        hints = {
            "max_len is not used": key.best_span(S, E, T, C, 0.0),
            "a span from i to j has j - i + 1 tokens": key.best_span(S, E, T, C, 0.0, max_len + 1),
            "ŝ is the best score of a span of at most max_len tokens": key.best_span(S, E, T, low, 0.0, max_len),
        }
        expected = key.best_span(S, E, T, C, 0.0, max_len)
        scores = f"start scores {T[:, 0].tolist()}, end scores {T[:, 1].tolist()}"
        name = f"best_span with {scores}, C = {C.tolist()}, τ = 0 and max_len = {max_len}"
        agree(student.best_span(S, E, T, C, 0.0, max_len), expected, hints=hints, name=name)
    far_apart = np.stack([np.arange(120.0, 0.0, -1.0), np.arange(120.0)], axis=1)  # the longest span is the best
    for T in (far_apart, far_apart + np.outer(np.arange(120) == 40, [0.5, 0.0])):
        actual, expected = student.best_span(S, E, T, low, 0.0), key.best_span(S, E, T, low, 0.0)
        hints = {"without max_len a span may have any number of tokens": key.best_span(S, E, T, low, 0.0, 30)}
        name = "best_span of 120 tokens, start scores 120, 119, … 1, end scores 0, 1, … 119, without max_len"
        agree(actual, expected, hints=hints, name=name)


@number("4.1")
@weight(2)
@visibility("after_published")
def test_best_span_on_random_vectors(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random vectors; raising τ never turns the null answer into a span.

    Try a passage of one token, equal scores, and a threshold that is very high or very low.
    """
    questions, expected = [], []
    for _ in range(4):
        n, d = (int(size) for size in rng.integers(2, 14, 2))
        start, end, C, T = (rng.standard_normal(shape) for shape in (d, d, d, (n, d)))
        while (T @ start).argmax() <= (T @ end).argmax():  # the best end must be before the best start
            T = rng.standard_normal((n, d))
        margin, max_len = margin_of(start, end, T, C), int(rng.integers(1, n + 1))
        for question in [(margin - 1,), (margin + 1,), (-50.0, max_len)]:
            questions.append((start, end, T, C, *question))
            expected.append(key.best_span(*questions[-1]))
    # Of n tokens the best start has 29 better ones behind it, and the best end many before it. All pairs of 300 are too
    # many for a right program that prints what it multiplies.
    for n, max_len in [(80, 80), (300, 2)]:
        place, best = np.arange(float(n)), n - 30
        long = np.stack([10 * np.sqrt(place + 1), -(place**2) * 2.5 / best / (best + 1) ** 0.5], axis=1)
        questions.append((S, E, long, np.zeros(2), -500.0, max_len))
        expected.append(key.best_span(*questions[-1]))
    falling = np.array([[9.0, -50.0], [1.0, -50.0], [5.0, -50.0], [0.0, 10.0], [3.0, -50.0], [0.0, 9.0]])
    for max_len in (2, 3, 4):  # once the best start is too far away, the next ones are in no order
        for T in (falling, falling - 60):  # also if all scores are negative
            questions.append((S, E, T, np.zeros(2), -500.0, max_len))
            expected.append(key.best_span(*questions[-1]))
    agree(student.best_span.each(questions), expected)


@number("4.1")
@weight(1)
def test_squad_exact_match(student: Any, key: Any) -> None:
    """Exact match ignores case, ASCII punctuation, the articles a, an, the, and spaces; any gold answer may match."""
    for prediction, golds in [
        *AS_THE_SCRIPT_DOES,
        ("The Eiffel  Tower!", ["eiffel tower"]),
        ("an apple", ["Apple.", "pear"]),
        ("another theatre", ["other atre"]),
        ("cat", ["dog", "the cat"]),
        ("cat sat", ["cat"]),
        ("cat", ["cat sat", "black cat", "cats"]),
        ("sat cat", ["cat sat"]),
        ("cat cat", ["cat"]),
        ("", []),
        ("cat", []),
        ("", ["cat"]),
        ("", ["the", "cat"]),
    ]:
        name = f"squad_exact_match({spelled(prediction)}, [{', '.join(map(spelled, golds))}])"
        agree(student.squad_exact_match(prediction, golds), key.squad_exact_match(prediction, golds), name=name)
    marks = [(f"x{chr(code)}y", ["xy"]) for code in range(32, 127)]
    for question, answer in zip(marks, student.squad_exact_match.each(marks), strict=True):
        agree(answer, key.squad_exact_match(*question), name=f"squad_exact_match({question[0]!r}, {question[1]})")


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
        *AS_THE_SCRIPT_DOES,
    ]:
        best_set = max((f1_of_sets(prediction, gold) for gold in golds), default=0.0)
        hints = {"tokens are counted once; F1 compares bags, not sets": best_set}
        if golds:
            hints["only the first gold answer is used"] = key.squad_f1(prediction, golds[:1])
        name = f"squad_f1({spelled(prediction)}, [{', '.join(map(spelled, golds))}])"
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
        ([2e3, 0.0, 0.0, 0.0], [0.0, 999.75, 1e3, 1e4], [0.0, 1.0, 0.0, 0.0], [0.4, 0.0, 1.0, 0.3]),
        ([50.0, 50.0, 50.0], [9.0, 9.5, 20.0], [1.0, 0.0, 0.0], [0.0, 0.2, 0.9]),  # every margin is negative
        ([9.0, 9.0, 9.0], [1.0, 3.0, 5.0], [0.0, 0.5, 0.0], [0.9, 0.0, 1.0]),  # so they are, and all are answered
        ([0.0, 2.0, 0.0], [6.0, 3.0, 3.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.6]),  # in no order
        ([0.0, 0.0, 0.0, 0.0], [7.001, 7.002, 7.003, 7.004], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0]),
        ([5.0, -2.0, 1.0, 8.0], [6.0, 3.0, 0.0, 15.0], [1.0, 0.0, 1.0, 0.0], [0.0, 0.9, 0.0, 0.8]),
    ]:
        dev = tuple(np.array(column) for column in (null_scores, span_scores, f1_null, f1_span))
        check_threshold(student.choose_threshold(*dev), key, *dev)


@number("4.1")
@weight(2)
@visibility("after_published")
def test_scores_and_threshold_on_random_answers(student: Any, key: Any, rng: np.random.Generator) -> None:
    """Random development sets, and random answers with several golds.

    Try questions without an answer, several gold answers, and articles, punctuation and capitals.
    """
    for n in (1, 8, 40):
        answerable = rng.integers(2, size=n)
        dev = (rng.normal(0, 2, n), rng.normal(0, 2, n), 1.0 - answerable, answerable * rng.random(n))
        check_threshold(student.choose_threshold(*dev), key, *dev)
    vocabulary = np.array(
        ["the", "A", "red", "Red,", "house", "house!", "“house”", "half-red", "halfred", "an-house", "U.S.", "us", "an"]
    )
    questions = [("The red house!", ["a house"]), ("an-house", ["house"]), ("“house”", ["house"])]
    questions.append(("half-red", ["half red", "sea"]))
    for _ in range(30):
        prediction, *golds = (
            " ".join(rng.choice(vocabulary, int(size))) for size in rng.integers(0, 5, int(rng.integers(2, 5)))
        )
        questions.append((prediction, golds))
    agree(student.squad_f1.each(questions), [key.squad_f1(*question) for question in questions])
    matches = [key.squad_exact_match(*question) for question in questions]
    agree(student.squad_exact_match.each(questions), matches)


def spelled(text: str) -> str:
    """Return a text in quotes; what looks like other characters is written as an escape: 'cafe\\u0301'."""
    return repr(text) if unicodedata.is_normalized("NFKC", text) else ascii(text)


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
    columns = [column.tolist() for column in (null_scores, span_scores, f1_null, f1_span)]
    asked = "choose_threshold" if len(margins) > 5 else f"choose_threshold({', '.join(map(str, columns))})"
    assert reached >= best - 1e-9, (
        f"{asked} returned {chosen:g}, with which the mean F1 is {reached:.4f}; "
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
    best = max(spans, key=lambda span: spans[span], default=None)
    return best if best is not None and spans[best] > C[0] + C[1] + tau else None


def unordered_span(T: Array, C: tuple[float, float], tau: float) -> tuple[int, int] | None:
    return best_of(T, C, tau, lambda i, j: True)


def f1_of_sets(prediction: str, gold: str) -> float:
    articles = {"a", "an", "the"}
    one, other = (set(text.replace(",", "").split()) - articles for text in (prediction, gold))
    common = len(one & other)
    return 2 * common / (len(one) + len(other)) if common else 0.0
