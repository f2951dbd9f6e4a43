"""Where names live: a namespace for each file or notebook, and the union of them that tests call `student`."""

from __future__ import annotations

import difflib
import os
import types
from typing import Any, Dict, List, Optional

from . import sources

INSIDE = "inside"
_MOST_TOLD = 200
"""Functions named in one answer; others are looked for by name."""
_MISSING = object()
_SHELL_NAMES = frozenset({"In", "Out", "exit", "quit", "get_ipython", "open"})
"""What IPython puts into a notebook's namespace."""
_close_matches = difflib.get_close_matches


class Missing(Exception):
    """No namespace defines the name; carries the closest names there are."""

    def __init__(self, name: str, close: List[str]) -> None:
        super().__init__(name)
        self.name, self.close = name, close


class Spaces:
    """The namespaces of what was loaded, in the order of loading."""

    def __init__(self) -> None:
        self._files: Dict[str, Dict[str, Any]] = {}
        self._inside: Dict[str, Any] = {}

    def add(self, path: str, namespace: Dict[str, Any]) -> None:
        """A file or notebook of the student's, by its path in the submission."""
        self._files[path] = namespace
        sources.remember_namespace(namespace)

    def add_inside(self, namespace: Dict[str, Any]) -> None:
        """The author's helpers."""
        self._inside = namespace

    def of(self, space: str) -> List[Dict[str, Any]]:
        """The namespaces of "student", "inside", "module:<path, file name or stem>"."""
        if space == INSIDE:
            return [self._inside]
        if space.startswith("module:"):
            wanted = space[len("module:") :]
            return [n for path, n in self._files.items() if wanted in (path, os.path.basename(path), _stem(path))]
        return list(self._files.values())

    def find(self, space: str, name: str) -> Any:
        """The object called `name`: a name as it is, or a path of attributes ("Model.from_config").

        A name belongs first to the file that defines it, then to the first file that has it.

        Raises:
            Missing: there is no such name.
        """
        namespaces = self.of(space)
        found = _owned(namespaces, name)
        if found is not _MISSING:
            return found
        head, *rest = name.split(".")
        found = _owned(namespaces, head) if rest else _MISSING
        if found is _MISSING:
            raise Missing(name, _closest(name, self.names(space)))
        for index, part in enumerate(rest):
            owner, found = found, getattr(found, part, _MISSING)
            if found is _MISSING:
                before = ".".join([head, *rest[:index], ""])
                raise Missing(name, [before + close for close in _closest(part, _public(dir(owner)))])
        return found

    def names(self, space: str) -> List[str]:
        """Public names, sorted, without modules that were merely imported."""
        found = {
            name
            for namespace in self.of(space)
            for name, value in list(namespace.items())
            if not issubclass(type(value), types.ModuleType)
        }
        return sorted(_public(found))

    def functions(self, space: str) -> List[str]:
        """Names of functions that the file defines in which they stand: found by anybody who looks for them."""
        own = [
            name
            for namespace in self.of(space)
            for name, value in list(namespace.items())
            if type(name) is str and type(value) is types.FunctionType and _maker(value) == _name_of(namespace)
        ]
        return own[:_MOST_TOLD]


def _public(names: Any) -> List[str]:
    return [name for name in names if type(name) is str and not name.startswith("_") and name not in _SHELL_NAMES]


def _closest(name: str, names: List[str]) -> List[str]:
    """What may have been meant; the same name in other letters, or with other underscores, comes first."""
    spelled: Dict[str, List[str]] = {}
    for known in names:
        spelled.setdefault(_folded(known), []).append(known)
    close = _close_matches(_folded(name), list(spelled), 3, 0.6)
    return [known for folded in close for known in spelled[folded]][:3]


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def _owned(namespaces: List[Dict[str, Any]], name: str) -> Any:
    having = [namespace for namespace in namespaces if name in namespace]
    if len(having) > 1:
        for namespace in having:
            if _maker(namespace[name]) == _name_of(namespace):
                return namespace[name]
    return having[0][name] if having else _MISSING


def _maker(value: Any) -> Optional[str]:
    """The module that a function or class says it was made in."""
    maker = getattr(value, "__module__", None) if callable(value) else None
    return maker if type(maker) is str else None


def _name_of(namespace: Dict[str, Any]) -> str:
    """The name of the module whose namespace it is; empty if the student gave it another that is no text."""
    name = namespace.get("__name__")
    return name if type(name) is str else ""


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
