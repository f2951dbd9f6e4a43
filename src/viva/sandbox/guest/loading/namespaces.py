"""The names of a submission: a namespace for each file or notebook; tests call the union of them `student`."""

from __future__ import annotations

import difflib
import os
import types
from typing import Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple

from . import sources

STUDENT, INSIDE = "student", "inside"
_MOST_FUNCTIONS = 200
"""The most functions that one reply names; others are found by name."""
_MISSING = object()
_SHELL_NAMES = frozenset({"In", "Out", "exit", "quit", "get_ipython", "open"})
"""Names that IPython puts into a notebook's namespace."""
_close_matches = difflib.get_close_matches


class Missing(Exception):
    """No namespace defines the name; `close` holds the most similar names."""

    def __init__(self, name: str, close: List[str]) -> None:
        super().__init__(name)
        self.name, self.close = name, close


class Namespaces:
    """The namespaces of all files that were loaded, in the order of loading."""

    def __init__(self) -> None:
        self._files: Dict[str, Dict[str, object]] = {}
        self._starter: Dict[str, FrozenSet[str]] = {}
        """By file, what it defines as the starter does."""
        self._inside: Dict[str, object] = {}
        self._before: List[Tuple[Dict[str, object], str, object]] = []
        """For each name that a test has set: the namespace, the name, and its earlier value."""

    def add(self, path: str, namespace: Dict[str, object]) -> None:
        """Add a submitted file or notebook by its path in the submission."""
        self._files[path] = namespace
        sources.remember_namespace(namespace)

    def note_starter(self, path: str, names: Iterable[str]) -> None:
        """Remember which names a file defines as the starter does: other files' definitions of them come first."""
        self._starter[path] = frozenset(names)

    def add_inside(self, namespace: Dict[str, object]) -> None:
        """Set the namespace of the author's helpers."""
        self._inside = namespace

    def set(self, space: str, names: Mapping[str, object]) -> None:
        """Set names in all namespaces of a space until `undo`."""
        for namespace in self.of(space):
            self._before += [(namespace, name, namespace.get(name, _MISSING)) for name in names]
            namespace.update(names)

    def undo(self) -> None:
        """Give the names that were set their former objects, or remove them."""
        while self._before:
            namespace, name, value = self._before.pop()
            if value is _MISSING:
                namespace.pop(name, None)
            else:
                namespace[name] = value

    def of(self, space: str) -> List[Dict[str, object]]:
        """Return the namespaces of "student", "inside" or "module:<path, file name or stem>"."""
        if space == INSIDE:
            return [self._inside]
        if space.startswith("module:"):
            wanted = space[len("module:") :]
            return [n for path, n in self._files.items() if wanted in (path, os.path.basename(path), _stem(path))]
        return list(self._files.values())

    def find(self, space: str, name: str) -> object:
        """Return the object called `name`, which is a plain name or a path of attributes ("Model.from_config").

        If several files have the name, those that define it otherwise than the starter come first; of these the file
        that defines it wins, then the first one that has it.

        Raises:
            Missing: The name does not exist.
        """
        namespaces = self._changed(self.of(space), name.partition(".")[0])
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

    def _changed(self, namespaces: List[Dict[str, object]], name: str) -> List[Dict[str, object]]:
        """Return the namespaces without those in which a name is still the starter's, if others have it."""
        starter = [self._files[path] for path, names in self._starter.items() if name in names and path in self._files]
        changed = [namespace for namespace in namespaces if not any(namespace is each for each in starter)]
        return changed if starter and any(name in namespace for namespace in changed) else namespaces

    def names(self, space: str) -> List[str]:
        """Return the public names, sorted, without imported modules."""
        found = {
            name
            for namespace in self.of(space)
            for name, value in list(namespace.items())
            if not issubclass(type(value), types.ModuleType)
        }
        return sorted(_public(found))

    def functions(self, space: str) -> List[str]:
        """Return the names of functions that were defined in the file that has them, not imported into it."""
        own = [
            name
            for namespace in self.of(space)
            for name, value in list(namespace.items())
            if type(name) is str and type(value) is types.FunctionType and _maker(value) == _name_of(namespace)
        ]
        return own[:_MOST_FUNCTIONS]


def _public(names: Iterable[object]) -> List[str]:
    return [name for name in names if type(name) is str and not name.startswith("_") and name not in _SHELL_NAMES]


def _closest(name: str, names: List[str]) -> List[str]:
    """Return similar names; those that differ only in case or underscores come first."""
    spelled: Dict[str, List[str]] = {}
    for known in names:
        spelled.setdefault(_folded(known), []).append(known)
    close = _close_matches(_folded(name), list(spelled), 3, 0.6)
    return [known for folded in close for known in spelled[folded]][:3]


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def _owned(namespaces: List[Dict[str, object]], name: str) -> object:
    having = [namespace for namespace in namespaces if name in namespace]
    if len(having) > 1:
        for namespace in having:
            if _maker(namespace[name]) == _name_of(namespace):
                return namespace[name]
    return having[0][name] if having else _MISSING


def _maker(value: object) -> Optional[str]:
    """Return the module in which a function or class says it was defined."""
    maker = getattr(value, "__module__", None) if callable(value) else None
    return maker if type(maker) is str else None


def _name_of(namespace: Dict[str, object]) -> str:
    """Return the name of the module that has this namespace; empty if the student replaced it by a non-text."""
    name = namespace.get("__name__")
    return name if type(name) is str else ""


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
