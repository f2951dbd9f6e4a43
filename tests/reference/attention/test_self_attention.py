"""reference/attention/self_attention.py against torch, and who sees whom."""

import numpy as np
import pytest
import torch

from reference.attention.self_attention import self_attention


@pytest.mark.parametrize("causal", [False, True])
def test_values_and_gradients_equal_torch(causal: bool) -> None:
    rng = np.random.default_rng(44)
    X = rng.standard_normal((6, 5))
    W_Q, W_K, W_V = (rng.standard_normal((5, 4)) for _ in range(3))
    x = torch.tensor(X, requires_grad=True)
    q, k, v = (x @ torch.tensor(W) for W in (W_Q, W_K, W_V))
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    np.testing.assert_allclose(self_attention(X, W_Q, W_K, W_V, causal), theirs.detach().numpy(), atol=1e-12)
    theirs.square().sum().backward()  # type: ignore[no-untyped-call]
    direction, step = rng.standard_normal(X.shape), 1e-6
    ahead, behind = ((self_attention(X + s * direction, W_Q, W_K, W_V, causal) ** 2).sum() for s in (step, -step))
    assert (ahead - behind) / (2 * step) == pytest.approx(float((x.grad * torch.tensor(direction)).sum()), rel=1e-6)  # type: ignore[operator]


def test_a_changed_token_reaches_earlier_ones_only_without_the_causal_mask() -> None:
    rng = np.random.default_rng(45)
    X, W = rng.standard_normal((7, 4)), [rng.standard_normal((4, 4)) for _ in range(3)]
    for changed in range(7):
        other = X.copy()
        other[changed] += 1.0
        for causal in (False, True):
            moved = np.abs(self_attention(other, *W, causal) - self_attention(X, *W, causal)).max(axis=1) > 1e-9
            assert moved.tolist() == [not causal or t >= changed for t in range(7)]
