"""The student's LoRALinear: a torch module, or a plain class with its own gradients. Here both are used alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]


def new_layer(make: Callable[..., Any], W: Array, r: int, alpha: float) -> Any:
    """The student's layer, from an array as the handout says, or from a tensor if it can work with nothing else."""
    try:
        layer = make(W.copy(), r, alpha)
        forward(layer, np.eye(W.shape[1]))
    except (TypeError, AttributeError) as problem:
        try:
            layer = make(torch.from_numpy(W.copy()), r, alpha)
            forward(layer, np.eye(W.shape[1]))
        except Exception:
            raise problem from None
    return layer


def parameters_of(layer: Any) -> list[Any]:
    """Return what a torch module or a plain class calls its parameters."""
    parameters = layer.parameters
    return list(parameters() if callable(parameters) else parameters)


def uses_tensors(layer: Any) -> bool:
    """Return whether the layer works with torch."""
    return isinstance(layer, torch.nn.Module) or any(isinstance(p, torch.Tensor) for p in parameters_of(layer))


def has_gradients_of_its_own(layer: Any) -> bool:
    """Return whether the layer is not a torch module and computes its own gradients; it may still use tensors."""
    return not isinstance(layer, torch.nn.Module) and hasattr(layer, "gradients")


def forward(layer: Any, x: Array) -> Any:
    """Return what the layer makes of x (batch, k): (batch, d), as a tensor, an array or nested lists."""
    given = _as_the_parameters(layer, x)
    if uses_tensors(layer):
        return layer(given) if callable(layer) else layer.forward(given)
    return layer.forward(given) if hasattr(layer, "forward") else layer(given)


def _as_the_parameters(layer: Any, x: Array) -> Any:
    """Return a copy of x: a tensor of the dtype of the parameters, or an array where they are not tensors."""
    if not uses_tensors(layer):
        return x.copy()
    floating = [p for p in parameters_of(layer) if p.is_floating_point()]
    return torch.tensor(x, dtype=floating[0].dtype if floating else torch.float32)


def backward(layer: Any, x: Array, upstream: Array) -> tuple[list[Any], list[Array]]:
    """Return what gets a gradient of Σ upstream · forward(x), and these gradients."""
    if has_gradients_of_its_own(layer) or not uses_tensors(layer):
        given = [_as_the_parameters(layer, value) for value in (x, upstream)]
        return parameters_of(layer), [as_array(gradient).copy() for gradient in layer.gradients(*given)]
    for parameter in parameters_of(layer):
        parameter.grad = None
    output = forward(layer, x)
    if output.requires_grad:
        (output * torch.as_tensor(upstream).to(output.dtype)).sum().backward()
    trained = [parameter for parameter in parameters_of(layer) if parameter.grad is not None]
    return trained, [as_array(parameter.grad).copy() for parameter in trained]


def write(parameter: Any, value: Array) -> None:
    """Change a tensor, an array or nested lists in place."""
    if isinstance(parameter, torch.Tensor):
        parameter.data.copy_(torch.as_tensor(np.ascontiguousarray(value)))
    elif isinstance(parameter, np.ndarray):
        parameter[...] = value
    else:
        for index, row in enumerate(parameter):
            row[:] = value[index].tolist()


def as_array(value: Any) -> Array:
    """Return the numbers of a tensor, an array or nested lists; not a copy."""
    if isinstance(value, torch.Tensor):
        return np.asarray(value.detach().cpu().numpy())
    return np.asarray(value)
