"""The same model on the CPU and on a graphics card: float32 throughout, as the lab has it."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from .loaders import Loader
from .properties import masks, with_each

_LEFT_ALONE = frozenset({"__set__", "_has_compatible_shallow_copy_type", "to", "copy_"})
"""What is there to bring tensors from one device to another: `module.to` sets `parameter.data`."""
_TO_NUMPY = frozenset({"numpy", "__array__"})


class OneDevice(TorchFunctionMode):
    """Brings what one call of torch gets together on one device, and leaves calls alone that need no help.

    A program that is right on the CPU may make its mask there, and another may name the graphics card in its code:
    neither is a mistake that the lab asks about.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = torch.device(device)

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The call itself, with tensors that are elsewhere brought to the device, or to that of what it changes."""
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name in _TO_NUMPY and isinstance(args[0], torch.Tensor):
            return function(args[0].cpu(), *args[1:], **kwargs)
        if name not in _LEFT_ALONE and len({x.device for x in _tensors((args, kwargs))}) > 1:
            changes = name.endswith("_") and (not name.endswith("__") or name.startswith(("__i", "__setitem")))
            device = args[0].device if changes and isinstance(args[0], torch.Tensor) else self._device
            args, kwargs = _brought((args, kwargs), device)
        return function(*args, **kwargs)


def _tensors(value: Any) -> Iterable[torch.Tensor]:
    """Yield the tensors among arguments; a single number may stay on the CPU, as torch lets it."""
    if isinstance(value, torch.Tensor):
        if value.dim():
            yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


def _brought(value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device) if value.dim() else value
    if type(value) in (tuple, list):
        return type(value)(_brought(part, device) for part in value)
    if type(value) is dict:
        return {key: _brought(part, device) for key, part in value.items()}
    return value


def device_of(name: str) -> torch.device:
    """Return what the notebook calls `device`."""
    return torch.device(name)


def on(device: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the student's function, with whatever it is given brought together on the device."""

    @functools.wraps(function)  # `ask` reads its signature
    def on_the_device(*args: Any, **kwargs: Any) -> Any:
        with OneDevice(device):
            return function(*args, **kwargs)

    return on_the_device


def placed(model_class: Callable[..., nn.Module], seed: int, sizes: Sequence[Any], device: str) -> nn.Module:
    """Return a model whose weights depend on the seed, on the device.

    Its embedding is drawn as in the lab's own `init_weights`, uniformly from ±0.1, whatever the program does: torch's
    default is ten times as large, and with layers that norm before they attend nothing takes that back.
    """
    torch.manual_seed(seed)
    model: Any = on(device, model_class)(*sizes).to("cpu")
    for table in [p for p in model.base.parameters() if p.shape == (sizes[0], sizes[2])][:1]:
        nn.init.uniform_(table, -0.1, 0.1)
    return model.to(device)  # type: ignore[no-any-return]


def copied_to(model: nn.Module, device: str) -> nn.Module:
    """Return the same weights on another device."""
    return copy.deepcopy(model).to(device)


def loader_on(batches: Sequence[tuple[Any, Any]], device: str) -> Loader:
    """Return a loader whose batches lie on the device."""
    loader = Loader(batches)
    loader.batches = [(source.to(device), target.to(device)) for source, target in loader.batches]
    return loader


def vocabulary(n: int, special: Sequence[str]) -> dict[str, int]:
    """token2ind with n tokens, the special ones first."""
    return {token: index for index, token in enumerate([*special, *(f"w{i}" for i in range(n - len(special)))])}


def inverted(table: dict[str, int]) -> dict[int, str]:
    """ind2token."""
    return {index: token for token, index in table.items()}


@torch.no_grad()
def last_scores_on(device: str, model: nn.Module, source: Any, own_mask: Any) -> torch.Tensor:
    """A model's scores at the last position of a source (L, N), in evaluation mode: (N, n_out), float32 on the CPU."""
    torch.set_float32_matmul_precision("highest")  # no TensorFloat-32, whose numbers have ten bits
    model.eval()
    ids = torch.as_tensor(source).to(device)
    found = masks(model.base, len(ids), own_mask)[::-1]
    scores: torch.Tensor = with_each(found, lambda mask: on(device, model)(ids, mask.to(device)))[0]
    return scores[-1].float().cpu()


def finish(device: str) -> None:
    """Wait until the device has done all that it was given: what is timed is work, not a queue."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
