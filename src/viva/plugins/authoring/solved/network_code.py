"""Networks of torch that the notebook passes to the solution, as the code that makes them."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any, Final

from viva.grading.functions import NoCode, is_literal

NEEDED: Final = "from torch import nn"
"""The import that the code needs."""
_ELSEWHERE: Final = frozenset({"self", "mode", "args", "kwargs", "device", "dtype"})
"""Parameters that do not belong into the code."""
_IN_SEVERAL_DIRECTIONS: Final = ("Conv", "MaxPool", "AvgPool")
"""Layers that take one size for all directions."""
_ABSENT: Final = object()


def is_network(value: object) -> bool:
    """Return whether a value is a network of torch; torch is not imported."""
    nn = sys.modules.get("torch.nn")
    return nn is not None and isinstance(value, nn.Module)


def network_code(network: Any) -> str:
    """Return an expression that makes a network of the same layers, with other weights.

    Raises:
        NoCode: it is not made of torch's layers alone, or one does not show what it was made from.
    """
    text = _layer(network)
    if {parameter.dtype for parameter in network.parameters()} == {_torch().float64}:
        text += ".double()"
    if not network.training:
        text += ".eval()"
    made = eval(text, {"nn": _torch().nn})  # noqa: S307  # written above
    if _weights(made) != _weights(network):
        raise NoCode("its layers were changed after it was made")
    return text


def _torch() -> Any:
    return sys.modules["torch"]


def _weights(network: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, tuple(weight.shape)) for name, weight in network.named_parameters()]


def _layer(layer: Any) -> str:
    nn, kind = _torch().nn, type(layer)
    if getattr(nn, kind.__name__, None) is not kind:
        raise NoCode(f"it has a part of type {kind.__name__}, and not only torch's own layers")
    if kind is nn.Sequential or kind is nn.ModuleList:
        inner = ", ".join(map(_layer, layer))
        return f"nn.{kind.__name__}({inner if kind is nn.Sequential else f'[{inner}]'})"
    return f"nn.{kind.__name__}({', '.join(_arguments(layer))})"


def _arguments(layer: Any) -> Iterator[str]:
    """Yield what a layer was made from: its attributes that have the names of parameters."""
    for parameter in _parameters(type(layer)):
        value = _plain(layer, parameter.name)
        if parameter.default is not parameter.empty and value in (_ABSENT, parameter.default):
            continue
        if value is _ABSENT or not is_literal(repr(value)):
            raise NoCode(f"its part {type(layer).__name__} does not show what it was made from")
        yield repr(value) if parameter.default is parameter.empty else f"{parameter.name}={value!r}"


def _parameters(kind: type) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a class of layers; recurrent ones name theirs in the class that they are derived from."""
    for base in kind.__mro__:
        found = inspect.signature(base.__init__).parameters  # type: ignore[misc]  # of a class, not of an object
        if "args" not in found or base is object:
            yield from (each for name, each in found.items() if name not in _ELSEWHERE)
            return


def _plain(layer: Any, name: str) -> object:
    value = getattr(layer, name, _ABSENT)
    if name == "bias" and not isinstance(value, bool):
        return value is not None
    if isinstance(value, tuple) and len(set(value)) == 1 and type(layer).__name__.startswith(_IN_SEVERAL_DIRECTIONS):
        return value[0]
    return value
