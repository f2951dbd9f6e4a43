"""How to draw objects of the notebook's own classes: points, nodes of trees and lists, members of enumerations."""

import copy
import dataclasses
import enum
import inspect
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from viva.grading.functions import is_literal
from viva.plugins.authoring.solved.forms import Form, Slot, built_form, code
from viva.plugins.authoring.solved.network_code import is_network
from viva.plugins.authoring.solved.object_forms import FormOf
from viva.plugins.authoring.solved.recorded_run import Recorded

_MOST_LEAVES: Final = 6
_MOST_BRANCHES: Final = 3
_INNER: Final = "inner"
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")


def form_of_own_objects(values: Sequence[Any], form_of: FormOf, recorded: Recorded) -> Form | None:
    """Return how to draw objects of one class like these; None if how they are made cannot be told.

    Args:
        values: the objects, all of one class.
        form_of: how to draw what the class gets.
        recorded: the notebook's run, with what they were made from.
    """
    kind = type(values[0])
    if issubclass(kind, enum.Enum):
        members = [member.value for member in kind]
        return [f"built(key.{kind.__name__}, sampled_from({code(members)}))"] if is_literal(repr(members)) else None
    names = parameters(kind, values)
    if names is None or is_network(values[0]):
        return _as_they_were_made(values, form_of, recorded)
    everything = list(_with_inner(values, kind, names))
    fields = {name: [getattr(value, name) for value in everything] for name in names}
    links = {name: link for name, found in fields.items() if (link := _link(found, kind)) is not None}
    if not links:
        return _made(kind, [form_of(found, per_call=False) for found in fields.values()])
    drawn = {name: links[name] if name in links else form_of(found, per_call=False) for name, found in fields.items()}
    inner = _made(kind, drawn.values())
    if any(link == [_INNER] for link in links.values()):
        least: Form = ["none()"]
        whole: Form = [Slot([".filter(bool)", ""])]  # the smallest example is None
    else:
        least, whole = _made(kind, [["just([])"] if name in links else drawn[name] for name in drawn]), []
    return ["recursive(", *least, f", lambda {_INNER}: ", *inner, f", max_leaves={_MOST_LEAVES})", *whole]


def _as_they_were_made(values: Sequence[Any], form_of: FormOf, recorded: Recorded) -> Form | None:
    """Return how to draw objects by what each was made from, if they have not changed since."""
    kind = type(values[0])
    calls = [recorded.made[id(value)][1] for value in values if id(value) in recorded.made]
    if len(calls) < len(values) or not all(itertools.starmap(_is_as_made, zip(values, calls, strict=True))):
        return None
    passed = {name for call in calls for name in list(call.arguments)[1:]}
    found = [each for each in calls[0].signature.parameters.values() if each.name in passed]
    if not found or any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in found):
        return None
    parts: list[Form] = []
    for each in found:
        form = form_of([call.arguments.get(each.name, each.default) for call in calls], per_call=False)
        by_name = each.kind is each.KEYWORD_ONLY or each.default is not each.empty
        parts.append([f"{each.name}=" if by_name else "", *form])
    if is_network(values[0]):
        for slot in (piece for part in parts for piece in part if isinstance(piece, Slot)):
            without = [text for text in slot.options if not text.startswith("integers(0,")]
            slot.options = without or slot.options  # a layer of size 0 computes nothing
    return _made(kind, parts)


def _is_as_made(value: Any, call: inspect.BoundArguments) -> bool:
    """Return whether an object is as its class makes it; of a network, only the weights may have changed."""
    if is_network(value):
        return True
    try:
        fresh = type(value)(*copy.deepcopy(call.args[1:]), **copy.deepcopy(call.kwargs))
    except Exception:
        return False
    return _state(fresh) == _state(value)


def _state(value: Any) -> str:
    return _ADDRESS.sub("", repr(getattr(value, "__dict__", None)))


def _made(kind: type, parts: Iterable[Form]) -> Form:
    return built_form(f"key.{kind.__name__}", parts)


def parameters(kind: type, values: Sequence[Any]) -> list[str] | None:
    """Return the parameters of a class that its objects keep under the same names."""
    if issubclass(kind, tuple):
        return [*getattr(kind, "_fields", ())] or None
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.init and not field.kw_only]
    found = [p for p in inspect.signature(kind).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    kept = [p.name for p in found if all(hasattr(value, p.name) for value in values)]
    return kept if kept and [p.name for p in found[: len(kept)]] == kept and _rest_is_optional(found, kept) else None


def _rest_is_optional(found: Sequence[inspect.Parameter], kept: Sequence[str]) -> bool:
    return all(parameter.default is not parameter.empty for parameter in found[len(kept) :])


def _with_inner(values: Iterable[Any], kind: type, names: Sequence[str]) -> Iterator[Any]:
    """Yield objects, and those of the same class that they hold, each once."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        for name in names:
            held = getattr(value, name)
            waiting += [each for each in (held if isinstance(held, list) else [held]) if isinstance(each, kind)]


def _link(found: Sequence[object], kind: type) -> Form | None:
    """Return how to draw a field that holds an object of the same class, or a list of them; None for another one."""
    if any(isinstance(value, kind) for value in found) and all(value is None or type(value) is kind for value in found):
        return [_INNER]
    lists = [value for value in found if isinstance(value, list)]
    if len(lists) == len(found) and any(lists) and all(type(each) is kind for value in lists for each in value):
        return [f"sequences({_INNER}, (0, {_MOST_BRANCHES}))"]
    return None
