"""reference/transformer/encoder_layer.py against torch's layer, and what it says of layers with a known mistake."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from reference.transformer.causal_mask import causal_mask
from reference.transformer.encoder_layer import fits, layer_norm

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
def test_torchs_layer_is_the_one_of_the_definition(norm_first: bool) -> None:
    assert verdict(torchs_layer(norm_first=norm_first)) == ""


def test_mistakes_are_named() -> None:
    assert "GELU" in str(verdict(torchs_layer(activation="gelu")))
    assert "they have 2: is nhead" in str(verdict(torchs_layer(heads=2)))


def test_other_matrices_fit_nothing() -> None:
    rng = np.random.default_rng(1)
    assert verdict(torchs_layer(), list(rng.standard_normal((6, D, D)))) is None


def test_layer_norm_has_mean_0_and_variance_1() -> None:
    x = layer_norm(np.random.default_rng(1).standard_normal((3, D)))
    np.testing.assert_allclose(x.mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(x.var(axis=-1), 1, atol=1e-4)
