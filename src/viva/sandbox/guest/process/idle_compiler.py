"""A stand-in for `torch._dynamo`, the compiler of torch, until something needs the compiler.

Every optimizer imports it at its first step, to say to the compiler where it cannot compile
(`torch/optim/optimizer.py`, `torch/_compile.py`). Nothing is compiled in nearly every submission, and the import takes
as long as that of torch itself. The stand-in answers these two requests as the compiler does where nothing is compiled:
it does nothing. The first other name that is asked for, and the first part of it that is imported, bring the compiler.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

_NAME = "torch._dynamo"


def install() -> None:
    """Put the stand-in in the place of the compiler, if torch is loaded and its compiler is not."""
    torch = sys.modules.get("torch")
    if torch is None or _NAME in sys.modules:
        return
    spec = importlib.util.find_spec(_NAME)
    if spec is None:
        return  # torch before version 2
    stand_in = _StandIn(_NAME)
    stand_in.__spec__, stand_in.__file__, stand_in.__path__ = spec, spec.origin, []
    sys.modules[_NAME] = stand_in
    torch._dynamo = stand_in  # type: ignore[attr-defined]  # where `import torch._dynamo` leaves it
    sys.meta_path.insert(0, _Parts())


class _StandIn(ModuleType):
    """What code sees as `torch._dynamo` before it needs more than this."""

    @staticmethod
    def graph_break(msg: str = "") -> None:
        """Do nothing, as the compiler does outside of what it compiles."""

    @staticmethod
    def disable(fn: Optional[Callable[..., Any]] = None, *_: object, **__: object) -> Callable[..., Any]:
        """Return the function: nothing is compiled that it would have to be left out of."""
        return _unchanged if fn is None else fn

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by those who look at all modules
            raise AttributeError(name)
        return getattr(_compiler(), name)


class _Parts:
    """Finds `torch._dynamo.…`, which exists once the compiler is loaded."""

    @staticmethod
    def find_spec(name: str, *_: object) -> Optional[importlib.machinery.ModuleSpec]:
        """Load the compiler when a part of it is imported."""
        if not name.startswith(_NAME + "."):
            return None
        path: Sequence[str] = _compiler().__path__
        if name not in sys.modules:
            return importlib.machinery.PathFinder.find_spec(name, path)
        return importlib.machinery.ModuleSpec(name, _Loaded())  # the compiler has imported it itself


class _Loaded(importlib.abc.Loader):
    """Hands on a module that is loaded already."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the module."""
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing more."""


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _compiler() -> ModuleType:
    """Return the compiler itself, which takes its place at the first call."""
    if isinstance(sys.modules.get(_NAME), _StandIn):
        del sys.modules[_NAME]
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Parts)]
        del sys.modules["torch"]._dynamo
    return importlib.import_module(_NAME)
