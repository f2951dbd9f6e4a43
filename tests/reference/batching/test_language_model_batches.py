"""reference/batching/{language_model_dataset,collator}.py against torch's pad_sequence and the definition."""

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from reference.batching.collator import collate
from reference.batching.language_model_dataset import classification_item, language_model_item

TOKEN2IND = {"<sos>": 0, "<pad>": 1, "<eos>": 2, "<oov>": 3, "le": 4, "chat": 5, "dort": 6}


def test_target_is_the_source_one_step_ahead() -> None:
    source, target = language_model_item(["le", "chat", "dort"], TOKEN2IND, 512)
    assert source == [0, 4, 5, 6]
    assert target == [4, 5, 6, 2]
    assert language_model_item([], TOKEN2IND, 512) == ([0], [2])


def test_unknown_words_and_long_documents() -> None:
    source, target = language_model_item(["le", "chien", "dort", "le"], TOKEN2IND, max_len=4)
    assert source == [0, 4, 3, 6]
    assert target == [4, 3, 6, 2]


def test_a_classifier_s_target_is_the_label() -> None:
    assert classification_item(["chat"], 1, TOKEN2IND, 512) == ([0, 5], [1])


def test_batches_equal_those_of_torch_for_random_items() -> None:
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
