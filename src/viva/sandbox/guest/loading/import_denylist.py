"""What an assignment forbids, kept from the student's code with words that say so.

Libraries, and the author's helpers, may go on using it. This is a courtesy to honest students, who learn at once that
they were to write it themselves; a program bent on getting round it can, so graders look at the source as well.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from typing import Any, Callable, List, Set

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
        """Names within modules that are not loaded yet."""


_rules = _Rules()


def forbid(names: List[str]) -> None:
    """Keep modules, and functions or classes within modules, from the student's code, from now on."""
    new = set(names) - _rules.names
    if not new:
        return
    _rules.names |= new
    _rules.waiting |= {name for name in new if "." in name}
    builtins.__import__ = _import_for_students
    importlib.import_module = _import_module_for_students
    _replace_what_is_loaded()


def tried() -> List[str]:
    """What the student's code tried to import or to call since this was last asked."""
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
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> types.ModuleType:
    if not sources.is_namespace(_frame(1).f_globals if globals is None else globals) or level:
        return _import(name, globals, locals, fromlist, level)
    _check(name)
    module = _import(name, globals, locals, fromlist, level)
    for item in fromlist or ():
        if isinstance(getattr(module, item, None), types.ModuleType):
            _check(f"{name}.{item}")
    _replace_what_is_loaded()
    return module


def _import_module_for_students(name: str, package: Any = None) -> types.ModuleType:
    if sources.is_namespace(_frame(1).f_globals):
        _check(name)
    module = _import_module(name, package)
    _replace_what_is_loaded()
    return module


def _replace_what_is_loaded() -> None:
    for name in list(_rules.waiting):
        holder, _, attribute = name.rpartition(".")
        module = sys.modules.get(holder)
        original = getattr(module, attribute, None)
        if original is None:
            continue
        _rules.waiting.discard(name)
        if callable(original):
            setattr(module, attribute, _stand_in(name, original))


def _stand_in(name: str, original: Any) -> Any:
    """Looks like the original, and is it for everyone but the student's code."""
    if not isinstance(original, type):
        return _function_stand_in(name, original)

    meta: Any = type(original)

    def call(cls: Any, *args: Any, **kwargs: Any) -> Any:
        home = getattr(sys.modules.get(cls.__module__), "__dict__", None)
        if sources.is_namespace(_frame(1).f_globals) or sources.is_namespace(home):
            raise _refuse(name)
        return meta.__call__(original if cls is stand_in else cls, *args, **kwargs)

    def has_instance(cls: Any, it: Any) -> bool:
        return bool(meta.__instancecheck__(original if cls is stand_in else cls, it))

    def has_subclass(cls: Any, it: Any) -> bool:
        return bool(meta.__subclasscheck__(original if cls is stand_in else cls, it))

    methods = {"__call__": call, "__instancecheck__": has_instance, "__subclasscheck__": has_subclass}
    described = {"__module__": original.__module__, "__doc__": original.__doc__}
    stand_in: Any = type(meta.__name__, (meta,), methods)(original.__name__, (original,), described)
    return stand_in


def _function_stand_in(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if sources.is_namespace(_frame(1).f_globals):
            raise _refuse(name)
        return original(*args, **kwargs)

    stand_in.__name__, stand_in.__doc__ = getattr(original, "__name__", name), original.__doc__
    return stand_in
