"""Where the student defined what a test called: `In [7], line 3`. No student code runs to find this out."""

import dataclasses
import types
from collections.abc import Iterable, Mapping
from typing import Final

from viva.model import Entry, Status

_MOST: Final = 4


def with_places(
    entry: Entry, called: Iterable[str], namespace: Mapping[str, object], cells: Mapping[str, str]
) -> Entry:
    """Return the entry with, if it lost points, a line for each called function that says where it is defined.

    Args:
        entry: as the examiner returned it.
        called: names in the submission that the test called.
        namespace: where they are looked up.
        cells: the display name of a piece of code, by its file name.
    """
    if not entry.status.is_wrong or not entry.cases:
        return entry
    places = [(name, place) for name in sorted(called) if (place := _place(_lookup(namespace, name), cells))]
    if not places:
        return entry
    definitions = "\n".join(f"`{name}` is defined in {place}." for name, place in places[:_MOST])
    losing = next((c for c in reversed(entry.cases) if c.status is not Status.PASSED), entry.cases[-1])
    message = f"{losing.message}\n{definitions}" if losing.message else definitions
    cases = tuple(dataclasses.replace(c, message=message) if c is losing else c for c in entry.cases)
    return dataclasses.replace(entry, cases=cases)


def _lookup(namespace: Mapping[str, object], name: str) -> object:
    """Return what a name, or a path of attributes of classes, is bound to; None if it cannot be found."""
    head, *rest = name.split(".")
    found = namespace.get(head)
    for part in rest:
        if not issubclass(type(found), type):
            return found
        found = type.__dict__["__dict__"].__get__(found).get(part)
    return found


def _place(value: object, cells: Mapping[str, str]) -> str:
    code = _code(value)
    name = cells.get(code.co_filename, "") if code is not None else ""
    return f"{name}, line {code.co_firstlineno}" if code is not None and name else ""


def _code(value: object) -> types.CodeType | None:
    """Return the code of a function, of the function that a decorator wraps, or of the first method of a class."""
    for _ in range(10):
        inner = vars(value).get("__wrapped__") if type(value) is types.FunctionType else None
        if inner is None:
            break
        value = inner
    if type(value) is staticmethod or type(value) is classmethod:
        value = value.__func__
    if type(value) is types.FunctionType:
        return value.__code__
    if issubclass(type(value), type):
        members = type.__dict__["__dict__"].__get__(value).values()
        codes = [member.__code__ for member in members if type(member) is types.FunctionType]
        return min(codes, key=lambda code: code.co_firstlineno, default=None)
    return None
