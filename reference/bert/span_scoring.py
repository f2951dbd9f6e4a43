"""Answer spans with "no answer": Devlin et al. (2019), "BERT", section 4.3; scored as Rajpurkar et al. (2018) do.

    s_null = S·C + E·C                            C the output for [CLS], S and E the start and end vectors
    ŝ      = max_{i ≤ j} S·T_i + E·T_j            T_i the output for token i of the paragraph
    answer = the span (i, j) of ŝ if ŝ > s_null + τ, else none; τ is chosen on the development set to maximise F1

Exact match and F1 compare normalised answers, as the official evaluation script of SQuAD 2.0 does.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def best_span(
    S: ArrayLike, E: ArrayLike, T: ArrayLike, C: ArrayLike, tau: float, max_len: int | None = None
) -> tuple[int, int] | None:
    """Return the best answer span, both ends included, or None where "no answer" wins.

    Args:
        S: start vector, shape (d,).
        E: end vector, shape (d,).
        T: outputs for the tokens of the paragraph, shape (token, d).
        C: output for [CLS], shape (d,).
        tau: threshold τ; a span is answered if its score is above s_null + τ.
        max_len: the most tokens an answer may have; None for any number.
    """
    tokens, cls = np.asarray(T, dtype=np.float64), np.asarray(C, dtype=np.float64)
    start, end = np.asarray(S, dtype=np.float64), np.asarray(E, dtype=np.float64)
    scores = (tokens @ start)[:, None] + (tokens @ end)[None, :]  # (start, end)
    length = np.arange(len(tokens))[None, :] - np.arange(len(tokens))[:, None] + 1  # (start, end)
    allowed = (length >= 1) & (length <= (len(tokens) if max_len is None else max_len))
    scores = np.where(allowed, scores, -np.inf)
    i, j = np.unravel_index(scores.argmax(), scores.shape)
    s_null = start @ cls + end @ cls
    return (int(i), int(j)) if scores[i, j] > s_null + tau else None


def choose_threshold(null_scores: ArrayLike, span_scores: ArrayLike, f1_null: ArrayLike, f1_span: ArrayLike) -> float:
    """Return a threshold τ that maximises the mean F1.

    Question q is answered if span_scores[q] > null_scores[q] + τ. Only the order of the margins matters: the candidates
    lie below, between and above them.

    Args:
        null_scores: s_null of each question, shape (question,).
        span_scores: ŝ of each question, shape (question,).
        f1_null: F1 if "no answer" is predicted (1 where there is none, else 0), shape (question,).
        f1_span: F1 if the best span is predicted, shape (question,).
    """
    margins = np.asarray(span_scores, dtype=np.float64) - np.asarray(null_scores, dtype=np.float64)
    steps = np.unique(margins)
    candidates = [steps[0] - 1, *((steps[:-1] + steps[1:]) / 2), steps[-1] + 1]
    return float(max(candidates, key=lambda tau: mean_f1(tau, margins, f1_null, f1_span)))


def mean_f1(tau: float, margins: ArrayLike, f1_null: ArrayLike, f1_span: ArrayLike) -> float:
    """Return the mean F1 over the questions when those with a margin ŝ - s_null above `tau` are answered."""
    return float(np.mean(np.where(np.asarray(margins) > tau, f1_span, f1_null)))


def normalize_answer(text: str) -> str:
    """Return the text in lower case, without punctuation and the articles a, an, the, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def squad_exact_match(prediction: str, golds: Sequence[str]) -> int:
    """Return 1 if the normalised prediction equals a normalised gold answer; no gold answers means "no answer"."""
    return max(int(normalize_answer(prediction) == gold) for gold in _normalized(golds))


def squad_f1(prediction: str, golds: Sequence[str]) -> float:
    """Return the best F1 of bags of normalised tokens over the gold answers; an empty side gives 1 only if both are."""
    return max(_f1(normalize_answer(prediction).split(), gold.split()) for gold in _normalized(golds))


def _normalized(golds: Sequence[str]) -> list[str]:
    """Return the gold answers that are not empty after normalisation; the empty answer if none is left."""
    return [text for gold in golds if (text := normalize_answer(gold))] or [""]


def _f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    common = (Counter(predicted) & Counter(gold)).total()
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(gold)
    return 2 * precision * recall / (precision + recall)
