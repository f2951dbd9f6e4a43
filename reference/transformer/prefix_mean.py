"""A model of sequences whose gradient fits on a page: each position reads a mean of the embeddings it may see.

    h_t = Σ_s a_ts E[x_s]           a_ts ∝ s + 1 for s ≤ t, else 0; Σ_s a_ts = 1        (without a mask: for every s)
    z_t = W h_t + b                 scores of the next token, or of the classes

The continuous bag of words of Mikolov et al. (2013), section 3.1, over the past alone and with more weight on what came
later, so that order matters. It has what training a
transformer has (embedding, causal mask, head, cross entropy, clipping), so one step of it shows whether a training loop
is right. Clipping is that of Pascanu et al. (2013), algorithm 1:  g ← g · min(1, max_norm / ‖g‖).
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class PrefixMean(NamedTuple):
    """Parameters, or a gradient with respect to them."""

    embedding: Array
    """(V, d)"""
    weight: Array
    """(n_out, d)"""
    bias: Array
    """(n_out,)"""


def hidden(model: PrefixMean, source: ArrayLike, *, causal: bool = True) -> Array:
    """Return h for token ids `source` of shape (L, N), time first: shape (L, N, d)."""
    ids = np.asarray(source)
    means: Array = np.einsum("ts,snd->tnd", _weights(len(ids), causal), model.embedding[ids])  # (L, N, d)
    return means


def logits(model: PrefixMean, source: ArrayLike, *, causal: bool = True) -> Array:
    """Return z, shape (L, N, n_out)."""
    scores: Array = hidden(model, source, causal=causal) @ model.weight.T + model.bias  # (L, N, n_out)
    return scores


def gradients(model: PrefixMean, source: ArrayLike, upstream: Array, *, causal: bool = True) -> PrefixMean:
    """Return the gradient of a loss for the parameters, given `upstream`, the gradient for z (L, N, n_out)."""
    ids = np.asarray(source)
    weight = np.einsum("tnc,tnd->cd", upstream, hidden(model, ids, causal=causal))  # (n_out, d)
    to_rows = np.einsum("ts,tnc,cd->snd", _weights(len(ids), causal), upstream, model.weight)  # (L, N, d)
    embedding = np.zeros_like(model.embedding)  # (V, d)
    np.add.at(embedding, ids, to_rows)
    return PrefixMean(embedding, weight, upstream.sum(axis=(0, 1)))


def cross_entropy(scores: Array, target: ArrayLike, ignored: int | None = None) -> tuple[float, Array]:
    """Return the mean cross entropy in nats over the targets that count, and its gradient for the scores.

    Args:
        scores: shape (rows, n_out).
        target: shape (rows,), at least one of them not ignored.
        ignored: a target that does not count.
    """
    wanted = np.asarray(target)
    counted = np.ones(len(wanted), dtype=bool) if ignored is None else wanted != ignored  # (rows,)
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))  # (rows, n_out)
    rows = np.flatnonzero(counted)
    gradient = np.exp(log_p)  # (rows, n_out)
    gradient[rows, wanted[rows]] -= 1
    gradient[~counted] = 0
    return float(-log_p[rows, wanted[rows]].mean()), gradient / len(rows)


def training_step(
    model: PrefixMean,
    source: ArrayLike,
    target: ArrayLike,
    *,
    positions: Sequence[int] | None = None,
    ignored: int | None = None,
    learning_rate: float = 1.0,
    max_norm: float = 0.5,
    causal: bool = True,
) -> PrefixMean:
    """Return the parameters after one step of gradient descent with clipping.

    Args:
        model: the parameters before.
        source: token ids, shape (L, N).
        target: of a language model (L * N,), time first; of a classifier (N,).
        positions: where a classifier reads each of the N sequences; None for a language model, which reads everywhere.
        ignored: a target that does not count.
        learning_rate: step size.
        max_norm: largest norm of the whole gradient.
        causal: whether the mask is used.
    """
    scores = logits(model, source, causal=causal)  # (L, N, n_out)
    upstream = np.zeros_like(scores)
    if positions is None:
        _, flat = cross_entropy(scores.reshape(-1, scores.shape[-1]), target, ignored)
        upstream[:] = flat.reshape(scores.shape)
    else:
        read = np.asarray(positions), np.arange(scores.shape[1])
        _, upstream[read] = cross_entropy(scores[read], target, ignored)
    return descended(model, gradients(model, source, upstream, causal=causal), learning_rate, max_norm)


def descended(model: PrefixMean, gradient: PrefixMean, learning_rate: float, max_norm: float) -> PrefixMean:
    """Return the parameters minus the learning rate times the clipped gradient."""
    scale = learning_rate * min(1.0, max_norm / norm(gradient))
    return PrefixMean(*(old - scale * step for old, step in zip(model, gradient, strict=True)))


def norm(gradient: PrefixMean) -> float:
    """Return the Euclidean norm of all parameters taken together."""
    return float(np.sqrt(sum(float((part**2).sum()) for part in gradient)))


@functools.cache
def _weights(length: int, causal: bool) -> Array:
    """Return a, shape (L, L), which is not to be changed; each row sums to 1."""
    visible = np.tril(np.ones((length, length))) if causal else np.ones((length, length))
    weighted = visible * np.arange(1, length + 1)  # (L, L)
    weights: Array = weighted / weighted.sum(axis=1, keepdims=True)
    weights.flags.writeable = False
    return weights
