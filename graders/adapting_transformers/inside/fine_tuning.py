"""Training on the course's own questions, epoch by epoch and on a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from .hub import config, pretrained_classifier
from .loaders import Batches
from .models import custom, groups, logits_of, own_parameters
from .trainings import after_training


class _OutOfTime(BaseException):
    """Ends a training that has used up its time; no `except Exception` in the student's code stops it."""


class Epochs(Batches):
    """A data loader that knows when an epoch begins: shuffles, notes what the model answers then, and keeps the time.

    An iteration is an epoch if the model is in training mode when it begins; others evaluate.
    """

    def __init__(self, rows: Mapping[str, Any], size: int, seed: int, asked: Mapping[str, Any]) -> None:
        starts = range(0, len(rows["labels"]), size)
        super().__init__([{name: column[i : i + size] for name, column in rows.items()} for i in starts])
        self._rows = {name: torch.as_tensor(column) for name, column in rows.items()}
        self._source, self._asked = torch.Generator().manual_seed(seed), asked
        self.finished: list[list[int]] = []
        """The classes of the rows that are asked about, after each epoch that is complete."""
        self.taken: list[int] = []
        """The number of batches taken in each epoch."""

    def watch(self, model: Any, budget_s: float) -> None:
        """From now on, the processor time of this process counts."""
        self._model, self._until = model, time.process_time() + budget_s

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        if not self._model.training:
            yield from super().__iter__()
            return
        if self.finished and time.process_time() > self._until:
            raise _OutOfTime
        order = torch.randperm(len(self.dataset), generator=self._source)
        self.taken.append(0)
        for some in torch.split(order, self.batch_size):
            self.taken[-1] += 1
            yield {name: column[some] for name, column in self._rows.items()}
        state = torch.get_rng_state()  # asking in between changes nothing that the training draws
        self.finished.append(logits_of(self._model, self._asked).argmax(dim=1).tolist())
        self._model.train()
        torch.set_rng_state(state)


def fine_tuned(
    train: Callable[..., Any],
    make: Callable[..., Any] | None,
    kind: str,
    rows: Mapping[str, Any],
    asked: Mapping[str, Any],
    run: Mapping[str, Any],
) -> Any:
    """A model of some type, or a pretrained classifier, after the student has trained it; its head is zero at first.

    Args:
        run: seed, epochs, lr, batch_size, prefix_length, budget_s.

    Returns:
        "epochs": the classes of the rows that are asked about after each epoch; "logits": their scores at the end,
        twice; "stopped": whether the time ran out; "taken": the batches that were taken in the longest epoch; "groups":
        the parameters by group, before and after.
    """
    torch.manual_seed(run["seed"])
    model = pretrained_classifier() if make is None else custom(make, kind, run["prefix_length"])
    with torch.no_grad():
        for _, parameter in own_parameters(model):
            if parameter.shape in ((2,), (2, config().hidden_size)):
                parameter.zero_()  # without training it answers 0 to everything, whatever the seed
    before, loader = groups(model, run["prefix_length"]), Epochs(rows, run["batch_size"], run["seed"], asked)
    loader.watch(model, run["budget_s"])
    stopped = False
    try:
        model = after_training(train, model, run["epochs"], loader, run["lr"])
    except _OutOfTime:
        stopped = True
    both = [before, groups(model, run["prefix_length"])]
    scores = [logits_of(model, asked) for _ in "12"]
    taken = max(loader.taken, default=len(loader))
    return {"epochs": loader.finished, "logits": scores, "stopped": stopped, "taken": taken, "groups": both}
