"""reference/attention/multi_head.py against torch's MultiheadAttention, in values and gradients."""

import itertools

import numpy as np
import pytest
import torch

from reference.attention.multi_head import (
    Weights,
    best_single_head_loss,
    copying_weights,
    multi_head_attention,
)
from reference.attention.self_attention import self_attention
from reference.transformer.positional_encoding import positional_encoding


def random_weights(rng: np.random.Generator, d: int) -> Weights:
    return Weights(*(rng.standard_normal((d, d)) / np.sqrt(d) for _ in range(4)))


def torch_module(weights: Weights, n_heads: int) -> torch.nn.MultiheadAttention:
    d = len(weights.W_Q)
    module = torch.nn.MultiheadAttention(d, n_heads, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.from_numpy(np.concatenate([weights.W_Q, weights.W_K, weights.W_V], axis=1).T))
        module.out_proj.weight.copy_(torch.from_numpy(weights.W_O.T))
    return module


@pytest.mark.parametrize(("batch", "tokens", "d", "n_heads"), [(2, 5, 8, 2), (1, 1, 4, 4), (3, 4, 6, 1), (2, 3, 12, 3)])
def test_equals_torch(batch: int, tokens: int, d: int, n_heads: int) -> None:
    rng = np.random.default_rng(d)
    weights, X = random_weights(rng, d), rng.standard_normal((batch, tokens, d))
    x = torch.from_numpy(X)
    expected, _ = torch_module(weights, n_heads)(x, x, x, need_weights=False)
    np.testing.assert_allclose(multi_head_attention(X, *weights, n_heads), expected.detach().numpy(), atol=1e-12)


def test_gradient_equals_torch() -> None:
    """Central differences of the reference against autograd through the module."""
    rng = np.random.default_rng(3)
    weights, X, upstream = random_weights(rng, 4), rng.standard_normal((1, 3, 4)), rng.standard_normal((1, 3, 4))
    x = torch.from_numpy(X.copy()).requires_grad_()
    (torch_module(weights, 2)(x, x, x, need_weights=False)[0] * torch.from_numpy(upstream)).sum().backward()
    assert x.grad is not None
    for place in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[place] = 1e-6
        above, below = (multi_head_attention(X + sign * step, *weights, 2) for sign in (1, -1))
        assert ((above - below) * upstream).sum() / 2e-6 == pytest.approx(float(x.grad[place]), abs=1e-7)


def test_one_head_is_self_attention() -> None:
    rng = np.random.default_rng(4)
    weights, X = random_weights(rng, 6), rng.standard_normal((2, 5, 6))
    for x, output in zip(X, multi_head_attention(X, *weights, 1), strict=True):
        np.testing.assert_allclose(output, self_attention(x, *weights[:3]) @ weights.W_O, atol=1e-12)


def test_heads_must_divide_the_dimension() -> None:
    weights = random_weights(np.random.default_rng(5), 6)
    for n_heads in (0, 4, 12):
        with pytest.raises(ValueError, match="no multiple"):
            multi_head_attention(np.ones((1, 2, 6)), *weights, n_heads)


class TestOrder:
    """Why position encodings are needed: without them the order of the tokens only orders the outputs."""

    def test_permutation_equivariance(self) -> None:
        rng = np.random.default_rng(6)
        X, (W_Q, W_K, W_V, _) = rng.standard_normal((4, 6)), random_weights(rng, 6)
        output = self_attention(X, W_Q, W_K, W_V)
        for order in itertools.permutations(range(4)):
            permuted = self_attention(X[list(order)], W_Q, W_K, W_V)
            np.testing.assert_allclose(permuted, output[list(order)], atol=1e-12)

    def test_positions_break_equivariance(self) -> None:
        rng = np.random.default_rng(7)
        X, (W_Q, W_K, W_V, _), P = rng.standard_normal((4, 6)), random_weights(rng, 6), positional_encoding(4, 6)
        output = self_attention(X + P, W_Q, W_K, W_V)
        for order in list(itertools.permutations(range(4)))[1:]:
            permuted = self_attention(X[list(order)] + P, W_Q, W_K, W_V)
            assert np.abs(permuted - output[list(order)]).max() > 1e-3


class TestCopyingTwoTokens:
    """What two heads can do and one cannot."""

    def test_two_heads_copy_two_tokens(self) -> None:
        rng = np.random.default_rng(8)
        n = 5
        values = rng.standard_normal((3, n, n))
        X = np.concatenate([values, np.tile(np.eye(n), (3, 1, 1))], axis=2)
        for a, b in [(0, 4), (3, 1)]:
            output = multi_head_attention(X, *copying_weights(n, a, b), 2)
            wanted = np.concatenate([values[:, a], values[:, b]], axis=1)[:, None, :]
            np.testing.assert_allclose(output, np.broadcast_to(wanted, output.shape), atol=1e-12)

    def test_one_head_gives_the_mean(self) -> None:
        rng = np.random.default_rng(9)
        values = rng.standard_normal((4, 4))
        X = np.concatenate([values, np.eye(4)], axis=1)[None]
        output = multi_head_attention(X, *copying_weights(4, 1, 2), 1)
        mean = (values[1] + values[2]) / 2
        np.testing.assert_allclose(output, np.broadcast_to(np.tile(mean, 2), output.shape), atol=1e-12)

    def test_no_single_head_loses_less_than_half(self) -> None:
        """Least squares over every matrix W, for many pairs of weights: the loss is half of the squared length."""
        rng = np.random.default_rng(10)
        d = 4
        A, B = np.hstack([np.eye(d), np.zeros((d, d))]), np.hstack([np.zeros((d, d)), np.eye(d)])
        for _ in range(20):
            weight_a, weight_b, rest = rng.dirichlet(np.ones(3))
            design = np.vstack([weight_a * np.eye(d), weight_b * np.eye(d)])  # the rest can only add to the loss
            W, *_ = np.linalg.lstsq(design, np.vstack([A, B]), rcond=None)
            loss = ((design @ W - np.vstack([A, B])) ** 2).sum() / (2 * d)
            assert loss == pytest.approx(0.5) == pytest.approx(best_single_head_loss(weight_a, weight_b))
            assert rest > 0
