"""Padding, batches of similar lengths and collating, against torch and a search over all batchings."""

import itertools
import random
from typing import Literal

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from reference.batching.collator import collate
from reference.batching.language_model_dataset import classification_item, language_model_item
from reference.batching.length_sorted import length_sorted_batches, padded_tokens
from reference.batching.padding import pad_batch


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_equals_torch(side: Literal["left", "right"]) -> None:
    generator = random.Random(3)
    for _ in range(50):
        sequences = [
            [generator.randint(1, 99) for _ in range(generator.randint(0, 7))] for _ in range(generator.randint(1, 5))
        ]
        tensors = [torch.tensor(s, dtype=torch.int64) for s in sequences]
        expected = pad_sequence(tensors, batch_first=True, padding_value=-1, padding_side=side)
        np.testing.assert_array_equal(pad_batch(sequences, -1, side), expected.numpy())


def test_padding_of_the_source() -> None:
    """The three rows that the source prints."""
    rows = pad_batch([[4, 7, 9, 15, 23, 18], [2, 8, 10], [3, 13, 2, 8]])
    assert rows.tolist() == [[4, 7, 9, 15, 23, 18], [2, 8, 10, 0, 0, 0], [3, 13, 2, 8, 0, 0]]


@pytest.mark.parametrize(("sequences", "shape"), [([], (0, 0)), ([[]], (1, 0)), ([[], [5]], (2, 1))])
def test_padding_of_degenerate_batches(sequences: list[list[int]], shape: tuple[int, int]) -> None:
    assert pad_batch(sequences).shape == shape


def test_unknown_padding_side() -> None:
    with pytest.raises(ValueError, match="middle"):
        pad_batch([[1]], side="middle")  # type: ignore[arg-type]  # a side that does not exist


def test_length_sorted_batches() -> None:
    generator = random.Random(4)
    for _ in range(200):
        lengths = [generator.randint(1, 40) for _ in range(generator.randint(1, 30))]
        size = generator.randint(1, 8)
        batches = length_sorted_batches(lengths, size)
        assert sorted(itertools.chain(*batches)) == list(range(len(lengths)))
        assert all(len(batch) == size for batch in batches[:-1]) and 1 <= len(batches[-1]) <= size
        costs = padded_tokens(lengths, batches)
        assert costs[0] == max(costs)


def test_length_sorted_batches_are_optimal() -> None:
    """Every order of six sequences, cut into twos: none has a smaller total than the sorted one."""
    generator = random.Random(5)
    for _ in range(5):
        lengths = [generator.randint(1, 9) for _ in range(6)]
        totals = [
            sum(padded_tokens(lengths, [order[0:2], order[2:4], order[4:6]]))
            for order in itertools.permutations(range(6))
        ]
        assert sum(padded_tokens(lengths, length_sorted_batches(lengths, 2))) == min(totals)


def test_invalid_batch_size() -> None:
    with pytest.raises(ValueError, match="batch_size"):
        length_sorted_batches([1, 2], 0)


TOKEN2IND = {"<sos>": 0, "<pad>": 1, "<eos>": 2, "<oov>": 3, "le": 4, "chat": 5, "dort": 6}


def test_language_model_item() -> None:
    source, target = language_model_item(["le", "chat", "dort"], TOKEN2IND, 512)
    assert source == [0, 4, 5, 6]
    assert target == [4, 5, 6, 2]
    assert language_model_item([], TOKEN2IND, 512) == ([0], [2])


def test_unknown_words_and_long_documents() -> None:
    source, target = language_model_item(["le", "chien", "dort", "le"], TOKEN2IND, max_len=4)
    assert source == [0, 4, 3, 6]
    assert target == [4, 3, 6, 2]


def test_classification_item() -> None:
    assert classification_item(["chat"], 1, TOKEN2IND, 512) == ([0, 5], [1])


def test_collate_equals_torch() -> None:
    rng = np.random.default_rng(1)
    for task in ("language model", "classifier"):
        for _ in range(20):
            lengths = rng.integers(1, 9, int(rng.integers(1, 6)))
            sources = [rng.integers(4, 30, n).tolist() for n in lengths]
            targets = [rng.integers(4, 30, n if task == "language model" else 1).tolist() for n in lengths]
            pad = int(rng.integers(0, 4))
            source, target = collate(list(zip(sources, targets, strict=True)), pad)
            x, y = (
                pad_sequence([torch.tensor(row) for row in rows], padding_value=pad).numpy()
                for rows in (sources, targets)
            )
            np.testing.assert_array_equal(source, x)
            np.testing.assert_array_equal(target, y.reshape(-1))
