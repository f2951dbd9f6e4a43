"""reference/transformer/causal_mask.py against torch's own mask and the definition."""

import numpy as np
import pytest
import torch

from reference.transformer.causal_mask import causal_mask


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64])
def test_equals_torch_s_own(size: int) -> None:
    expected = torch.nn.Transformer.generate_square_subsequent_mask(size)
    np.testing.assert_array_equal(causal_mask(size), expected.numpy())


def test_position_i_sees_exactly_the_positions_up_to_i() -> None:
    mask = causal_mask(6)
    for i in range(6):
        for j in range(6):
            assert (mask[i, j] == 0) == (j <= i) and (mask[i, j] == -np.inf) == (j > i)


def test_after_softmax_the_future_has_no_weight_and_the_rest_sums_to_one() -> None:
    scores = torch.randn(5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    weights = torch.softmax(scores + torch.from_numpy(causal_mask(5)), dim=-1).numpy()
    assert (np.triu(weights, 1) == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1)
