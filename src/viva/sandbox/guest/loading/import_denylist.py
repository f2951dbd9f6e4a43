"""Keep the student's code from using what the assignment forbids, with an error that says so.

Libraries and the author's helpers may still use it. This is a courtesy to honest students, who learn at once that they
have to write it themselves. A program that is written to bypass it can, so graders also look at the source.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from typing import Any, Callable, List, Mapping, Optional, Sequence, Set

from ..values.raised import Forbidden
from . import sources

_frame = sys._getframe
_import, _import_module = builtins.__import__, importlib.import_module


class _Rules:
    """What is forbidden in this box, and what the student's code tried to use."""

    def __init__(self) -> None:
        self.names: Set[str] = set()
        self.tried: List[str] = []
        self.waiting: Set[str] = set()
        """Names within modules that have not been loaded yet."""


_rules = _Rules()


def forbid(names: List[str]) -> None:
    """Forbid modules, and functions or classes within modules, to the student's code from now on."""
    new = set(names) - _rules.names
    if not new:
        return
    _rules.names |= new
    _rules.waiting |= {name for name in new if "." in name}
    builtins.__import__ = _import_for_students
    importlib.import_module = _import_module_for_students
    _guard_loaded_names()


def tried() -> List[str]:
    """Return what the student's code tried to import or call since the last call of this function."""
    found, _rules.tried = list(dict.fromkeys(_rules.tried)), []
    return found


def _refuse(name: str) -> Forbidden:
    _rules.tried.append(name)
    return Forbidden(f"this assignment asks for code of your own: it forbids `{name}`", name=name)


def _check(module: str) -> None:
    for name in _rules.names:
        if module == name or module.startswith(name + "."):
            raise _refuse(name)


def _import_for_students(
    name: str,
    globals: Optional[Mapping[str, object]] = None,
    locals: Optional[Mapping[str, object]] = None,
    fromlist: Optional[Sequence[str]] = (),
    level: int = 0,
) -> types.ModuleType:
    if not sources.is_namespace(_frame(1).f_globals if globals is None else globals) or level:
        return _import(name, globals, locals, fromlist, level)
    _check(name)
    module = _import(name, globals, locals, fromlist, level)
    for item in fromlist or ():
        if isinstance(getattr(module, item, None), types.ModuleType):
            _check(f"{name}.{item}")
    _guard_loaded_names()
    return module


def _import_module_for_students(name: str, package: Optional[str] = None) -> types.ModuleType:
    if sources.is_namespace(_frame(1).f_globals):
        _check(name)
    module = _import_module(name, package)
    _guard_loaded_names()
    return module


def _guard_loaded_names() -> None:
    for name in list(_rules.waiting):
        holder, _, attribute = name.rpartition(".")
        module = sys.modules.get(holder)
        original = getattr(module, attribute, None)
        if original is None:
            continue
        _rules.waiting.discard(name)
        if callable(original):
            setattr(module, attribute, _guarded(name, original))


def _guarded(name: str, original: Callable[..., object]) -> object:
    """Wrap a function or class: the student's code is refused, all other code gets the original."""
    if not isinstance(original, type):
        return _guarded_function(name, original)

    meta: Any = type(original)

    def call(cls: object, *args: object, **kwargs: object) -> object:
        namespace = getattr(sys.modules.get(cls.__module__), "__dict__", None)
        if sources.is_namespace(_frame(1).f_globals) or sources.is_namespace(namespace):
            raise _refuse(name)
        return meta.__call__(original if cls is guarded else cls, *args, **kwargs)

    def has_instance(cls: object, it: object) -> bool:
        return bool(meta.__instancecheck__(original if cls is guarded else cls, it))

    def has_subclass(cls: object, it: object) -> bool:
        return bool(meta.__subclasscheck__(original if cls is guarded else cls, it))

    methods = {"__call__": call, "__instancecheck__": has_instance, "__subclasscheck__": has_subclass}
    described = {"__module__": original.__module__, "__doc__": original.__doc__}
    guarded: Any = type(meta.__name__, (meta,), methods)(original.__name__, (original,), described)
    return guarded


def _guarded_function(name: str, original: Callable[..., object]) -> Callable[..., object]:
    def guarded(*args: object, **kwargs: object) -> object:
        if sources.is_namespace(_frame(1).f_globals):
            raise _refuse(name)
        return original(*args, **kwargs)

    guarded.__name__, guarded.__doc__ = getattr(original, "__name__", name), original.__doc__
    return guarded
