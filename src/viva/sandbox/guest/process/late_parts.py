"""Parts of libraries that are imported late: when something asks for them."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import sys
from types import ModuleType
from typing import Any, Callable, Optional, Sequence

_VERSION = re.compile(r"^__version__\s*=\s*['\"]([^'\"]+)", re.MULTILINE)


class _Loaded(importlib.abc.Loader):
    """Hands on a module that was loaded while it was looked for."""

    def __init__(self, module: ModuleType) -> None:
        self._own = module.__spec__
        self.spec = importlib.machinery.ModuleSpec(module.__name__, self)
        # Python would go by its own one, and execute it again. Some modules refuse to have attributes set.
        vars(module)["__spec__"] = self.spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the module."""
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing more."""
        vars(module)["__spec__"] = self._own


class LateModule(ModuleType):
    """In the place of a module until something is asked for that is not here, or a part of the module is imported."""

    def __init__(self, spec: importlib.machinery.ModuleSpec, alone: Sequence[str] = ()) -> None:
        """Take the place of a module whose package is loaded.

        Args:
            spec: of the module.
            alone: names of parts that can be imported without it, because they use nothing of it.
        """
        super().__init__(spec.name)
        self.__spec__, self.__file__, self.__path__ = spec, spec.origin, []
        self._alone, self._parts = alone, _Parts(self, spec.submodule_search_locations or [], alone)
        package, _, self._own_name = spec.name.rpartition(".")
        self._package = sys.modules[package]
        sys.modules[spec.name] = self
        setattr(self._package, self._own_name, self)

    def leave(self) -> bool:
        """Give the place back to whoever imports the module next; return False if that has happened."""
        self._parts.stop()
        if sys.modules.get(self.__name__) is not self:
            return False
        del sys.modules[self.__name__]
        delattr(self._package, self._own_name)
        return True

    def load(self) -> ModuleType:
        """Return the module itself, which takes its place back at the first call."""
        self.leave()
        module = importlib.import_module(self.__name__)
        for name in self._alone:
            if name in sys.modules:
                setattr(module, name.rpartition(".")[2], sys.modules[name])  # as if it had been imported now
        return module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by those who look at all modules
            raise AttributeError(name)
        return getattr(self.load(), name)


class _Parts:
    """Finds parts of a late module; the first import of one loads the module."""

    def __init__(self, late: LateModule, path: Sequence[str], alone: Sequence[str]) -> None:
        self._late, self._path, self._alone = late, path, alone
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, *_: object) -> Optional[importlib.machinery.ModuleSpec]:
        """Load the module if one of its parts is imported that needs it, and find the part."""
        if not name.startswith(self._late.__name__ + "."):
            return None
        if name in self._alone:
            return importlib.machinery.PathFinder.find_spec(name, self._path)
        module = self._late.load()
        if name in sys.modules:
            return _Loaded(sys.modules[name]).spec
        return importlib.machinery.PathFinder.find_spec(name, getattr(module, "__path__", []))

    def stop(self) -> None:
        """Watch no more. May be called more than once."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class LateFunctions(LateModule):
    """A module whose functions other modules import by name; it is loaded when one of them is called."""

    def __init__(self, spec: importlib.machinery.ModuleSpec, functions: Sequence[str]) -> None:
        """Take the place of the module.

        Args:
            spec: of the module.
            functions: their names.
        """
        super().__init__(spec)
        for name in functions:
            setattr(self, name, self._late(name))

    def _late(self, name: str) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            return getattr(self.load(), name)(*args, **kwargs)

        return function


def version_of(library: str) -> str:
    """Return the version of a library that is not imported; empty if it does not say so where others do."""
    spec = importlib.util.find_spec(library)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file in ("version.py", "__init__.py"):
            try:
                with open(os.path.join(folder, file), encoding="utf-8") as lines:
                    found = _VERSION.search(lines.read())
            except OSError:
                continue
            if found:
                return found[1]
    return ""
