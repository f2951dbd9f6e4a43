"""SpanBERT: Joshi et al. (2020), "SpanBERT: Improving Pre-training by Representing and Predicting Spans", section 3.

    ℓ ~ Geo(p) renormalised on 1 … ℓ_max                          P(ℓ) = p (1 - p)^(ℓ-1) / (1 - (1 - p)^ℓ_max)
    h_0 = [x_{s-1}; x_{e+1}; p_{i-s+1}]
    h_1 = LayerNorm(GeLU(W_1 h_0)),   y_i = LayerNorm(GeLU(W_2 h_1))
    L(x_i) = -log P(x_i | x_i) - log P(x_i | y_i)                 masked language model + span boundary objective

With p = 0.2 and ℓ_max = 10 the mean length is 3.797 (the paper's 3.8).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Span = tuple[int, int]
"""First and last word, both included."""


def span_length_distribution(p: float = 0.2, max_length: int = 10) -> Array:
    """Return P(ℓ) for ℓ = 1 … max_length, shape (max_length,)."""
    weights = p * (1 - p) ** np.arange(max_length)  # (max_length,)
    probabilities: Array = weights / weights.sum()
    return probabilities


def sample_span_length(p: float, max_length: int, rng: np.random.Generator) -> int:
    """Draw one span length in words from the truncated geometric distribution."""
    return 1 + int(rng.choice(max_length, p=span_length_distribution(p, max_length)))


def span_mask(
    words: Sequence[Sequence[str]], budget: float, p: float, max_length: int, rng: np.random.Generator
) -> list[Span]:
    """Draw spans of whole words that do not overlap, until `budget` of the subword tokens is masked.

    The start is uniform over the words where a span of the drawn length fits without touching a masked word; a length
    that fits nowhere is lowered to the longest free stretch. The last span may exceed the budget.

    Args:
        words: the subword tokens of each word.
        budget: share of all subword tokens, 0.15 in the paper.
        p: parameter of the geometric distribution, 0.2 in the paper.
        max_length: longest span in words, 10 in the paper.
        rng: source of randomness.
    """
    wanted = math.ceil(budget * sum(len(word) for word in words))
    free = np.ones(len(words), dtype=bool)  # (word,)
    spans: list[Span] = []
    spent = 0
    while spent < wanted:
        length = min(sample_span_length(p, max_length, rng), _longest_stretch(free))
        starts = [s for s in range(len(words) - length + 1) if free[s : s + length].all()]
        start = int(rng.choice(starts))
        free[start : start + length] = False
        spent += sum(len(word) for word in words[start : start + length])
        spans.append((start, start + length - 1))
    return spans


def gelu(x: ArrayLike) -> Array:
    """Return x Φ(x), Φ the normal distribution function (Hendrycks and Gimpel, 2016)."""
    values = np.asarray(x, dtype=np.float64)
    erf = np.vectorize(math.erf, otypes=[np.float64])(values / math.sqrt(2))
    result: Array = 0.5 * values * (1 + erf)
    return result


def gelu_tanh(x: ArrayLike) -> Array:
    """Return the approximation of GeLU by tanh that BERT's first code used; within 5e-4 of `gelu`."""
    values = np.asarray(x, dtype=np.float64)
    result: Array = 0.5 * values * (1 + np.tanh(math.sqrt(2 / math.pi) * (values + 0.044715 * values**3)))
    return result


def layer_norm(x: ArrayLike, epsilon: float = 1e-12) -> Array:
    """Normalise to mean 0 and variance 1 over the last axis, gain 1 and bias 0 (Ba, Kiros and Hinton, 2016)."""
    values = np.asarray(x, dtype=np.float64)
    centred = values - values.mean(axis=-1, keepdims=True)
    normalised: Array = centred / np.sqrt(values.var(axis=-1, keepdims=True) + epsilon)
    return normalised


def span_boundary_representation(
    X: ArrayLike,
    start: int,
    end: int,
    P: ArrayLike,
    W_1: ArrayLike,
    W_2: ArrayLike,
    *,
    tanh: bool = False,
    epsilon: float = 1e-12,
) -> Array:
    """Return y_i for the tokens start … end of a masked span.

    It depends only on the tokens next to the span and the positions inside it.

    Args:
        X: outputs of the encoder, shape (token, d).
        start: first token of the span, at least 1.
        end: last token of the span, at most the last but one of the text.
        P: position embeddings, shape (max_length, d); row 0 is p_1, that of the first token of a span.
        W_1: shape (3 d, d), applied as h_0 W_1.
        W_2: shape (d, d), applied as h_1 W_2.
        tanh: use the tanh approximation of GeLU.
        epsilon: what layer normalisation adds to the variance.

    Returns:
        shape (end - start + 1, d).

    Raises:
        ValueError: the span has no token on one of its sides.
    """
    x, positions = np.asarray(X, dtype=np.float64), np.asarray(P, dtype=np.float64)
    if not 1 <= start <= end < len(x) - 1:
        raise ValueError(f"span {start} … {end} of {len(x)} tokens has no token on one of its sides")
    activation = gelu_tanh if tanh else gelu
    size = end - start + 1
    left, right = np.tile(x[start - 1], (size, 1)), np.tile(x[end + 1], (size, 1))  # (span, d) each
    h_0 = np.concatenate([left, right, positions[:size]], axis=1)  # (span, 3 d)
    h_1 = layer_norm(activation(h_0 @ np.asarray(W_1, dtype=np.float64)), epsilon)  # (span, d)
    return layer_norm(activation(h_1 @ np.asarray(W_2, dtype=np.float64)), epsilon)  # (span, d)


def spanbert_loss(mlm_logits: ArrayLike, sbo_logits: ArrayLike, targets: Sequence[int], masked: Sequence[int]) -> float:
    """Return the mean over the masked tokens of the two cross entropies' sum, in nats.

    Args:
        mlm_logits: from the encoder's output at each token, shape (token, vocabulary).
        sbo_logits: from the span boundary representation, shape (token, vocabulary); rows outside `masked` are ignored.
        targets: the original token ids, shape (token,).
        masked: positions of the masked tokens, at least one.
    """
    rows = np.asarray(masked)
    wanted = np.asarray(targets)[rows]  # (masked,)
    losses = -_log_softmax(mlm_logits)[rows, wanted] - _log_softmax(sbo_logits)[rows, wanted]  # (masked,)
    return float(losses.mean())


def _log_softmax(logits: ArrayLike) -> Array:
    values = np.asarray(logits, dtype=np.float64)
    shifted = values - values.max(axis=-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def _longest_stretch(free: NDArray[np.bool_]) -> int:
    """Return the length of the longest run of free words."""
    best = run = 0
    for is_free in free:
        run = run + 1 if is_free else 0
        best = max(best, run)
    return best
