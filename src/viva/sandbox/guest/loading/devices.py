"""`device: cpu` of an assignment: wherever code names an accelerator, it gets the CPU of the box.

Students write `.to('cuda')` into code that would run anywhere. One of torch's own modes rewrites the device of each
call, so that torch's functions stay the same objects (transformers replaces some of them while it makes a model);
functions that ignore such modes are replaced. `torch.cuda.is_available()` still tells the truth. This is a courtesy,
like import_denylist.py: the student's process owns the mode. It applies to the main thread and to processes forked from
it, not to other threads.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, ContextManager, Dict, Tuple

from . import torch_hook

_ACCELERATORS = ("cuda", "mps")
_CPU = "cpu"
_ANSWERS = (
    ("cuda", "synchronize", None),
    ("cuda", "set_device", None),
    ("cuda", "reset_peak_memory_stats", None),
    ("cuda", "current_device", 0),
    ("cuda", "get_device_name", _CPU),
    ("mps", "synchronize", None),
    ("mps", "empty_cache", None),
    ("mps", "manual_seed", None),
)
"""Functions that would raise without an accelerator, and what they return instead."""


def use(device: str) -> None:
    """Give code the device of the assignment from now on: "cpu", or "as_written" for no change."""
    if device == _CPU:
        torch_hook.when_loaded(_use_cpu)


def _use_cpu(torch: Any) -> None:
    _replace_functions_that_ignore_modes(torch)
    _mode(torch).__enter__()


def _cpu_for(device: object) -> object:
    """Replace an accelerator, given as text, as `torch.device` or as a number, by the CPU; return others unchanged."""
    if type(device) is int:
        return _CPU
    kind = device if isinstance(device, str) else getattr(device, "type", None)
    return _CPU if isinstance(kind, str) and kind.partition(":")[0] in _ACCELERATORS else device


def _mode(torch: Any) -> ContextManager[object]:
    """Make the mode; each call of torch passes through it, so it does little."""

    def to(args: Tuple[object, ...]) -> Tuple[object, ...]:
        return (args[0], _cpu_for(args[1]), *args[2:]) if len(args) > 1 else args

    def parse_to(args: Tuple[object, ...]) -> Tuple[object, ...]:
        return (_cpu_for(args[0]), *args[1:]) if args else args

    def as_type(args: Tuple[object, ...]) -> Tuple[object, ...]:
        return (args[0], _tensor_type(args[1]), *args[2:]) if len(args) > 1 else args

    positional: Dict[object, Callable[[Tuple[object, ...]], Tuple[object, ...]]] = {
        torch.Tensor.to: to,
        torch._C._nn._parse_to: parse_to,
        torch.Tensor.type: as_type,
    }
    cuda, pin_memory, device = torch.Tensor.cuda, torch.Tensor.pin_memory, torch.device

    class OnCpu(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, _types: object, args: Any = (), kwargs: Any = None) -> object:
            if kwargs and "device" in kwargs:
                kwargs["device"] = _cpu_for(kwargs["device"])
            change = positional.get(function)
            if change is not None:
                args = change(args)
            elif function is device:
                return _device(device, args, kwargs or {})
            elif function is cuda:
                return args[0].to(_CPU)
            elif function is pin_memory:
                return args[0]
            return function(*args, **kwargs) if kwargs else function(*args)

    return OnCpu()


def _device(device: Callable[..., object], args: Tuple[object, ...], kwargs: Dict[str, object]) -> object:
    """Make a device; `torch.device("cuda", 1)` loses its number too, for tensors on the CPU have none."""
    named = args[0] if args else kwargs.get("type", kwargs.get("device"))
    return device(_CPU) if _cpu_for(named) != named else device(*args, **kwargs)


def _tensor_type(kind: object) -> object:
    return kind.replace("torch.cuda.", "torch.") if isinstance(kind, str) else kind


def _replace_functions_that_ignore_modes(torch: Any) -> None:
    load, set_type = torch.load, torch.set_default_tensor_type

    @functools.wraps(load)
    def load_on_cpu(f: object, map_location: object = None, *args: object, **kwargs: object) -> object:
        return load(f, _map_location(map_location), *args, **kwargs)

    @functools.wraps(set_type)
    def set_cpu_type(t: object) -> None:
        set_type(_tensor_type(t))

    torch.load = torch.serialization.load = load_on_cpu
    torch.set_default_tensor_type = set_cpu_type
    torch.Generator = _generator(torch.Generator)
    for place, name, value in _ANSWERS:
        setattr(getattr(torch, place), name, _answering(value))
    for name in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        setattr(torch.cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))


def _map_location(wanted: object) -> object:
    """Replace accelerators in a map location; None means the device at saving, which may be an accelerator."""
    if wanted is None:
        return _CPU
    return {saved: _cpu_for(new) for saved, new in wanted.items()} if isinstance(wanted, dict) else _cpu_for(wanted)


def _generator(original: type) -> type:
    """Make a class that makes generators on the CPU and accepts existing generators as its instances."""

    class Kind(type):
        def __call__(cls, device: object = _CPU) -> object:
            return original(device=_cpu_for(device))

        def __instancecheck__(cls, it: object) -> bool:
            return isinstance(it, original)

    return Kind(original.__name__, (), {"__module__": original.__module__, "__doc__": original.__doc__})


def _answering(value: object) -> Callable[..., object]:
    """Make a separate function for each name: torch.compile keeps a table of torch's functions."""
    return lambda *_args, **_kwargs: value
