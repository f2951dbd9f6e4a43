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


class LateParts:
    """Finds modules that are not loaded yet; the first import of one of them brings what all of them need."""

    def __init__(self, names: Sequence[str], bring: Callable[[], object]) -> None:
        """Watch imports.

        Args:
            names: of modules; their submodules are meant as well.
            bring: imports what they need; called once.
        """
        self._names, self._bring = names, bring
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, *_: object) -> Optional[importlib.machinery.ModuleSpec]:
        """Bring what the module needs, and find it."""
        if not is_below(name, self._names):
            return None
        self.stop()
        self._bring()
        if name in sys.modules:
            return _Loaded(sys.modules[name]).spec
        return found_below(name, getattr(sys.modules[name.rpartition(".")[0]], "__path__", []))

    def stop(self) -> None:
        """Watch no more. May be called more than once."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


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

    def __init__(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Take the place of the module that a finder has found."""
        super().__init__(spec.name)
        self.__spec__, self.__file__, self.__path__ = spec, spec.origin, []
        self._parts = self._watch(spec)
        self._put(self)

    def _watch(self, spec: importlib.machinery.ModuleSpec) -> LateParts:
        return LateParts([spec.name], self.load)

    def _put(self, module: Optional[ModuleType]) -> None:
        """Put a module, or none, where `import` and the package have this one."""
        package, _, name = self.__name__.rpartition(".")
        sys.modules.pop(self.__name__, None)
        vars(sys.modules[package]).pop(name, None)
        if module is not None:
            sys.modules[self.__name__] = module
            setattr(sys.modules[package], name, module)

    def leave(self) -> bool:
        """Give the place back to whoever imports the module next; return False if that has happened."""
        self._parts.stop()
        if sys.modules.get(self.__name__) is not self:
            return False
        self._put(None)
        return True

    def load(self) -> ModuleType:
        """Return the module itself, which takes its place back at the first call."""
        self.leave()
        return importlib.import_module(self.__name__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by those who look at all modules
            raise AttributeError(name)
        return getattr(self.load(), name)


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


def is_below(name: str, modules: Sequence[str]) -> bool:
    """Return whether this is the name of one of the modules, or of a part of one."""
    return any(name == module or name.startswith(module + ".") for module in modules)


def found_below(name: str, path: Sequence[str]) -> Optional[importlib.machinery.ModuleSpec]:
    """Return where a module is, given the path of its package."""
    return importlib.machinery.PathFinder.find_spec(name, path)


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
