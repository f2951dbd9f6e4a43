"""Where code names a graphics card, the CPU: for one side of a comparison, in a box that has a card."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class OnCpu(TorchFunctionMode):
    """The course's own files say `.to("cuda")` in their forward pass; here that means the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return the call, with the device in it exchanged."""
        named = dict(kwargs or {})
        if function is torch.Tensor.cuda:
            return args[0]
        if "device" in named:
            named["device"] = _cpu_for(named["device"])
        if function is torch.Tensor.to:
            args = (args[0], *map(_cpu_for, args[1:2]), *args[2:])
        elif function is torch._C._nn._parse_to:  # what `module.to` asks
            args = (*map(_cpu_for, args[:1]), *args[1:])
        return function(*args, **named)


def _cpu_for(device: Any) -> Any:
    """The CPU for a graphics card, whether it comes as text, as `torch.device` or as a number; all else as it is."""
    is_card = isinstance(device, (str, torch.device)) and torch.device(device).type == "cuda"
    return torch.device("cpu") if is_card or type(device) is int else device
