"""Find names that the student's code uses and the installed library lacks, often because of another version.

`BertTokenizer has no attribute encode_plus`, `cannot import name 'AdamW' from 'transformers'`, `module 'numpy' has no
attribute 'float'`, `TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'`. None of the
student's code is run to find it out, and the result changes no points.
"""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import linecache
import re
import sys
import types
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import sources

_NO_ATTRIBUTE = re.compile(r"module '?([\w.]+)'? has no attribute '?(\w+)")
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_ARGUMENT = re.compile(r"unexpected keyword argument '(\w+)'|'(\w+)' is an invalid keyword argument")
_LOOK_UPS = ("__getattr__", "__getattribute__")
_DATA = {("numpy", "ndarray"), ("numpy", "generic"), ("torch", "Tensor")}
"""Types of data: a missing attribute means that the student mistook it for another type, not another version."""
_KINDS = (AttributeError, ImportError, ModuleNotFoundError, TypeError)
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))
_module_of, _bases_of = type.__dict__["__module__"], type.__dict__["__mro__"]


class _Missing(NamedTuple):
    """A name, and the module or the maker of the object that lacks it."""

    module: Optional[str]
    name: str


def find_missing_attribute(error: BaseException) -> Optional[Dict[str, str]]:
    """Return `{"library", "version", "name"}` if the student's own line used a name that an installed library lacks.

    Only Python's own exceptions are examined: reading an attribute of a student's class might run their code.
    """
    if type(error) not in _KINDS:
        return None
    frame = _asking_frame(error)
    if frame is None:
        return None
    missing = _missing(error, *frame)
    library = _library(missing.module) if missing is not None else None
    if missing is None or library is None:
        return None
    return {"library": library, "version": _version(library), "name": missing.name[:100]}


def _asking_frame(error: BaseException) -> Optional[Tuple[types.FrameType, int]]:
    """Return the last frame that does not look up attributes, and its line; None if it is not the student's."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name not in _LOOK_UPS:
            found = trace.tb_frame, trace.tb_lineno or 0
        trace = trace.tb_next
    return found if found is not None and sources.shown_name(found[0].f_code.co_filename) is not None else None


def _missing(error: BaseException, frame: types.FrameType, line: int) -> Optional[_Missing]:
    message = error.args[0] if error.args and type(error.args[0]) is str else ""
    if isinstance(error, TypeError):
        match = _NO_ARGUMENT.search(message)
        return _argument(match.group(1) or match.group(2), frame, line) if match else None
    if isinstance(error, ModuleNotFoundError):
        holder, _, name = _text(error.name).rpartition(".")
        return _Missing(holder, f"{holder}.{name}") if holder in sys.modules else None
    if isinstance(error, ImportError):
        match = _NO_NAME.search(message)
        return _of_module(match.group(2), match.group(1)) if match else None
    match = _NO_ATTRIBUTE.match(message)
    if match:
        return _of_module(match.group(1), match.group(2))
    name = _text(getattr(error, "name", None))  # since Python 3.10
    return _Missing(_maker(getattr(error, "obj", None)), name) if name else None


def _of_module(module: str, name: str) -> _Missing:
    return _Missing(module, f"{module}.{name}" if "." in module else name)


def _maker(value: object) -> Optional[str]:
    """Return the module in which a class, or the class of an object, was defined; None for data.

    Tables and tuples of libraries count as data, and so do objects of the standard library, such as a namespace of
    arguments: they lack only what was not put in.
    """
    kind = value if issubclass(type(value), type) else type(value)
    bases = [(_text(_module_of.__get__(base)), sources.name_of(base)) for base in _bases_of.__get__(kind)]
    holds_values = any(
        base in _DATA or (base[0] in ("builtins", "collections") and base[1] != "object") for base in bases
    )
    return None if holds_values or bases[0][0].partition(".")[0] in _STANDARD else bases[0][0]


def _argument(name: str, frame: types.FrameType, line: int) -> Optional[_Missing]:
    """Find the library function that was called with an argument of this name in this line."""
    for call in _calls_with(name, frame.f_code.co_filename, line):
        path = _path(call.func)
        found = _resolved(path, frame) if path else None
        if found is not None and _library(found) is not None:
            return _Missing(found, f"{path[-1]}({name}=…)")
    return None


def _calls_with(name: str, filename: str, line: int) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse("".join(linecache.getlines(filename)))):
        if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        if any(keyword.arg == name for keyword in node.keywords):
            yield node


def _path(node: ast.expr) -> List[str]:
    """Return `["np", "zeros"]` for the expression `np.zeros`; empty for what is not a path of names."""
    names: List[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else []


def _resolved(path: List[str], frame: types.FrameType) -> Optional[str]:
    """Return the module that defines the object at this path in the frame, without running any code."""
    missing = object()
    thing = frame.f_locals.get(path[0], frame.f_globals.get(path[0], missing))
    holder: Any = None
    for name in path[1:]:
        holder, thing = thing, inspect.getattr_static(thing, name, missing)
    if thing is missing:
        return None
    if issubclass(type(thing), (types.FunctionType, types.BuiltinFunctionType)):
        return _text(thing.__module__) or (holder.__name__ if type(holder) is types.ModuleType else None)
    return _maker(thing)


def _library(module: Optional[str]) -> Optional[str]:
    """Return the installed library, or "Python", that a module belongs to; None for the student's and the author's."""
    top = (module or "").partition(".")[0]
    if top in ("", "builtins", "__main__"):
        return None
    file = _text(getattr(sys.modules.get(top), "__file__", None))
    if sources.shown_name(file) is not None:
        return None
    if top in _STANDARD:
        return "Python"
    return top if "site-packages" in file or "dist-packages" in file else None


def _version(library: str) -> str:
    if library == "Python":
        return ".".join(str(part) for part in sys.version_info[:3])
    version = _text(getattr(sys.modules[library], "__version__", None))
    try:
        return (version or importlib.metadata.version(library))[:40]
    except importlib.metadata.PackageNotFoundError:
        return ""


def _text(value: object) -> str:
    """Return a plain str unchanged, and "" for anything else, even for a subclass of str."""
    return value if type(value) is str else ""
