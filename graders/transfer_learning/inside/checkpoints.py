"""What the rest of a training depends on, as plain data: parameters, buffers, gradients, optimizer, random states."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

MOST_BYTES = 60 << 20
"""What the examiner keeps is a little more; the state of a larger training is not even copied."""


def snapshot(model: nn.Module, optimizer: Any) -> dict[str, Any]:
    """Return the state of a training between two epochs; `restore` puts it back.

    What the student's code keeps elsewhere (in globals, in its own objects) is not seen.

    Raises:
        ValueError: it is larger than what is kept.
    """
    tensors = _tensors(model)
    state = optimizer.state_dict()
    size = sum(tensor.nbytes for tensor in [*tensors.values(), *_within(state)])
    if size > MOST_BYTES:
        raise ValueError(f"the state of this training takes {size >> 20} MiB, more than {MOST_BYTES >> 20} MiB")
    return {
        "tensors": {name: tensor.detach() for name, tensor in tensors.items()},
        "gradients": {name: p.grad for name, p in model.named_parameters() if p.grad is not None},
        "frozen": [name for name, p in model.named_parameters() if not p.requires_grad],
        "in training mode": [name for name, module in model.named_modules() if module.training],
        "optimizer": state,
        "random": [torch.get_rng_state(), np.random.get_state(), random.getstate(), _cuda_states()],
    }


def restore(model: nn.Module, optimizer: Any, state: Mapping[str, Any]) -> bool:
    """Put back what `snapshot` has given.

    Returns:
        False, with nothing changed, where model or optimizer have other parameters than those of the snapshot.
    """
    tensors, kept = _tensors(model), state["tensors"]
    groups = [len(group["params"]) for group in optimizer.param_groups]
    if {name: tuple(tensor.shape) for name, tensor in tensors.items()} != {n: v.shape for n, v in kept.items()}:
        return False
    if groups != [len(group["params"]) for group in state["optimizer"]["param_groups"]]:
        return False
    for name, tensor in tensors.items():
        tensor.detach().copy_(torch.as_tensor(kept[name]))
    for name, parameter in model.named_parameters():
        gradient = state["gradients"].get(name)
        parameter.grad = None if gradient is None else torch.as_tensor(gradient).to(parameter)
        parameter.requires_grad_(name not in state["frozen"])
    for name, module in model.named_modules():
        module.training = name in state["in training mode"]
    optimizer.load_state_dict(_as_tensors(state["optimizer"]))
    _put_back_random(*state["random"])
    return True


def _tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by name; what two names share is there once."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _within(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in _within(part)]


def _as_tensors(value: Any) -> Any:
    """Arrays as the tensors that they were."""
    if isinstance(value, np.ndarray):
        return torch.as_tensor(value.copy())
    if isinstance(value, dict):
        return {key: _as_tensors(part) for key, part in value.items()}
    return type(value)(map(_as_tensors, value)) if isinstance(value, (list, tuple)) else value


def _cuda_states() -> list[torch.Tensor]:
    begun = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]  # torch does not say
    return torch.cuda.get_rng_state_all() if begun else []


def _put_back_random(of_torch: Any, of_numpy: Any, of_python: Any, of_cuda: Any) -> None:
    torch.set_rng_state(torch.as_tensor(of_torch))
    np.random.set_state(of_numpy)
    random.setstate(of_python)
    if of_cuda:
        torch.cuda.set_rng_state_all([torch.as_tensor(state) for state in of_cuda])
