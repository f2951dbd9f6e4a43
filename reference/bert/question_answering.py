"""Extractive question answering with BERT: Devlin et al. (2019), "BERT", section 4.2; long passages as in its code.

s_i = w_s · h_i,   e_i = w_e · h_i,   p_start = softmax(s),   p_end = softmax(e)      over the tokens
ℒ = -log p_start(i*) - log p_end(j*)
a passage that is too long is cut into windows that overlap; the best span of all windows is the answer
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from reference.bert.cross_entropy import Array, cross_entropy

Window = tuple[int, int]
"""The first token of a window, and the first after it."""


def span_logits(H: ArrayLike, w_s: ArrayLike, w_e: ArrayLike) -> tuple[Array, Array]:
    """Return start and end logits, each of shape (batch, token).

    Args:
        H: final hidden states, shape (batch, token, d).
        w_s: start vector, shape (d,).
        w_e: end vector, shape (d,).
    """
    hidden = np.asarray(H, dtype=np.float64)
    return hidden @ np.asarray(w_s, dtype=np.float64), hidden @ np.asarray(w_e, dtype=np.float64)


def span_ce(start_logits: ArrayLike, end_logits: ArrayLike, start: ArrayLike, end: ArrayLike) -> float:
    """Return the cross entropy of the start plus that of the end, averaged over the batch, in nats.

    The paper adds the two; Google's code and Hugging Face's halve the sum.

    Args:
        start_logits: shape (batch, token).
        end_logits: shape (batch, token).
        start: the true first token of each answer, shape (batch,).
        end: the true last token of each answer, shape (batch,).
    """
    return cross_entropy(start_logits, start) + cross_entropy(end_logits, end)


def sliding_windows(n: int, max_len: int, stride: int) -> list[Window]:
    """Cut n tokens into windows of at most `max_len`: one every `stride` tokens, up to the first that reaches the end.

    `stride` is the step from one start to the next (`doc_stride` in Google's code); two neighbours share
    max_len - stride tokens, which is what Hugging Face's tokenizers call the stride.

    Raises:
        ValueError: `stride` is not between 1 and `max_len`, so that tokens would be left out; or there is no token.
    """
    if n < 1 or not 1 <= stride <= max_len:
        raise ValueError(f"n = {n}, stride = {stride}, max_len = {max_len}: expected 1 ≤ n and 1 ≤ stride ≤ max_len")
    starts = range(0, max(n - max_len, 0) + stride, stride)
    return [(start, min(start + max_len, n)) for start in starts]


def merge_spans(
    windows: Sequence[Window], start_logits: Sequence[ArrayLike], end_logits: Sequence[ArrayLike]
) -> tuple[int, int]:
    """Return the span with the highest s_i + e_j, i ≤ j, of any window.

    The span is its first and last token, counted in the passage. Both ends come from one window: the logits of two
    passes do not belong to one softmax, and no pass saw both ends.

    Args:
        windows: where each window is in the passage.
        start_logits: of the passage tokens of each window, shape (end - first,) each.
        end_logits: likewise.
    """
    best, span = -np.inf, (0, 0)
    for (first, _), start, end in zip(windows, start_logits, end_logits, strict=True):
        s, e = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        scores = np.where(np.triu(np.ones((len(s), len(s)))) == 1, s[:, None] + e[None, :], -np.inf)  # (start, end)
        i, j = np.unravel_index(scores.argmax(), scores.shape)
        if scores[i, j] > best:
            best, span = float(scores[i, j]), (first + int(i), first + int(j))
    return span
