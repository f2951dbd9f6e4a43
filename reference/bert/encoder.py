"""BERT's encoder: Devlin et al. (2019), "BERT", section 3; the layers of Vaswani et al. (2017), normed after each part.

    x_t = LN(E[token_t] + P[t] + S[0])                          P positions, S segments; one segment here
    x  <- LN(x + Attention(x) W_O + b_O)                        heads side by side
    x  <- LN(x + gelu(x W_1 + b_1) W_2 + b_2)

Weights are named as Hugging Face's `BertModel` names them; its matrices map from columns to rows, W x.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.attention.scaled_dot_product import softmax

Array = NDArray[np.float64]
Weights = Mapping[str, Array]

LAYER_NORM_EPSILON = 1e-12
_erf = np.vectorize(math.erf, otypes=[np.float64])


def draw_weights(
    rng: np.random.Generator, vocabulary: int, d: int, layers: int, d_ff: int, positions: int
) -> dict[str, Array]:
    """Draw weights of an encoder, biases and norms random too, so that an error in any of them shows.

    The size of their entries keeps activations near 1.
    """
    shapes = {"word": (vocabulary, d), "position": (positions, d), "token_type": (2, d)}
    weights = {f"embeddings.{kind}_embeddings.weight": rng.standard_normal(shape) for kind, shape in shapes.items()}
    weights |= _drawn_norm(rng, "embeddings.LayerNorm", d)
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            weights |= _drawn_linear(rng, f"{name}.attention.self.{part}", d, d)
        weights |= _drawn_linear(rng, f"{name}.attention.output.dense", d, d)
        weights |= _drawn_norm(rng, f"{name}.attention.output.LayerNorm", d)
        weights |= _drawn_linear(rng, f"{name}.intermediate.dense", d_ff, d)
        weights |= _drawn_linear(rng, f"{name}.output.dense", d, d_ff)
        weights |= _drawn_norm(rng, f"{name}.output.LayerNorm", d)
    return weights | _drawn_linear(rng, "pooler.dense", d, d)


def embed(weights: Weights, input_ids: ArrayLike) -> Array:
    """Return only the word embeddings, (batch, token) -> (batch, token, d)."""
    embedded: Array = weights["embeddings.word_embeddings.weight"][np.asarray(input_ids)]
    return embedded


def encode(weights: Weights, embeddings: ArrayLike, attention_mask: ArrayLike, heads: int) -> Array:
    """Return the hidden states of the last layer.

    Args:
        weights: as `draw_weights` returns them.
        embeddings: the embeddings in place of the words, without positions, (batch, token, d).
        attention_mask: 1 where a position is read, 0 where it is padding, (batch, token).
        heads: number of heads.

    Returns:
        shape (batch, token, d); padded positions hold numbers without a meaning.
    """
    words = np.asarray(embeddings, dtype=np.float64)
    positions = weights["embeddings.position_embeddings.weight"][: words.shape[1]]
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    x = _norm(weights, "embeddings.LayerNorm", words + positions + segment)
    hidden = np.where(np.asarray(attention_mask) == 0, -np.inf, 0.0)[:, None, None, :]  # (batch, 1, 1, key)
    for layer in range(1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))):
        name = f"encoder.layer.{layer}"
        x = _norm(weights, f"{name}.attention.output.LayerNorm", x + _attention(weights, name, x, hidden, heads))
        inner = _gelu(_linear(weights, f"{name}.intermediate.dense", x))
        x = _norm(weights, f"{name}.output.LayerNorm", x + _linear(weights, f"{name}.output.dense", inner))
    return x


def pool(weights: Weights, hidden_states: ArrayLike) -> Array:
    """Apply BERT's pooler: tanh of a layer on the first position, (batch, token, d) -> (batch, d)."""
    return np.tanh(_linear(weights, "pooler.dense", np.asarray(hidden_states, dtype=np.float64)[:, 0]))


def _attention(weights: Weights, name: str, x: Array, hidden: Array, heads: int) -> Array:
    batch, tokens, d = x.shape

    def split(part: str) -> Array:
        projected = _linear(weights, f"{name}.attention.self.{part}", x)
        return projected.reshape(batch, tokens, heads, d // heads).transpose(0, 2, 1, 3)  # (batch, head, token, d/head)

    q, k, v = split("query"), split("key"), split("value")
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(d // heads)  # (batch, head, query, key)
    mixed = (softmax(scores + hidden) @ v).transpose(0, 2, 1, 3).reshape(batch, tokens, d)
    return _linear(weights, f"{name}.attention.output.dense", mixed)


def _linear(weights: Weights, name: str, x: Array) -> Array:
    result: Array = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return result


def _norm(weights: Weights, name: str, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + LAYER_NORM_EPSILON)
    result: Array = centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return result


def _gelu(x: Array) -> Array:
    """Return x Φ(x), Φ the distribution function of the standard normal."""
    result: Array = x * (1 + _erf(x / math.sqrt(2))) / 2
    return result


def _drawn_linear(rng: np.random.Generator, name: str, rows: int, columns: int) -> dict[str, Array]:
    matrix = rng.standard_normal((rows, columns)) / math.sqrt(columns)
    return {f"{name}.weight": matrix, f"{name}.bias": 0.1 * rng.standard_normal(rows)}


def _drawn_norm(rng: np.random.Generator, name: str, d: int) -> dict[str, Array]:
    return {f"{name}.weight": 1 + 0.1 * rng.standard_normal(d), f"{name}.bias": 0.1 * rng.standard_normal(d)}
