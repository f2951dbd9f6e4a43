"""reference/batching/: padding and length_sorted against torch and a search over all batchings."""

import itertools
import random

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from reference.batching.length_sorted import length_sorted_batches, padded_tokens
from reference.batching.padding import pad_batch


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_equals_torch(side: str) -> None:
    generator = random.Random(3)
    for _ in range(50):
        sequences = [
            [generator.randint(1, 99) for _ in range(generator.randint(0, 7))] for _ in range(generator.randint(1, 5))
        ]
        tensors = [torch.tensor(s, dtype=torch.int64) for s in sequences]
        theirs = pad_sequence(tensors, batch_first=True, padding_value=-1, padding_side=side)
        np.testing.assert_array_equal(pad_batch(sequences, -1, side), theirs.numpy())  # type: ignore[arg-type]


def test_padding_of_the_source() -> None:
    """The three rows that the source prints."""
    rows = pad_batch([[4, 7, 9, 15, 23, 18], [2, 8, 10], [3, 13, 2, 8]])
    assert rows.tolist() == [[4, 7, 9, 15, 23, 18], [2, 8, 10, 0, 0, 0], [3, 13, 2, 8, 0, 0]]


@pytest.mark.parametrize(("sequences", "shape"), [([], (0, 0)), ([[]], (1, 0)), ([[], [5]], (2, 1))])
def test_padding_of_degenerate_batches(sequences: list[list[int]], shape: tuple[int, int]) -> None:
    assert pad_batch(sequences).shape == shape


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(ValueError, match="middle"):
        pad_batch([[1]], side="middle")  # type: ignore[arg-type]


def test_sorted_batches_hold_every_index_once_and_start_with_the_most_expensive() -> None:
    generator = random.Random(4)
    for _ in range(200):
        lengths = [generator.randint(1, 40) for _ in range(generator.randint(1, 30))]
        size = generator.randint(1, 8)
        batches = length_sorted_batches(lengths, size)
        assert sorted(itertools.chain(*batches)) == list(range(len(lengths)))
        assert all(len(batch) == size for batch in batches[:-1]) and 1 <= len(batches[-1]) <= size
        costs = padded_tokens(lengths, batches)
        assert costs[0] == max(costs)


def test_no_other_order_needs_fewer_padded_tokens() -> None:
    """Every order of six sequences, cut into twos: none has a smaller total than the sorted one."""
    generator = random.Random(5)
    for _ in range(5):
        lengths = [generator.randint(1, 9) for _ in range(6)]
        totals = [
            sum(padded_tokens(lengths, [order[0:2], order[2:4], order[4:6]]))
            for order in itertools.permutations(range(6))
        ]
        assert sum(padded_tokens(lengths, length_sorted_batches(lengths, 2))) == min(totals)


def test_a_batch_size_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="batch_size"):
        length_sorted_batches([1, 2], 0)
