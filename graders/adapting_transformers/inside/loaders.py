"""Loaders over batches that a test gives, and the rows of the student's own data set."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from .hub import tokenizer


class Batches:
    """A data loader over batches that are given."""

    def __init__(self, batches: Sequence[Mapping[str, Any]]) -> None:
        self._batches = [{name: torch.as_tensor(value) for name, value in batch.items()} for batch in batches]
        self.dataset = [row for batch in self._batches for row in range(len(batch["labels"]))]
        self.batch_size = max(len(batch["labels"]) for batch in self._batches)

    def __len__(self) -> int:
        return len(self._batches)

    def first_row(self) -> Batches:
        """Other data than these, for dev and test: whoever trains on them does not take as many steps."""
        return Batches([{name: value[:1] for name, value in self._batches[0].items()}])

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        return ({name: value.clone() for name, value in batch.items()} for batch in self._batches)


def arguments(**given: Any) -> types.SimpleNamespace:
    """Return what the command line sets as `args`."""
    usual = {"small_subset": True, "num_epochs": 1, "lr": 1e-2, "batch_size": 8, "device": "cpu", "model": "tiny"}
    return types.SimpleNamespace(**{**usual, "type": "full", "prefix_length": 4, **given})


def items(
    dataset_class: Callable[..., Any],
    words: Sequence[str],
    rows: Sequence[tuple[str, str, bool]],
    max_len: int,
    first_id: int = 0,
) -> Any:
    """The length of a data set of (question, passage, answer), its items, and those that are others the second time.

    They are asked for in order after some were asked for from the last on, as loaders that shuffle do.
    """
    columns = [list(column) for column in zip(*rows)]  # noqa: B905
    dataset = dataset_class(columns[1], columns[0], columns[2], tokenizer(words, first_id), max_len)
    first = {index: str(dict(dataset[index])) for index in reversed(range(1, len(rows)))}
    found = [dict(dataset[index]) for index in range(len(rows))]
    other = [index for index, shown in sorted(first.items()) if shown != str(found[index])]
    return {"length": len(dataset), "items": found, "other": other}
