"""reference/transformer/positional_encoding.py against the paper's formula entry by entry, and its two properties."""

import math

import numpy as np
import pytest
import torch

from reference.transformer.positional_encoding import positional_encoding


@pytest.mark.parametrize(("max_len", "d"), [(1, 2), (7, 6), (40, 16), (5, 1), (9, 7)])
def test_every_entry_is_the_paper_s_sine_or_cosine(max_len: int, d: int) -> None:
    encoding = positional_encoding(max_len, d)
    assert encoding.shape == (max_len, d)
    for position in range(max_len):
        for column in range(d):
            angle = position / 10000 ** (2 * (column // 2) / d)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert encoding[position, column] == pytest.approx(expected, abs=1e-14)


def test_equals_the_usual_torch_code_with_exp_and_log() -> None:
    """Most implementations take exp(-2i ln(10000) / d); in float32 that is off by rounding alone."""
    d, max_len = 200, 128
    position = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    table = torch.zeros(max_len, d)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
    np.testing.assert_allclose(positional_encoding(max_len, d), table.numpy(), atol=2e-5)


def test_the_gram_matrix_depends_on_the_distance_alone() -> None:
    """Absolute positions, whose inner products are relative: the Gram matrix is Toeplitz."""
    table = positional_encoding(30, 12)
    gram = table @ table.T
    for distance in range(30):
        diagonal = np.diagonal(gram, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-12)
    assert np.unique(table.round(9), axis=0).shape == table.shape  # and yet no two positions are alike


def test_a_shift_is_one_rotation_for_all_positions() -> None:
    table = positional_encoding(50, 8)
    for shift in (1, 5):
        rotation, *_ = np.linalg.lstsq(table[:-shift], table[shift:], rcond=None)
        np.testing.assert_allclose(table[:-shift] @ rotation, table[shift:], atol=1e-10)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(8), atol=1e-8)
