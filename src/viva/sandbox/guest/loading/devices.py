"""`device: cpu` of an assignment: wherever code names an accelerator, it gets the CPU of the box.

Students write `.to('cuda')` into code that would run anywhere. The functions of torch that take a device are replaced
by others that put the CPU in its place. One of torch's own modes (`TorchFunctionMode`) could do this for all of them at
once, but each call of torch passes through a mode, which makes the training of a small model a third slower.
`torch.cuda.is_available()` still tells the truth. This is a courtesy, like import_denylist.py: the student's process
owns the functions.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Container, Dict, Tuple

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
    from torch.utils._device import _device_constructors

    constructors = _device_constructors()  # kept by torch: the functions that `with torch.device("meta"):` applies to
    for place in (torch, torch.fft, torch.nested):
        for name, function in [*vars(place).items()]:
            if callable(function) and (name.endswith("_like") or _is_one_of(function, constructors)):
                _replace(place, name, _by_keyword(function))
    _replace_methods(torch)
    _replace_the_rest(torch)


def _cpu_for(device: object) -> object:
    """Replace an accelerator, given as text, as `torch.device` or as a number, by the CPU; return others unchanged."""
    if isinstance(device, int):
        return _CPU
    kind = device if isinstance(device, str) else getattr(device, "type", None)
    return _CPU if isinstance(kind, str) and kind.partition(":")[0] in _ACCELERATORS else device


def _device(original: Callable[..., object], /, *args: object, **kwargs: object) -> object:
    """Make a device; `torch.device("cuda", 1)` loses its number too, for tensors on the CPU have none."""
    named = args[0] if args else kwargs.get("type", kwargs.get("device"))
    return original(_CPU) if _cpu_for(named) != named else original(*args, **kwargs)


def _is_one_of(function: object, functions: Container[object]) -> bool:
    try:
        return function in functions
    except TypeError:  # it has no hash
        return False


def _by_keyword(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function for one that takes a device by keyword alone."""

    def on_cpu(*args: object, **kwargs: object) -> object:
        if "device" in kwargs:
            kwargs["device"] = _cpu_for(kwargs["device"])
        return function(*args, **kwargs)

    return on_cpu


def _replace(place: Any, name: str, new: Callable[..., object]) -> None:
    """Replace a function; the new one has its name, and the compiler of TorchScript takes it for the old one."""
    from torch.jit import _builtins

    table: Any = _builtins
    old = getattr(place, name)
    functools.update_wrapper(new, old)
    new.__module__ = "torch" if isinstance(place, type) else place.__name__
    new.__qualname__ = f"{place.__name__}.{name}" if isinstance(place, type) else name
    if (operation := table._find_builtin(old)) is not None:
        table._register_builtin(new, operation)
    setattr(place, name, new)


def _replace_methods(torch: Any) -> None:
    """Replace what moves and makes tensors from tensors."""
    tensor = torch.Tensor
    to, as_type, parse_to = tensor.to, tensor.type, torch._C._nn._parse_to

    def to_cpu(self: object, *args: object, **kwargs: object) -> object:
        return to(self, *_on_cpu(args), **_on_cpu_by_name(kwargs))

    def as_cpu_type(self: object, dtype: object = None, *args: object, **kwargs: object) -> object:
        return as_type(self, _tensor_type(dtype), *args, **kwargs)

    def parse_to_cpu(*args: object, **kwargs: object) -> object:
        return parse_to(*_on_cpu(args), **_on_cpu_by_name(kwargs))

    _replace(tensor, "to", to_cpu)
    _replace(tensor, "type", as_cpu_type)
    _replace(tensor, "cuda", lambda self, *_args, **_kwargs: self.to(_CPU))
    _replace(tensor, "pin_memory", lambda self, *_args, **_kwargs: self)
    _replace(torch._C._nn, "_parse_to", parse_to_cpu)
    for name in dir(tensor):
        if name.startswith("new_"):
            _replace(tensor, name, _by_keyword(getattr(tensor, name)))


def _on_cpu(args: Tuple[object, ...]) -> Tuple[object, ...]:
    return (_cpu_for(args[0]), *args[1:]) if args else args


def _on_cpu_by_name(kwargs: Dict[str, object]) -> Dict[str, object]:
    return {**kwargs, "device": _cpu_for(kwargs["device"])} if "device" in kwargs else kwargs


def _tensor_type(kind: object) -> object:
    return kind.replace("torch.cuda.", "torch.") if isinstance(kind, str) else kind


def _replace_the_rest(torch: Any) -> None:
    """Replace classes, and functions that read or set a device."""
    load, set_type, generator = torch.load, torch.set_default_tensor_type, torch.Generator

    @functools.wraps(load)
    def load_on_cpu(f: object, map_location: object = None, *args: object, **kwargs: object) -> object:
        return load(f, _map_location(map_location), *args, **kwargs)

    @functools.wraps(set_type)
    def set_cpu_type(t: object) -> None:
        set_type(_tensor_type(t))

    torch.load = torch.serialization.load = load_on_cpu
    torch.set_default_tensor_type = set_cpu_type
    torch.Generator = _class(generator, lambda device=_CPU: generator(device=_cpu_for(device)))
    torch.device = _class(torch.device, functools.partial(_device, torch.device))
    for place, name, value in _ANSWERS:
        setattr(getattr(torch, place), name, _answering(value))
    for name in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        setattr(torch.cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))


def _map_location(wanted: object) -> object:
    """Replace accelerators in a map location; None means the device at saving, which may be an accelerator."""
    if wanted is None:
        return _CPU
    return {saved: _cpu_for(new) for saved, new in wanted.items()} if isinstance(wanted, dict) else _cpu_for(wanted)


def _class(original: type, make: Callable[..., object]) -> type:
    """Return a class that is called as this function, and accepts the instances of the original as its own."""

    class Kind(type):
        def __call__(cls, *args: object, **kwargs: object) -> object:
            return make(*args, **kwargs)

        def __instancecheck__(cls, it: object) -> bool:
            return isinstance(it, original)

        def __eq__(cls, other: object) -> bool:
            return other is cls or other is original

        def __hash__(cls) -> int:
            return hash(original)

    return Kind(original.__name__, (), {"__module__": original.__module__, "__doc__": original.__doc__})


def _answering(value: object) -> Callable[..., object]:
    """Make a separate function for each name: torch.compile keeps a table of torch's functions."""
    return lambda *_args, **_kwargs: value
