"""The student's model at the size of BERT-base, on a graphics card or on any other device, in single precision."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from .hub import config
from .loaders import Batches
from .models import custom, logits_of, own_parameters, walk
from .on_cpu import OnCpu
from .trainings import after_training


@torch.no_grad()
def on_both(make: Callable[..., Any], kind: str, prefix_length: int, batch: Mapping[str, Any], device: str) -> Any:
    """The logits (rows, 2) of a new student model on the CPU, and on the device with the same weights."""
    torch.set_float32_matmul_precision("highest")
    with OnCpu():
        here = custom(make, kind, prefix_length)
        for _, parameter in own_parameters(here):
            parameter.copy_(torch.randn(parameter.shape) * config().hidden_size ** -0.5)
        on_cpu = logits_of(here, batch)
    there = custom(make, kind, prefix_length, device)
    same = dict(walk(here))
    for name, parameter in walk(there):
        parameter.copy_(same[name])
    return {"cpu": on_cpu, "device": logits_of(there, batch, device)}


class Rounds(Batches):
    """Batches that are trained on again and again; notes after each round how long it took and what is answered."""

    def __init__(self, batches: Sequence[Mapping[str, Any]], model: Any, device: str, asked: Mapping[str, Any]) -> None:
        super().__init__(batches)
        self._model, self._device, self._asked = model, device, asked
        self.seconds: list[float] = []
        self.logits = [logits_of(model, asked, device)]
        """Before the first round, and after each."""
        model.train()

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        # A program may call `train()` for each batch: then it is known at the end of a round that it was one.
        began_as_training, before = self._model.training, self._changes()
        finish(self._device)
        started = time.perf_counter()
        yield from super().__iter__()
        finish(self._device)
        seconds = time.perf_counter() - started
        if not began_as_training and self._changes() == before:
            return
        self.seconds.append(seconds)
        self.logits.append(logits_of(self._model, self._asked, self._device))
        self._model.train()

    def _changes(self) -> int:
        """Return how often parameters were changed in place."""
        return sum(parameter._version for parameter in self._model.parameters())


def finish(device: str) -> None:
    """Wait until the device has finished its work, so that the time measures work and not a queue."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()


def rounds(
    train: Callable[..., Any],
    make: Callable[..., Any],
    kind: str,
    prefix_length: int,
    batches: Sequence[Mapping[str, Any]],
    asked: Mapping[str, Any],
    run: Mapping[str, Any],
) -> Any:
    """Return what the student's `train` makes of a new model of some type, whose head is zero at first.

    Args:
        run: seed, epochs, lr, device.

    Returns:
        "logits": of the rows that are asked about, before and after each round; "seconds": how long each took.
    """
    torch.manual_seed(run["seed"])
    model = custom(make, kind, prefix_length, run["device"])
    with torch.no_grad():
        for _, parameter in own_parameters(model):
            if parameter.shape in ((2,), (2, config().hidden_size)):
                parameter.zero_()  # its loss is ln 2, whatever the seed
    loader = Rounds(batches, model, run["device"], asked)
    trained = after_training(train, model, run["epochs"], loader, run["lr"], run["device"])
    last = logits_of(trained, asked, run["device"])
    return {"logits": [*loader.logits, last], "seconds": loader.seconds}
