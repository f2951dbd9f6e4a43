"""Placeholders for the student's modules where there is no submission, and removal of libraries that hide them."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import types
from typing import Iterable, List, NoReturn, Optional, Set

_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_TEST_RUNNER_MODULES = ("unittest", "json", "gradescope_utils")
"""What every test runner imports before the first test: no runner finds a student's file of such a name."""


class PlaceholderModules:
    """Finds modules that a suite imports from a submission; every name in them is a placeholder."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """Find a submitted module; return None for any other. Part of the import system."""
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # found by its methods

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let Python make the module as usual. Part of the import system."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Give the module every attribute that is looked up. Part of the import system."""
        vars(module)["__getattr__"] = _placeholder


class _Placeholder(type):
    """A class that can be subclassed, called and asked for attributes; its contents are not known."""

    def __getattr__(cls, name: str) -> _Placeholder:
        return _placeholder(name)

    def __call__(cls, *args: object, **kwargs: object) -> _Placeholder:
        return _placeholder(cls.__name__)

    def __bool__(cls) -> bool:
        return True  # a test that is skipped if this is missing must not be skipped for every student

    def __iter__(cls) -> NoReturn:
        raise TypeError(f"what `{cls.__name__}` of the submission holds is not known when the tests are read")

    __len__ = __getitem__ = __contains__ = __iter__


def _placeholder(name: str) -> _Placeholder:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Placeholder(name, (), {})


def forget_shadowing_libraries(names: Iterable[str]) -> None:
    """Forget libraries with the names of the student's files, so that `import queue` finds the student's queue.

    Libraries that every test runner imports stay: no runner would find the student's file.
    """
    taken = [name for name in names if _is_of_python(sys.modules.get(name))]
    needed = _reached(_TEST_RUNNER_MODULES) if taken else set()
    for name in taken:
        if name not in needed:
            for module in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[module]


def _is_of_python(module: object) -> bool:
    """Return whether it is a file of the standard library; other libraries may not survive a second import."""
    file = getattr(module, "__file__", None)
    return type(file) is str and os.path.dirname(file).startswith(_STANDARD_LIBRARY) and "-packages" not in file


def _reached(roots: Iterable[str]) -> Set[str]:
    """Return the top-level names of all modules that these use through their globals, functions and classes."""
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
