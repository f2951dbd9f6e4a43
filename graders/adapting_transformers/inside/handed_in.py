"""The student's own model with parameters that came in a file, which the examiner has read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .models import custom, logits_of, own_parameters


def own_shapes(make: Callable[..., Any], kind: str, prefix_length: int) -> dict[str, list[int]]:
    """Return the shapes of the parameters of a new student model outside the pretrained encoder, by name."""
    return {name: list(parameter.shape) for name, parameter in own_parameters(custom(make, kind, prefix_length))}


@torch.no_grad()
def answered(
    make: Callable[..., Any], kind: str, prefix_length: int, values: Mapping[str, Any], asked: Mapping[str, Any]
) -> torch.Tensor:
    """Return what a new model answers (rows, 2) once these values are put into it, by name and of the same shapes."""
    model = custom(make, kind, prefix_length)
    for name, parameter in own_parameters(model):
        parameter.copy_(torch.as_tensor(values[name]))
    return logits_of(model, asked)
