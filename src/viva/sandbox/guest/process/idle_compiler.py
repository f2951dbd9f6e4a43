"""A stand-in for `torch._dynamo`, the compiler of torch, until something needs the compiler.

Every optimizer imports it at its first step, to say to the compiler where it cannot compile
(`torch/optim/optimizer.py`, `torch/_compile.py`), and transformers imports it to mark functions. Nothing is compiled in
nearly every submission, and the import takes as long as that of torch itself. The stand-in answers these requests as
the compiler does where nothing is compiled: it does nothing, and hands on the marks when the compiler comes. The first
other name that is asked for, and the first part of it that is imported, bring the compiler.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, List, Optional, Sequence, Tuple, TypeVar

from .late_parts import LateModule, LateParts, found_below

_NAME = "torch._dynamo"
_ALONE = _NAME + "._trace_wrapped_higher_order_op"
"""A part that uses no other, and that transformers imports for its masks."""
F = TypeVar("F")


def install() -> None:
    """Put the stand-in in the place of the compiler, if torch is loaded and its compiler is not."""
    if "torch" not in sys.modules or _NAME in sys.modules:
        return
    spec = importlib.util.find_spec(_NAME)
    if spec is not None:  # torch before version 2 has none
        _StandIn(spec)


class _StandIn(LateModule):
    """What code sees as `torch._dynamo` before it needs more than this."""

    def __init__(self, spec: importlib.machinery.ModuleSpec) -> None:
        super().__init__(spec)
        self._marked: List[Tuple[str, Any]] = []
        """What the compiler is told about functions when it comes."""

    def _watch(self, spec: importlib.machinery.ModuleSpec) -> LateParts:
        return _Parts(self, spec.submodule_search_locations or [])

    @staticmethod
    def graph_break(msg: str = "") -> None:
        """Do nothing, as the compiler does outside of what it compiles."""

    @staticmethod
    def disable(fn: Optional[Callable[..., Any]] = None, *_: object, **__: object) -> Callable[..., Any]:
        """Return the function: nothing is compiled that it would have to be left out of."""
        return _unchanged if fn is None else fn

    def allow_in_graph(self, fn: F) -> F:
        """Return the functions, marked for the compiler."""
        self._marked.append(("allow_in_graph", fn))
        return fn

    def assume_constant_result(self, fn: F) -> F:
        """Return the function, marked for the compiler."""
        self._marked.append(("assume_constant_result", fn))
        return fn

    def load(self) -> ModuleType:
        """Return the compiler itself, with the functions marked; it takes the place of this module."""
        is_first = self.leave()
        compiler = importlib.import_module(_NAME)
        if is_first:
            if _ALONE in sys.modules:
                setattr(compiler, _ALONE.rpartition(".")[2], sys.modules[_ALONE])  # as if it had been imported now
            for mark, fn in self._marked:
                getattr(compiler, mark)(fn)
        return compiler


class _Parts(LateParts):
    """Finds `torch._dynamo.…`, which exists once the compiler is loaded, except for the part that needs no other."""

    def __init__(self, stand_in: _StandIn, path: Sequence[str]) -> None:
        super().__init__([_NAME], stand_in.load)
        self._path = path

    def find_spec(self, name: str, *_: object) -> Optional[importlib.machinery.ModuleSpec]:
        """Load the compiler when a part of it is imported that needs it."""
        return found_below(name, self._path) if name == _ALONE else super().find_spec(name)


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
