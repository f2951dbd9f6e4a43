"""The language model against its layers by einsum; positional encodings against the paper's formula."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from reference.transformer.causal_mask import causal_mask
from reference.transformer.language_model import Model, PositionalEncoding, TransformerModel
from reference.transformer.positional_encoding import positional_encoding

V, D = 11, 8


@pytest.fixture
def base() -> TransformerModel:
    torch.manual_seed(1)
    return TransformerModel(V, 2, D, 2).eval()


def mask_of(size: int) -> Tensor:
    return torch.from_numpy(causal_mask(size)).float()


def tokens(length: int, batch: int, seed: int = 0) -> Tensor:
    return torch.randint(V, (length, batch), generator=torch.Generator().manual_seed(seed))


def attention_layer(layer: nn.TransformerEncoderLayer, x: Tensor, mask: Tensor) -> Any:
    """One encoder layer by einsum: post-norm, ReLU; x (L, N, d)."""
    attention = layer.self_attn
    q, k, v = (
        x @ w.T + b for w, b in zip(attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True)
    )
    heads, width = attention.num_heads, x.shape[-1] // attention.num_heads
    q, k, v = (y.reshape(*x.shape[:2], heads, width) for y in (q, k, v))  # (L, N, heads, width)
    weights = torch.softmax(torch.einsum("tnhw,snhw->nhts", q, k) / math.sqrt(width) + mask, dim=-1)
    attended = torch.einsum("nhts,snhw->tnhw", weights, v).reshape(x.shape)
    x = layer.norm1(x + attention.out_proj(attended))
    return layer.norm2(x + layer.linear2(torch.relu(layer.linear1(x))))


def test_base_equals_einsum(base: TransformerModel) -> None:
    source, mask = tokens(5, 3), mask_of(5)
    x = base.encoder.weight[source] * math.sqrt(D) + torch.from_numpy(positional_encoding(5, D)).float()[:, None]
    for layer in base.transformer_encoder.layers:
        assert isinstance(layer, nn.TransformerEncoderLayer)
        x = attention_layer(layer, x, mask)
    torch.testing.assert_close(base(source, mask), x, atol=1e-5, rtol=1e-5)


def test_gradients_equal_einsum(base: TransformerModel) -> None:
    source, mask = tokens(4, 2), mask_of(4)
    parameters = list(base.parameters())
    wanted = torch.autograd.grad(base(source, mask).pow(2).mean() + base(source, mask)[-1, 0, 0], parameters)
    x = base.encoder(source) * math.sqrt(D) + base.pos_encoder.table[:4]
    for layer in base.transformer_encoder.layers:
        assert isinstance(layer, nn.TransformerEncoderLayer)
        x = attention_layer(layer, x, mask)
    found = torch.autograd.grad(x.pow(2).mean() + x[-1, 0, 0], parameters)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_causal_mask_hides_the_future(base: TransformerModel) -> None:
    """Question 1a, and question 5: a causal model against an encoder trained with masked tokens."""
    source = tokens(6, 2)
    changed = source.clone()
    changed[4:] = (changed[4:] + 1) % V
    mask = mask_of(6)
    torch.testing.assert_close(base(source, mask)[:4], base(changed, mask)[:4], atol=1e-6, rtol=0)
    assert (base(source, torch.zeros(6, 6))[:4] - base(changed, torch.zeros(6, 6))[:4]).abs().max() > 1e-3


def test_positions_break_equivariance(base: TransformerModel) -> None:
    """Without a causal mask, which by itself already breaks the symmetry."""
    source, order, mask = tokens(6, 1), torch.tensor([3, 0, 5, 1, 4, 2]), torch.zeros(6, 6)
    assert (base(source[order], mask) - base(source, mask)[order]).abs().max() > 1e-2
    base.pos_encoder.table.zero_()
    torch.testing.assert_close(base(source[order], mask), base(source, mask)[order], atol=1e-5, rtol=1e-5)
    causal = mask_of(6)
    assert (base(source[order], causal) - base(source, causal)[order]).abs().max() > 1e-2


def test_positional_encoding_module() -> None:
    module = PositionalEncoding(6, dropout=0.0, max_len=9)
    added = module(torch.zeros(5, 2, 6))[:, 1]
    np.testing.assert_allclose(added.numpy(), positional_encoding(5, 6), atol=1e-6)
    assert not list(module.parameters()) and not module.state_dict()


def test_head_and_base() -> None:
    model = Model(V, 2, D, 1, 3, dropout=0.0)
    source, mask = tokens(4, 2), mask_of(4)
    scores = model(source, mask)
    assert scores.shape == (4, 2, 3)
    assert (scores.exp().sum(-1) - 1).abs().max() > 0.1 and (scores.sum(-1) - 1).abs().max() > 0.1
    torch.testing.assert_close(scores, model.classifier(model.base(source, mask)))


@pytest.mark.parametrize(("max_len", "d"), [(1, 2), (7, 6), (40, 16), (5, 1), (9, 7)])
def test_positional_encoding_entries(max_len: int, d: int) -> None:
    encoding = positional_encoding(max_len, d)
    assert encoding.shape == (max_len, d)
    for position in range(max_len):
        for column in range(d):
            angle = position / 10000 ** (2 * (column // 2) / d)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert encoding[position, column] == pytest.approx(expected, abs=1e-14)


def test_positional_encoding_equals_torch() -> None:
    """Most implementations take exp(-2i ln(10000) / d); in float32 that is off by rounding alone."""
    d, max_len = 200, 128
    position = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    table = torch.zeros(max_len, d)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
    np.testing.assert_allclose(positional_encoding(max_len, d), table.numpy(), atol=2e-5)


def test_gram_matrix_of_positions() -> None:
    """Absolute positions, whose inner products are relative: the Gram matrix is Toeplitz."""
    table = positional_encoding(30, 12)
    gram = table @ table.T
    for distance in range(30):
        diagonal = np.diagonal(gram, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-12)
    assert np.unique(table.round(9), axis=0).shape == table.shape  # and yet no two positions are alike


def test_shift_of_positions() -> None:
    table = positional_encoding(50, 8)
    for shift in (1, 5):
        rotation, *_ = np.linalg.lstsq(table[:-shift], table[shift:], rcond=None)
        np.testing.assert_allclose(table[:-shift] @ rotation, table[shift:], atol=1e-10)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(8), atol=1e-8)
