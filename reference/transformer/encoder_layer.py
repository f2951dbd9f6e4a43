"""An encoder layer from its six matrices, and which of a model's matrices are which.

    post-norm, Vaswani et al. (2017), section 3:    y = LN(x + A(x))        z = LN(y + relu(y W_1) W_2)
    pre-norm, Xiong et al. (2020), section 3.2:     y = x + A(LN(x))        z = y + relu(LN(y) W_1) W_2
    A(x) = Concat_h(softmax(x W_Q^h (x W_K^h)ᵀ / √d_h + M) x W_V^h) W_O

Gains are 1, biases 0, d_ff = d. A layer by hand may hold its matrices in any order, transposed, with a head's columns
next to each other or taking turns: `fits` finds an order for which the formulas hold, or says that there is none. With
one token the softmax is 1, so W_Q and W_K drop out and the other four can be found first.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference.attention.scaled_dot_product import softmax

Array = NDArray[np.float64]
TOLERANCE = 1e-3
"""A layer in float32 is 1e-5 away, one with another formula .05 at least."""


_erf: Callable[[Array], Array] = np.vectorize(math.erf, otypes=[np.float64])


class Block(NamedTuple):
    """The residual connection and norm around attention and feed-forward network."""

    norm: str = "post"
    """post, pre, or none."""
    ddof: int = 0
    """1: the deviation of layer norm divides by d - 1."""
    residuals: tuple[int, int] = (1, 1)
    """Whether the input is added again, around each of the two."""
    activation: Callable[[Array], Array] = lambda x: np.maximum(x, 0)


class Scores(NamedTuple):
    """How attention weights come from queries and keys."""

    n_heads: int
    scale: float
    """The scores are divided by it."""
    keys_are_values: bool = False
    is_causal: bool = True


def layer_norm(x: Array, ddof: int = 0) -> Array:
    """Return x (..., d) with mean 0 and variance 1 along its last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    normed: Array = centred / np.sqrt((centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - ddof) + 1e-5)
    return normed


def attention_weights(x: Array, W_Q: Array, W_K: Array, scores: Scores, *, in_turns: bool = False) -> Array:
    """Return the weights (N, head, query, key) of the inputs x (L, N, d); with a scale of infinity they are uniform."""
    q, k = (_heads(x @ W, scores.n_heads, in_turns=in_turns) for W in (W_Q, W_K))  # (L, N, head, width)
    s = np.einsum("tnhw,snhw->nhts", q, k) / scores.scale
    if scores.is_causal:
        s = np.where(np.tri(len(x), dtype=bool), s, -np.inf)
    return softmax(s)


def fits(
    orders: Sequence[Sequence[Array]],
    alone: tuple[Array, Array],
    together: tuple[Array, Array],
    n_heads: int,
    *,
    mistakes: bool = True,
) -> str | None:
    """Say whether a layer is the one of the definition.

    Args:
        orders: ways to cut the layer's parameters into six matrices (d, d).
        alone: inputs and outputs (N, d) of sequences of one token.
        together: inputs and outputs (L, N, d) with a causal mask, N at least 2 and L at least 3.
        n_heads: how many heads were asked for.
        mistakes: look for known mistakes as well.

    Returns:
        "" for the definition, the name of a mistake that gives these outputs, or None where nothing does.
    """
    d = alone[0].shape[-1]
    right = [(Block(norm, ddof), "") for norm in ("post", "pre") for ddof in (0, 1)]
    mistaken = [(block, name) for name, blocks in _block_mistakes().items() for block in blocks]
    kinds = list(_kinds_of_scores(n_heads, d))
    for block, wrong_block in right + mistaken * mistakes:
        for matrices in orders:
            for four, rest in _without_scores(matrices, alone, block):
                if wrong_block:
                    return wrong_block
                for scores, wrong_scores in kinds if mistakes else kinds[:2]:
                    if _has_weights(four, rest, together, block, scores):
                        return wrong_scores
    return None


def _without_scores(
    matrices: Sequence[Array], alone: tuple[Array, Array], block: Block
) -> Iterator[tuple[tuple[Array, ...], list[Array]]]:
    """Yield (W_V, W_O, W_1, W_2) for which outputs of single tokens are right, and the two that are left."""
    x, z = alone
    either = [(index, W) for index, matrix in enumerate(matrices) for W in (matrix, matrix.T)]
    pairs = [(v, o) for v, o in permutations(either, 2) if v[0] != o[0]]
    products = np.stack([v[1] @ o[1] for v, o in pairs])
    one = _of_one_token(x[:1], products, np.stack([W for _, W in either]), block)  # most orders differ in one token
    far = np.abs(one - z[0]).max(axis=-1)
    for pair, first, second in np.argwhere(far < _tolerance(z)):
        places = (*pairs[pair], either[first], either[second])
        used, four = {index for index, _ in places}, tuple(W for _, W in places)
        if len(used) == len(four) and _near(_of_tokens(x, four, block), z):  # no matrix in two places
            yield four, [matrix for index, matrix in enumerate(matrices) if index not in used]


def _of_one_token(x: Array, products: Array, matrices: Array, block: Block) -> Array:
    """Return a layer's output for a sequence of one token, for all orders of its matrices.

    Args:
        x: the input (1, d).
        products: what W_V W_O may be (pair, d, d).
        matrices: what W_1 and W_2 may be (matrix, d, d).
        block: what is around attention and feed-forward network.

    Returns:
        The outputs (pair, W_1, W_2, d).
    """
    n, d = len(matrices), x.shape[-1]
    side_by_side = matrices.swapaxes(0, 1).reshape(d, n * d)  # one product of large matrices is faster than many
    entering = layer_norm(x, block.ddof) if block.norm == "pre" else x
    y = block.residuals[0] * x + (entering @ products.swapaxes(0, 1).reshape(d, -1)).reshape(-1, d)
    y = layer_norm(y, block.ddof) if block.norm == "post" else y
    inner = layer_norm(y, block.ddof) if block.norm == "pre" else y
    active = block.activation((inner @ side_by_side).reshape(-1, n, d))  # (pair, W_1, d)
    z = block.residuals[1] * y[:, None, None] + (active @ side_by_side).reshape(-1, n, n, d)
    return layer_norm(z, block.ddof) if block.norm == "post" else z


def _of_tokens(x: Array, four: Sequence[Array], block: Block) -> Array:
    """Return a layer's outputs (N, d) for sequences of one token x (N, d): attention gives x W_V W_O."""
    W_V, W_O, W_1, W_2 = four
    entering = layer_norm(x, block.ddof) if block.norm == "pre" else x
    return _after_attention(x, entering @ W_V @ W_O, W_1, W_2, block)


def _after_attention(x: Array, attended: Array, W_1: Array, W_2: Array, block: Block) -> Array:
    """Return a layer's outputs for inputs and what attention gives of them, all of shape (…, d)."""
    y = block.residuals[0] * x + attended
    y = layer_norm(y, block.ddof) if block.norm == "post" else y
    inner = layer_norm(y, block.ddof) if block.norm == "pre" else y
    z = block.residuals[1] * y + block.activation(inner @ W_1) @ W_2
    return layer_norm(z, block.ddof) if block.norm == "post" else z


def _has_weights(
    four: Sequence[Array], rest: Sequence[Array], together: tuple[Array, Array], block: Block, scores: Scores
) -> bool:
    """Return whether some order of the last two matrices gives the outputs of whole sequences."""
    W_V, W_O, W_1, W_2 = four
    x, z = together
    entering = layer_norm(x, block.ddof) if block.norm == "pre" else x
    one, other = rest
    keys = [(one, W_V), (other, W_V)] if scores.keys_are_values else [(one, other), (other, one)]
    for (W_Q, W_K), turn_q, turn_k in product(keys, (False, True), (False, True)):
        for in_turns, values_in_turns in product((False, True), repeat=2):
            Q, K = (W_Q.T if turn_q else W_Q), (W_K.T if turn_k else W_K)
            weights = attention_weights(entering, Q, K, scores, in_turns=in_turns)
            values = _heads(entering @ W_V, scores.n_heads, in_turns=values_in_turns)
            mixed = _joined(np.einsum("nhts,snhw->tnhw", weights, values), in_turns=values_in_turns)
            if _near(_after_attention(x, mixed @ W_O, W_1, W_2, block), z):
                return True
    return False


def _kinds_of_scores(n_heads: int, d: int) -> Iterator[tuple[Scores, str]]:
    """Yield the right kind and the wrong ones with their names; without a mask is for a test of its own."""
    width = d // n_heads
    for is_causal in (True, False):
        yield Scores(n_heads, width**0.5, is_causal=is_causal), ""
    for is_causal in (True, False):
        for other in (h for h in range(1, d + 1) if d % h == 0 and h != n_heads):
            yield (
                Scores(other, (d // other) ** 0.5, is_causal=is_causal),
                f"asked for {n_heads} heads, they have {other}: is nhead handed on?",
            )
        yield Scores(n_heads, 1.0, is_causal=is_causal), "the scores are not divided by the root of a head's width"
        yield Scores(n_heads, d**0.5, is_causal=is_causal), "the scores are divided by √nhid, not by √(nhid / nhead)"
        yield (
            Scores(n_heads, float(width), is_causal=is_causal),
            "the scores are divided by a head's width, not its root",
        )
        yield Scores(n_heads, np.inf, is_causal=is_causal), "every token that is seen has the same weight"
        yield (
            Scores(n_heads, width**0.5, keys_are_values=True, is_causal=is_causal),
            "the values are the keys; they have a matrix of their own",
        )


def _block_mistakes() -> dict[str, list[Block]]:
    placed = ("post", "pre")
    return {
        "the activation is GELU, not ReLU": [
            Block(norm, activation=lambda x: x * (1 + _erf(x / np.sqrt(2))) / 2) for norm in placed
        ],
        "the feed-forward network has no activation; it is ReLU": [
            Block(norm, activation=lambda x: x) for norm in placed
        ],
        "the activation is tanh, not ReLU": [Block(norm, activation=np.tanh) for norm in placed],
        "the activation is the logistic function, not ReLU": [
            Block(norm, activation=lambda x: 1 / (1 + np.exp(-x))) for norm in placed
        ],
        "the input is not added to what attention gives (residual connection)": [
            Block(norm, residuals=(0, 1)) for norm in placed
        ],
        "the input is not added to what the feed-forward network gives (residual connection)": [
            Block(norm, residuals=(1, 0)) for norm in placed
        ],
        "the inputs are not added to the outputs (residual connections)": [
            Block(norm, residuals=(0, 0)) for norm in placed
        ],
        "there is no layer norm": [Block("none")],
    }


def _heads(x: Array, n_heads: int, *, in_turns: bool) -> Array:
    """Cut (..., d) into (..., head, width)."""
    if in_turns:
        return x.reshape(*x.shape[:-1], -1, n_heads).swapaxes(-1, -2)
    return x.reshape(*x.shape[:-1], n_heads, -1)


def _joined(x: Array, *, in_turns: bool) -> Array:
    """Undo `_heads`."""
    ordered = x.swapaxes(-1, -2) if in_turns else x
    return ordered.reshape(*x.shape[:-2], -1)


def _near(found: Array, wanted: Array) -> bool:
    """Return whether an output is the one that was seen, however large its numbers are."""
    return float(np.abs(found - wanted).max()) < _tolerance(wanted)


def _tolerance(wanted: Array) -> float:
    return TOLERANCE * max(1.0, float(np.abs(wanted).max()))
