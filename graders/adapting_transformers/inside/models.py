"""The student's models: made, asked, and their parameters by group."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from .hub import Hub, config


def groups(model: nn.Module, prefix_length: int) -> dict[str, dict[str, torch.Tensor]]:
    """Return the values of the backbone ("base"), of what has the prefix's size ("prefix") and of all else ("head")."""
    found: dict[str, dict[str, torch.Tensor]] = {"base": {}, "head": {}, "prefix": {}}
    for name, parameter in walk(model):
        if id(parameter) in Hub.base:
            group, name = "base", Hub.base[id(parameter)][0]
        else:
            group = "prefix" if _is_prefix(parameter, prefix_length) else "head"
        found[group][name] = parameter.detach().clone()
    return found


def _is_prefix(parameter: torch.Tensor, prefix_length: int) -> bool:
    d = config().hidden_size
    return parameter.numel() == prefix_length * d and (parameter.ndim != 2 or parameter.shape[1] == d)


def own_parameters(model: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """Return the parameters that are not part of a pretrained backbone."""
    return [(name, parameter) for name, parameter in walk(model) if id(parameter) not in Hub.base]


def walk(module: nn.Module, before: str = "") -> list[tuple[str, nn.Parameter]]:
    """Return every parameter by name, whatever the student's class answers when it is asked for them."""
    state = vars(module)
    found = [(before + name, p) for name, p in state["_parameters"].items() if p is not None]
    for name, child in state["_modules"].items():
        if child is not None:
            found += walk(child, f"{before}{name}.")
    return found


def custom(
    make: Callable[..., Any], kind: str | None, prefix_length: int, device: str = "cpu", classes: int = 2
) -> Any:
    """Return the student's model; the prefix's length is a global of the course's file, or an argument.

    Without a kind, number of classes and type are left to the student's defaults.
    """
    also: dict[str, Any] = {"prefix_length": prefix_length} if "prefix_length" in names_of(make) else {}
    if kind is not None:
        also.update(num_labels=classes, type=kind)
    return make("tiny", **also).to(device)


@torch.no_grad()
def logits_of(model: Any, batch: Mapping[str, Any], device: str = "cpu") -> torch.Tensor:
    """Scores (rows, 2) in evaluation mode, computed on the device."""
    model.eval()
    ids, mask = (torch.as_tensor(batch[name]).to(device) for name in ("input_ids", "attention_mask"))
    return logits_in(model(input_ids=ids, attention_mask=mask)).cpu()


def logits_in(output: Any) -> torch.Tensor:
    """Return the scores in what a model returns."""
    if isinstance(output, torch.Tensor):
        return output
    logits: torch.Tensor = output["logits"] if isinstance(output, Mapping) else output.logits
    return logits


def names_of(function: Callable[..., Any]) -> list[str]:
    """Return the names of its arguments; empty if they cannot be seen."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
