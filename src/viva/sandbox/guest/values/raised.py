"""Describes an exception in the student's code as plain data: its type, its message, and the student's own lines."""

from __future__ import annotations

import collections
import sys
from typing import Deque, Dict, List, Optional, TypedDict

from ..loading import sources
from ..loading.missing_attributes import find_missing_attribute
from ..process.alarm import SoftTimeout, within

_MOST_FRAMES = 12
_LONGEST_MESSAGE = 1000
_MESSAGE_S = 0.5
"""Counted seconds for the student's own `__str__`."""
traceback_of = BaseException.__dict__["__traceback__"].__get__
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Unable to allocate")


class Raised(TypedDict, total=False):
    """An exception as `describe` returns it; where it was raised in a file, with its `line` there."""

    type: str
    message: str
    frames: List[List[object]]
    missing_module: Optional[str]
    lacking: Optional[Dict[str, str]]
    limit: Optional[str]
    line: Optional[int]


class Forbidden(ImportError):
    """The assignment forbids what the student's code tried to use."""


def describe(error: BaseException) -> Raised:
    """Return `{"type", "message", "frames", "missing_module", "lacking", "limit"}`; never raises.

    `frames` are `[file, line, function, text of the line]` of the student's own files and cells, the last 12;
    `lacking` is the name that an installed library lacks, as missing_attributes.py returns it;
    `limit` is "time", "memory" or "recursion" if a limit of the box was the cause.
    """
    try:
        message = str(error) if type(error) is SoftTimeout else within(_MESSAGE_S, lambda: _message(error))
    except BaseException:
        message = "(its message cannot be shown)"
    try:
        frames = _frames(error)
    except BaseException:
        frames = []
    try:
        missing_attribute = find_missing_attribute(error)
    except BaseException:
        missing_attribute = None
    return {
        "type": _type_name(error),
        "message": message,
        "frames": frames,
        "missing_module": _missing_module(error),
        "lacking": missing_attribute,
        "limit": _limit(error, message),
    }


def _is(error: BaseException, kind: type) -> bool:
    """Return whether `error` is a `kind`; isinstance would call the student's `__class__`."""
    return issubclass(type(error), kind)


_NAMES = ((SoftTimeout, "TimeoutError"), (MemoryError, "MemoryError"), (Forbidden, "ImportError"))


def _type_name(error: BaseException) -> str:
    for kind, name in _NAMES:
        if _is(error, kind):
            return name
    return sources.name_of(type(error))


def _message(error: BaseException) -> str:
    if _is(error, SyntaxError) and isinstance(error, SyntaxError) and error.lineno:
        version = ".".join(map(str, sys.version_info[:2]))
        where = f"line {error.lineno}; graded with Python {version}, which lacks the syntax of later versions"
        return f"{error.msg} ({where})"[:_LONGEST_MESSAGE]
    if _is(error, SystemExit) and isinstance(error, SystemExit):
        return f"the code called exit({'' if error.code is None else repr(error.code)})"[:_LONGEST_MESSAGE]
    message = str.__str__(str(error))
    if _is(error, ImportError) and isinstance(error, ImportError) and type(error.path) is str:
        message = message.replace(f" ({error.path})", "")  # a path of this machine
    return message[:_LONGEST_MESSAGE]


def _limit(error: BaseException, message: str) -> Optional[str]:
    if _is(error, SoftTimeout):
        return "time"
    if _is(error, RecursionError):
        return "recursion"
    if _is(error, MemoryError):
        return "memory"
    # torch raises a RuntimeError
    return "memory" if _is(error, RuntimeError) and any(phrase in message for phrase in _OUT_OF_MEMORY) else None


def _missing_module(error: BaseException) -> Optional[str]:
    """Return the name of a module that does not exist, but not a name that an existing module lacks."""
    if _is(error, ModuleNotFoundError) and isinstance(error, ImportError) and issubclass(type(error.name), str):
        return str.__str__(str(error.name))[:100]
    return None


def _frames(error: BaseException) -> List[List[object]]:
    found: Deque[List[object]] = collections.deque(maxlen=_MOST_FRAMES)
    trace = traceback_of(error)
    while trace is not None:
        code = trace.tb_frame.f_code
        name = sources.shown_name(code.co_filename)
        if name is not None:
            line = trace.tb_lineno or 0
            found.append([name, line, code.co_name, sources.line_of(code.co_filename, line)])
        trace = trace.tb_next
    if _is(error, SyntaxError) and isinstance(error, SyntaxError) and type(error.filename) is str:
        name = sources.shown_name(error.filename)
        if name is not None and type(error.lineno) is int:
            found.append([name, error.lineno, "", sources.line_of(error.filename, error.lineno)])
    return list(found)
