"""reference/transformer/parameter_counts.py against real modules of torch, and its closed forms against sympy."""

import numpy as np
import pytest
import sympy
from torch import nn

from reference.transformer.language_model import Model
from reference.transformer.parameter_counts import (
    attention_parameters,
    count_parameters,
    embedding_parameters,
    feed_forward_parameters,
    head_parameters,
    layer_norm_parameters,
)
from tests.support.table_rows import Rows


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


def test_counts_what_torch_allocates() -> None:
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


def test_each_part_is_what_its_module_allocates() -> None:
    for d, d_ff in [(4, 4), (6, 10), (1, 3)]:
        layer = nn.TransformerEncoderLayer(d, 1, d_ff)
        assert attention_parameters(d) == trainable(layer.self_attn)
        assert feed_forward_parameters(d, d_ff) == trainable(layer.linear1) + trainable(layer.linear2)
        assert layer_norm_parameters(d) == trainable(layer.norm1) + trainable(layer.norm2)
        assert embedding_parameters(7, d) == trainable(nn.Embedding(7, d))
        assert head_parameters(d, 3) == trainable(nn.Linear(d, 3))


def test_neither_the_number_of_heads_nor_the_place_of_the_norms_counts() -> None:
    for heads in range(1, 9):
        for norm_first in (True, False):
            assert trainable(nn.TransformerEncoderLayer(840, heads, 8, norm_first=norm_first)) == trainable(
                nn.TransformerEncoderLayer(840, 1, 8)
            )
    assert len({count_parameters(10, 8, 2, heads, 8, 2) for heads in (1, 2, 4, 8)}) == 1
    with pytest.raises(ValueError, match="no multiple of the 3 heads"):
        count_parameters(10, 8, 2, 3, 8, 2)


def test_counts_the_reference_s_own_models() -> None:
    for V, d, layers, heads, n_out in [(9, 4, 2, 2, 9), (9, 4, 1, 4, 2)]:
        assert trainable(Model(V, heads, d, layers, n_out)) == count_parameters(V, d, layers, heads, d, n_out)


def test_closed_forms() -> None:
    """With d_ff = d: Vd + L(6d² + 10d) + dn + n, and a layer without the biases of its linear layers 6d² + 4d."""
    V, d, L, n = sympy.symbols("V d L n", positive=True)
    layer = attention_parameters(d) + feed_forward_parameters(d, d) + layer_norm_parameters(d)
    total = embedding_parameters(V, d) + L * layer + head_parameters(d, n)
    assert sympy.expand(total - (V * d + L * (6 * d**2 + 10 * d) + d * n + n)) == 0
    bare = attention_parameters(d, False) + feed_forward_parameters(d, d, False) + layer_norm_parameters(d)
    assert sympy.expand(bare - (6 * d**2 + 4 * d)) == 0
