"""Fine-tuning a small pretrained encoder whose queries and values go through the student's layers.

Such a layer is linear, so its outputs for the unit vectors are its weight W', and the encoder works with that. Backward
the same: the gradient of the loss with respect to W' is what the layer gets as the upstream of its unit vectors, and it
says what that means for its factors. So a layer in plain Python takes part as well as a torch module.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .encoder import encode
from .layers import Array, as_array, backward, forward, new_layer, parameters_of, write

ADAPTED = ("attention.self.query.weight", "attention.self.value.weight")
"""The weights that Hu et al. (2022), section 4.2, adapt."""


class Adam:
    """Kingma and Ba (2015), algorithm 1, for what is changed in place: tensors, arrays, nested lists."""

    def __init__(self, lr: float) -> None:
        self._lr = lr
        self._steps = 0
        self._moments: dict[int, tuple[Array, Array]] = {}

    def step(self, parameters: list[Any], gradients: list[Array]) -> None:
        """One step against the gradients; the parameters come in the same order each time."""
        self._steps += 1
        for index, parameter in enumerate(parameters):
            gradient = gradients[index]
            first, second = self._moments.get(index, (np.zeros_like(gradient), np.zeros_like(gradient)))
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            self._moments[index] = first, second
            size = np.sqrt(second / (1 - 0.999**self._steps)) + 1e-8
            write(parameter, as_array(parameter) - self._lr * first / (1 - 0.9**self._steps) / size)


class LoRATuning:
    """An encoder with a layer of the student's class for each query and each value weight, and a new linear head."""

    def __init__(
        self, make: Callable[..., Any], weights: Mapping[str, Array], rows: Mapping[str, Array], run: Mapping[str, Any]
    ) -> None:
        """Build it: the head starts at zero, so that it says nothing before it is trained.

        Args:
            make: the student's class.
            weights: of the encoder, by the names of transformers; they stay as they are.
            rows: what is trained on: "input_ids" (row, token), "labels" (row,).
            run: seed, r, alpha, lr, batch_size.
        """
        self._frozen = {name: torch.from_numpy(value.copy()) for name, value in weights.items()}
        self._ids, self._labels = (torch.as_tensor(rows[name]) for name in ("input_ids", "labels"))
        self._batch_size = run["batch_size"]
        self._order = torch.Generator().manual_seed(run["seed"])
        with seeded(run["seed"]):
            names = [name for name in weights if name.endswith(ADAPTED)]
            self._layers = {name: new_layer(make, weights[name], run["r"], run["alpha"]) for name in names}
        d = len(self._frozen["pooler.dense.bias"])
        self._head = [torch.zeros(2, d, requires_grad=True), torch.zeros(2, requires_grad=True)]
        self._adam = {name: Adam(run["lr"]) for name in ("head", *names)}

    def epoch(self) -> float:
        """Train on every row once, in a random order; returns the mean of the batches' losses."""
        batches = torch.split(torch.randperm(len(self._ids), generator=self._order), self._batch_size)
        return sum(self._step(self._ids[some], self._labels[some]) for some in batches) / len(batches)

    def scores(self, input_ids: Array) -> Array:
        """Return the logits of rows (row, token): (row, 2)."""
        with torch.no_grad():
            return self._logits(torch.as_tensor(input_ids), self._tuned()).numpy()

    def state(self) -> dict[str, dict[str, Any]]:
        """By the name of the weight: "weight", W' (d, k), and "held", everything the layer shows to hold.

        Of a torch module that is its parameters and buffers, of a plain class its two factors.
        """
        return {
            name: {
                "weight": tuned.numpy().copy(),
                "held": [np.array(as_array(value)) for value in _held(self._layers[name])],
            }
            for name, tuned in self._tuned().items()
        }

    def _step(self, ids: torch.Tensor, labels: torch.Tensor) -> float:
        tuned = {name: weight.requires_grad_() for name, weight in self._tuned().items()}
        loss = functional.cross_entropy(self._logits(ids, tuned), labels)
        slopes = [as_array(slope) for slope in torch.autograd.grad(loss, [*self._head, *tuned.values()])]
        self._adam["head"].step(self._head, slopes[:2])
        for name, slope in zip(tuned, slopes[2:]):  # noqa: B905  # Python 3.9 knows no strict
            # The outputs for the unit vectors are W'ᵀ (k, d), so that their gradient is that of W', turned round.
            self._adam[name].step(*backward(self._layers[name], np.eye(slope.shape[1]), slope.T))
        return loss.item()

    def _tuned(self) -> dict[str, torch.Tensor]:
        """W' (d, k) of each layer, by the name of the weight that it replaces."""
        return {
            name: torch.tensor(as_array(forward(layer, np.eye(self._frozen[name].shape[1]))).T, dtype=torch.float32)
            for name, layer in self._layers.items()
        }

    def _logits(self, ids: torch.Tensor, tuned: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Return the head reads the mean of the states: what [CLS] holds of the answer would do without any tuning."""
        states = encode({**self._frozen, **tuned}, ids)
        return functional.linear(states.mean(dim=1), *self._head)


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Yield what is drawn in here depends on the seed alone, also by numpy's generators that are made without one."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    unseeded, seeds = np.random.default_rng, np.random.SeedSequence(seed)

    def default_rng(given: Any = None) -> np.random.Generator:
        return unseeded(seeds.spawn(1)[0] if given is None else given)

    np.random.default_rng = default_rng  # type: ignore[assignment]  # takes what layers give it: nothing, or a seed
    try:
        yield
    finally:
        np.random.default_rng = unseeded


def _held(layer: Any) -> list[Any]:
    buffers = list(layer.buffers()) if isinstance(layer, torch.nn.Module) else []
    return [*parameters_of(layer), *buffers]
