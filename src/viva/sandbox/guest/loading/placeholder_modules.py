"""Modules of a student's: a stand-in for them where there is no submission, and room for their names where there is."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from typing import Any, Iterable, List, Optional, Set

_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_OF_THE_RUNNER = ("unittest", "json", "gradescope_utils")
"""What a runner has imported before the first test: a student's file of such a name was never found there either."""


class StandIns:
    """Finds modules that a suite imports from a submission; every name in them stands for anything."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        """Part of the import system: a module of the student's, or nothing."""
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # found by its methods

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Part of the import system: a module as usual."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Part of the import system: whatever is asked of it is there."""
        vars(module)["__getattr__"] = _anything


class _Anything(type):
    """A class that can be derived from, called and asked for attributes; what it holds nobody knows yet."""

    def __getattr__(cls, name: str) -> Any:
        return _anything(name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _anything(cls.__name__)

    def __bool__(cls) -> bool:
        return True  # a test that is skipped without it is not skipped for everybody

    def __iter__(cls) -> Any:
        raise TypeError(f"what `{cls.__name__}` of the submission holds is not known when the tests are read")

    __len__ = __getitem__ = __contains__ = __iter__


def _anything(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Anything(name, (), {})


def make_room_for(names: Iterable[str]) -> None:
    """Forget libraries that are named like files of the student's, so that `import queue` finds the student's queue.

    Those that a test runner has imported anyway stay: there the student's file would not have been found either.
    """
    taken = [name for name in names if _is_of_python(sys.modules.get(name))]
    needed = _reached(_OF_THE_RUNNER) if taken else set()
    for name in taken:
        if name not in needed:
            for module in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[module]


def _is_of_python(module: Any) -> bool:
    """Whether it is a file of the standard library; other libraries would not bear to be imported twice."""
    file = getattr(module, "__file__", None)
    return type(file) is str and os.path.dirname(file).startswith(_STANDARD_LIBRARY) and "-packages" not in file


def _reached(roots: Iterable[str]) -> Set[str]:
    """Top-level names of the modules that these use: modules in their globals, and makers of functions and classes."""
    found: Set[str] = set()
    pending: List[str] = [m for m in sys.modules if m.partition(".")[0] in roots]
    while pending:
        name = pending.pop()
        if name in found or name not in sys.modules:
            continue
        found.add(name)
        for value in list(getattr(sys.modules[name], "__dict__", {}).values()):
            maker = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            if type(maker) is str:
                pending.append(maker)
    return {name.partition(".")[0] for name in found}
