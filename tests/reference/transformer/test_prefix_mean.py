"""reference/transformer/prefix_mean.py against torch: values, autograd's gradients, and one step of torch's own SGD."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from reference.transformer.prefix_mean import (
    PrefixMean,
    cross_entropy,
    gradients,
    logits,
    training_step,
)

V, D, L, N = 9, 4, 6, 3


def sample_model(seed: int, n_out: int) -> tuple[PrefixMean, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((V, D)), rng.standard_normal((n_out, D)), rng.standard_normal(n_out)
    return PrefixMean(*parts), rng.integers(0, V, (L, N))


def in_torch(model: PrefixMean, source: NDArray[np.int64], causal: bool) -> tuple[list[torch.Tensor], torch.Tensor]:
    """The same model as a softmax over the mask, with parameters that autograd follows."""
    embedding, weight, bias = (torch.tensor(part, requires_grad=True) for part in model)
    mask = torch.triu(torch.full((L, L), -torch.inf, dtype=torch.float64), 1) if causal else torch.zeros(L, L).double()
    weights = torch.softmax(mask + torch.arange(1, L + 1).double().log(), dim=-1)
    means = torch.einsum("ts,snd->tnd", weights, embedding[torch.from_numpy(source)])
    return [embedding, weight, bias], means @ weight.T + bias


@pytest.mark.parametrize("causal", [True, False])
def test_prefix_mean_equals_autograd(causal: bool) -> None:
    model, source = sample_model(1, 5)
    parameters, scores = in_torch(model, source, causal)
    np.testing.assert_allclose(logits(model, source, causal=causal), scores.detach().numpy(), atol=1e-12)
    upstream = np.random.default_rng(2).standard_normal((L, N, 5))
    torch.autograd.backward(scores, torch.from_numpy(upstream))
    for ours, expected in zip(gradients(model, source, upstream, causal=causal), parameters, strict=True):
        assert expected.grad is not None
        np.testing.assert_allclose(ours, expected.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("ignored", [None, 1])
def test_cross_entropy_equals_torch(ignored: int | None) -> None:
    rng = np.random.default_rng(3)
    scores, target = 50 * rng.standard_normal((8, 4)), np.array([0, 1, 2, 3, 1, 1, 0, 2])
    value, gradient = cross_entropy(scores, target, ignored)
    x = torch.tensor(scores, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(
        x, torch.from_numpy(target), ignore_index=-100 if ignored is None else ignored
    )
    torch.autograd.backward(loss)
    assert value == pytest.approx(loss.item(), abs=1e-12)
    assert x.grad is not None
    np.testing.assert_allclose(gradient, x.grad.numpy(), atol=1e-14)


@pytest.mark.parametrize("positions", [None, [L - 1] * N, [1, 5, 3]])
@pytest.mark.parametrize("max_norm", [0.5, 1e9])
def test_training_step_equals_torch(positions: list[int] | None, max_norm: float) -> None:
    n_out = V if positions is None else 2
    model, source = sample_model(4, n_out)
    target = np.random.default_rng(5).integers(0, n_out, L * N if positions is None else N)
    ignored = 1 if positions is None else None
    parameters, scores = in_torch(model, source, True)
    read = scores.reshape(-1, n_out) if positions is None else scores[positions, torch.arange(N)]
    loss = torch.nn.functional.cross_entropy(
        read, torch.from_numpy(target), ignore_index=-100 if ignored is None else ignored
    )
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    torch.optim.SGD(parameters, lr=0.7).step()
    after = training_step(
        model, source, target, positions=positions, ignored=ignored, learning_rate=0.7, max_norm=max_norm
    )
    for ours, expected in zip(after, parameters, strict=True):
        np.testing.assert_allclose(ours, expected.detach().numpy(), atol=2e-6)  # torch adds 1e-6 to the norm
