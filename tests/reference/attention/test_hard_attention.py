"""Argmax attention: the limit of softmax, and which of its gradients vanish."""

import numpy as np
import pytest
import torch

from reference.attention.hard_attention import hard_attention
from reference.attention.scaled_dot_product import scaled_dot_product_attention


@pytest.mark.parametrize(("n", "h", "d"), [(1, 1, 1), (2, 3, 4), (7, 5, 2), (30, 16, 8)])
def test_it_is_the_limit_of_softmax(n: int, h: int, d: int) -> None:
    rng = np.random.default_rng(n)
    q, K, V = rng.standard_normal(h), rng.standard_normal((n, h)), rng.standard_normal((n, d))
    sharp = scaled_dot_product_attention(1e6 * q[None], K, V)[0]
    np.testing.assert_allclose(hard_attention(q, K, V), sharp, atol=1e-12)


def test_the_first_of_several_best_keys_is_taken() -> None:
    K = [[0, 1], [1, 0], [1, 0], [1, 5]]
    assert hard_attention([1, 0], K, [[1], [2], [3], [4]]).tolist() == [2]


def test_finite_differences_are_zero_for_query_and_keys_and_one_hot_for_values() -> None:
    rng = np.random.default_rng(3)
    q, K, V = rng.standard_normal(4), rng.standard_normal((6, 4)), rng.standard_normal((6, 3))
    base, step = hard_attention(q, K, V), 1e-6
    for i in range(4):
        assert (hard_attention(q + step * np.eye(4)[i], K, V) == base).all()
    for row in range(6):
        for column in range(4):
            moved = K.copy()
            moved[row, column] += step
            assert (hard_attention(q, moved, V) == base).all()
    for row in range(6):
        moved = V.copy()
        moved[row] += step
        gradient = (hard_attention(q, K, moved) - base) / step
        np.testing.assert_allclose(gradient, float(row == (K @ q).argmax()), atol=1e-9)


def test_autograd_says_the_same() -> None:
    """A one-hot weight from argmax cuts the graph: V gets a gradient, q and K get none."""
    generator = torch.Generator().manual_seed(0)
    q, K, V = (
        torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)
        for shape in ((4,), (6, 4), (6, 3))
    )
    weights = torch.nn.functional.one_hot((K @ q).argmax(), 6).double()
    output = weights @ V
    output.sum().backward()
    assert q.grad is None and K.grad is None
    assert V.grad is not None and V.grad.sum() == 3 and (V.grad.sum(dim=1) != 0).sum() == 1
    expected = hard_attention(q.detach().numpy(), K.detach().numpy(), V.detach().numpy())
    np.testing.assert_array_equal(output.detach().numpy(), expected)


def test_softmax_has_a_gradient_and_loses_it_as_it_sharpens() -> None:
    """What argmax gives up: with softmax the query learns; multiplied by a large factor it saturates towards zero."""
    generator = torch.Generator().manual_seed(1)
    K, V = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((6, 4), (6, 3)))
    sizes = []
    for beta in (1.0, 10.0, 100.0, 1000.0):
        q = torch.randn(4, generator=torch.Generator().manual_seed(2), dtype=torch.float64, requires_grad=True)
        (torch.softmax(beta * (K @ q), 0) @ V).sum().backward()
        assert q.grad is not None
        sizes.append(float(q.grad.abs().max()))
    assert sizes[0] > 0.1 and sizes[-1] < 1e-12
