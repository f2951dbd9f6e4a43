"""Loaders, data sets and batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from .asking import ask


class Loader:
    """A data loader over batches (source, target) that are given."""

    def __init__(self, batches: Sequence[tuple[Any, Any]], times: int = 1) -> None:
        self.batches = [(torch.as_tensor(x), torch.as_tensor(y)) for x, y in batches] * times
        self.dataset = range(sum(x.shape[1] for x, _ in self.batches))
        self.batch_size = max(x.shape[1] for x, _ in self.batches)

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        return iter(self.batches)


def get_loader(loader: Loader) -> Callable[..., Loader]:
    """Return what the lab's `train` makes its loader with; it is asked with paths and gives this loader."""
    return lambda *_, **__: loader


def steps(train_step: Callable[..., Any], loader: Loader, task: str, known: Mapping[str, Any]) -> None:
    """One epoch by a function that takes a single batch."""
    for source, target in loader:
        ask(train_step, (source.clone(), target.clone(), task), known)


Pairs = Sequence[tuple[Sequence[int], Sequence[int]]]


def items(dataset: Any) -> dict[str, list[Any]]:
    """Every item of a dataset as a pair (source, target), and the numbers of those that are others the second time."""
    found = [_pair(dataset[index]) for index in range(len(dataset))]
    shown = [str(item) for item in found]
    return {"items": found, "other": [i for i, item in enumerate(shown) if item != str(_pair(dataset[i]))]}


def _pair(item: Any) -> Any:
    return (item["source_sequence"], item["target"]) if isinstance(item, Mapping) else item


def tensors(pairs: Pairs) -> list[dict[str, Any]]:
    """Items as a dataset of the lab gives them to the collator."""
    return _in_form(torch.tensor, pairs)


def lists(pairs: Pairs) -> list[dict[str, Any]]:
    """Items as a dataset without tensors gives them."""
    return _in_form(list, pairs)


def arrays(pairs: Pairs) -> list[dict[str, Any]]:
    """Items as a dataset of numpy arrays gives them."""
    return _in_form(np.array, pairs)


def _in_form(form: Callable[..., Any], pairs: Pairs) -> list[dict[str, Any]]:
    return [{"source_sequence": form(source), "target": form(target)} for source, target in pairs]


def batches_of(
    dataset: Any, collator: Callable[..., Any], order: Sequence[Sequence[int]], known: Mapping[str, Any]
) -> Loader:
    """Return the student's own batches of the student's own dataset; each number of `order` is an item's."""
    made = [ask(collator, ([dataset[index] for index in indices],), known) for indices in order]
    return Loader([(torch.as_tensor(source), torch.as_tensor(target).reshape(-1)) for source, target in made])


def each_accuracy(evaluate: Callable[..., Any], loader: Loader, known: Mapping[str, Any]) -> list[float]:
    """Return what the student's evaluation says of each batch alone; the student left the model in training mode."""
    found = []
    for batch in loader:
        known["model"].train()
        found.append(float(ask(evaluate, (Loader([batch]),), known)))
    return found
