"""The model answers of transfer_learning, in the student's API, on top of `reference/`.

What needs torch is there in a box, where torch is loaded; the examiner asks for numbers alone and is spared the import.
It asks about a model whose gradient is known by hand (reference/transformer/prefix_mean.py), through the functions
below that are not the student's: `items`, `collate`, `one_step`, `next_tokens`, `accuracy`.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.batching.collator import collate
from reference.batching.language_model_dataset import classification_item, language_model_item
from reference.generation.greedy_decoding import greedy_continuation
from reference.transformer.causal_mask import causal_mask
from reference.transformer.encoder_layer import fits
from reference.transformer.parameter_counts import count_parameters
from reference.transformer.positional_encoding import positional_encoding
from reference.transformer.prefix_mean import PrefixMean, cross_entropy, descended, gradients, logits, training_step

__all__ = [
    "PrefixMean",
    "collate",
    "count_parameters",
    "cross_entropy",
    "descended",
    "fits",
    "gradients",
    "logits",
    "positional_encoding",
    "training_step",
]

if "torch" in sys.modules:
    from reference.transformer.fine_tuning import (
        evaluate_accuracy,
        infer_next_token,
        infer_next_tokens,
        load_pretrained,
        train_step,
    )
    from reference.transformer.language_model import ClassificationHead, Model, PositionalEncoding, TransformerModel

    __all__ += [
        "ClassificationHead",
        "Model",
        "PositionalEncoding",
        "TransformerModel",
        "evaluate_accuracy",
        "infer_next_token",
        "infer_next_tokens",
        "load_pretrained",
        "train_step",
    ]

answers: dict[str, Any] = {
    "3.V": 100,
    "3.convention": "weights and biases",
    "3.language_model": 1_008_100,
    "3.classification": 988_402,
    "3.embedding": "V * d",
    "3.attention": "4 * d**2 + 4 * d",
    "3.feed_forward": "2 * d * d_ff + d_ff + d",
    "3.layer_norm": "4 * d",
    "3.head": "d * V + V",
    "4.examples": 2000,
    "4.scratch": [0.502, 0.779],  # first and last epoch of a public run; errata.md lists three
    "4.pretrained": [0.768, 0.787],
}


def generate_square_subsequent_mask(sz: int) -> NDArray[np.float64]:
    """Return the lab's own name for the causal mask."""
    return causal_mask(sz)


class Dataset:
    """Documents in a file, one on each line, their tokens separated by spaces; labels in another."""

    def __init__(
        self,
        path_documents: str,
        path_labels: str | None,
        token2ind: Mapping[str, int],
        max_len: int = 512,
        task: str = "language_modeling",
    ) -> None:
        documents = [line.split() for line in Path(path_documents).read_text("utf-8").splitlines()]
        labels = [int(line) for line in Path(path_labels).read_text("utf-8").split()] if path_labels else []
        self._items = items(documents, labels, token2ind, max_len, task)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int) -> dict[str, list[int]]:
        source, target = self._items[index]
        return {"source_sequence": source, "target": target}


def MyCollator(batch: Sequence[Mapping[str, Any]], token2ind: Mapping[str, int]) -> Any:  # noqa: N802
    """Return a list of items to (source, target)."""
    return collate([(list(item["source_sequence"]), list(item["target"])) for item in batch], token2ind["<pad>"])


def items(
    documents: Sequence[Sequence[str]],
    labels: Sequence[int],
    token2ind: Mapping[str, int],
    max_len: int,
    task: str,
) -> list[tuple[list[int], list[int]]]:
    """Return what a dataset of either task holds: pairs (source, target)."""
    if task == "classification":
        return [
            classification_item(tokens, label, token2ind, max_len)
            for tokens, label in zip(documents, labels, strict=True)
        ]
    return [language_model_item(tokens, token2ind, max_len) for tokens in documents]


def next_tokens(model: PrefixMean, prompt: Sequence[int], end: int, max_len: int) -> list[int]:
    """Return the new ids after a prompt."""
    return greedy_continuation(lambda ids: logits(model, np.asarray(ids)[:, None])[-1, 0], prompt, end, max_len)


def accuracy(model: PrefixMean, batches: Sequence[tuple[Any, Any]], positions: Sequence[Sequence[int]]) -> float:
    """Return the share of examples that get their label when batch b reads its sequences at `positions[b]`."""
    right: list[bool] = []
    for (source, labels), read in zip(batches, positions, strict=True):
        scores = logits(model, source)[np.asarray(read), np.arange(len(labels))]  # (N, n_out)
        right += (scores.argmax(axis=1) == np.asarray(labels)).tolist()
    return float(np.mean(right))
