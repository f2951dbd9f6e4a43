"""An encoder layer and its parameters, against torch's modules."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from reference.transformer.causal_mask import causal_mask
from reference.transformer.encoder_layer import fits, layer_norm
from reference.transformer.parameter_counts import (
    attention_parameters,
    count_parameters,
    embedding_parameters,
    feed_forward_parameters,
    head_parameters,
    layer_norm_parameters,
)
from tests.support.table_rows import Rows

Array = NDArray[np.float64]
D, HEADS, LENGTH, BATCH = 12, 3, 5, 4


def torchs_layer(
    *, norm_first: bool = False, activation: str = "relu", heads: int = HEADS
) -> nn.TransformerEncoderLayer:
    """A layer of torch with random matrices, gains 1 and biases 0."""
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(D, heads, D, 0.0, activation, norm_first=norm_first).double().eval()
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.8 / D**0.5)
            else:
                parameter.fill_("norm" in name and name.endswith("weight"))
    return layer


def verdict(layer: nn.TransformerEncoderLayer, matrices: list[Array] | None = None) -> str | None:
    """What `fits` says of the layer when three heads were asked for."""
    torch.manual_seed(3)
    alone, together = (torch.randn(length, BATCH, D).double() for length in (1, LENGTH))
    with torch.no_grad():
        outputs = layer(alone), layer(together, torch.from_numpy(causal_mask(LENGTH)))
    attention = layer.self_attn
    weights = [
        *attention.in_proj_weight.chunk(3),
        attention.out_proj.weight,
        layer.linear1.weight,
        layer.linear2.weight,
    ]
    found = matrices or [np.asarray(weight.detach()) for weight in weights]
    pairs = (alone[0].numpy(), outputs[0][0].numpy()), (together.numpy(), outputs[1].numpy())
    return fits([found], *pairs, HEADS)


@pytest.mark.parametrize("norm_first", [False, True])
def test_torch_layer_fits(norm_first: bool) -> None:
    assert verdict(torchs_layer(norm_first=norm_first)) == ""


def test_known_mistakes() -> None:
    assert "GELU" in str(verdict(torchs_layer(activation="gelu")))
    assert "they have 2: is nhead" in str(verdict(torchs_layer(heads=2)))


def test_other_matrices() -> None:
    rng = np.random.default_rng(1)
    assert verdict(torchs_layer(), list(rng.standard_normal((6, D, D)))) is None


def test_layer_norm() -> None:
    x = layer_norm(np.random.default_rng(1).standard_normal((3, D)))
    np.testing.assert_allclose(x.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(x.var(axis=-1), 1, atol=1e-4)


def trainable(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def random_configurations() -> list[tuple[int, int, int, int, int, int]]:
    """(V, d, n_layers, n_heads, d_ff, n_out)"""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(25):
        heads = int(rng.integers(1, 5))
        V, layers, d_ff, n_out = (int(size) for size in rng.integers(1, 12, 4))
        found.append((V, heads * int(rng.integers(1, 5)), layers, heads, d_ff, n_out))
    return found


def test_count_parameters() -> None:
    with Rows() as row:
        for configuration in random_configurations():
            with row(configuration):
                V, d, layers, heads, d_ff, n_out = configuration
                encoder = nn.TransformerEncoder(
                    nn.TransformerEncoderLayer(d, heads, d_ff), layers, enable_nested_tensor=False
                )
                modules = nn.ModuleList([nn.Embedding(V, d), encoder, nn.Linear(d, n_out)])
                assert count_parameters(*configuration) == trainable(modules)
                without = sum(
                    parameter.numel()
                    for name, parameter in modules.named_parameters()
                    if "norm" in name or not name.endswith("bias")
                )
                assert count_parameters(*configuration, bias=False) == without


def test_parameters_of_each_part() -> None:
    for d, d_ff in [(4, 4), (6, 10), (1, 3)]:
        layer = nn.TransformerEncoderLayer(d, 1, d_ff)
        assert attention_parameters(d) == trainable(layer.self_attn)
        assert feed_forward_parameters(d, d_ff) == trainable(layer.linear1) + trainable(layer.linear2)
        assert layer_norm_parameters(d) == trainable(layer.norm1) + trainable(layer.norm2)
        assert embedding_parameters(7, d) == trainable(nn.Embedding(7, d))
        assert head_parameters(d, 3) == trainable(nn.Linear(d, 3))


def test_heads_must_divide_the_dimension() -> None:
    assert len({count_parameters(10, 8, 2, heads, 8, 2) for heads in (1, 2, 4, 8)}) == 1
    with pytest.raises(ValueError, match="no multiple of the 3 heads"):
        count_parameters(10, 8, 2, 3, 8, 2)
