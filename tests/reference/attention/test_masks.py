"""Causal and UniLM masks against torch, the definition cell by cell, and the source's tables."""

import numpy as np
import pytest
import torch

from reference.attention.unilm_masks import KINDS, Kind, unilm_mask
from reference.transformer.causal_mask import causal_mask


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64])
def test_causal_mask_equals_torch(size: int) -> None:
    expected = torch.nn.Transformer.generate_square_subsequent_mask(size)
    np.testing.assert_array_equal(causal_mask(size), expected.numpy())


def visible(kind: Kind, query: int, key: int, n_source: int) -> bool:
    """UniLM's definition in words: who may look at whom."""
    if kind == "bidirectional" or query == key:
        return True
    if kind == "unidirectional":
        return key < query
    return key < n_source or (query >= n_source and key < query)


@pytest.mark.parametrize("kind", KINDS)
def test_unilm_mask_cell_by_cell(kind: Kind) -> None:
    for n_source in range(13):
        for n_target in range(13 - n_source):
            mask = unilm_mask(kind, n_source, n_target)
            n = n_source + n_target
            expected = [[int(not visible(kind, i, j, n_source)) for j in range(n)] for i in range(n)]
            assert mask.tolist() == expected


def test_unidirectional_mask_equals_torch() -> None:
    expected = torch.nn.Transformer.generate_square_subsequent_mask(9)
    np.testing.assert_array_equal(unilm_mask("unidirectional", 5, 4) == 1, torch.isinf(expected).numpy())


def test_unilm_tables_of_the_source() -> None:
    """36, 0 and 26 masked cells for five source and four target tokens; rows as printed."""
    assert [int(unilm_mask(kind, 5, 4).sum()) for kind in KINDS] == [36, 0, 26]
    printed = ["000001111"] * 5 + ["000000111", "000000011", "000000001", "000000000"]
    assert ["".join(map(str, row)) for row in unilm_mask("sequence_to_sequence", 5, 4)] == printed


def test_unknown_unilm_mask() -> None:
    with pytest.raises(ValueError, match="prefix"):
        unilm_mask("prefix", 1, 1)  # type: ignore[arg-type]  # a kind that does not exist
