"""A stand-in for `torch._dynamo`, the compiler of torch, until something needs the compiler.

Every optimizer imports it at its first step, to say to the compiler where it cannot compile
(`torch/optim/optimizer.py`, `torch/_compile.py`), and transformers imports it to mark functions. Nothing is compiled in
nearly every submission, and the import takes as long as that of torch itself. The stand-in answers these requests as
the compiler does where nothing is compiled: it does nothing, and hands on the marks when the compiler comes. The first
other name that is asked for, and the first part of it that is imported, bring the compiler.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, List, Optional, Tuple, TypeVar

from .late_parts import LateModule

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
        super().__init__(spec, alone=[_ALONE])
        self._marked: List[Tuple[str, Any]] = []
        """Names of decorators of the compiler, and what they were given."""

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
        compiler = super().load()
        marked, self._marked = self._marked, []
        for mark, fn in marked:
            getattr(compiler, mark)(fn)
        return compiler


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
