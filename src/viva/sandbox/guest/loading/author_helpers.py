"""The author's helpers, `inside.py` or a package `inside/` of several files, run from the text that was sent."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Dict, Mapping, Optional

NAME = "inside"


class AuthorHelpers:
    """Finds and runs the modules of the helpers; part of the import system, so that they can import each other."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        """Take the texts by file name: `inside.py`, or `inside/__init__.py`, `inside/models.py`, …."""
        self._files = {_module_name(filename): (filename, text) for filename, text in sources.items()}

    def load(self) -> Dict[str, object]:
        """Run `inside` and what it imports; return its namespace. An error in it is the author's and raises here."""
        for name in [n for n in sys.modules if n == NAME or n.startswith(NAME + ".")]:
            del sys.modules[name]
        sys.meta_path[:] = [self, *(finder for finder in sys.meta_path if not isinstance(finder, AuthorHelpers))]
        return vars(importlib.import_module(NAME))

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """Find a module of the helpers; return None for any other. Part of the import system."""
        if name not in self._files:
            return None
        filename = self._files[name][0]
        is_package = filename.endswith("/__init__.py")
        return importlib.machinery.ModuleSpec(name, self, origin=filename, is_package=is_package)  # type: ignore[arg-type]  # found by its methods

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let Python make the module as usual. Part of the import system."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the text of the module. Part of the import system."""
        filename, text = self._files[module.__name__]
        module.__file__ = filename
        exec(compile(text, filename, "exec", dont_inherit=True), vars(module))


def _module_name(filename: str) -> str:
    parts = filename[: -len(".py")].split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
