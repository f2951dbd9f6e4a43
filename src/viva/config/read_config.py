"""A course file becomes checked values, or one sentence: file, line, key, what was found, what is allowed.

What a file may hold is said by a dataclass: its fields are the keys, their types say what is allowed (`yaml_types.py`),
their docstrings are what an editor shows. pydantic reads them; the errors that it finds get the line of the file.
"""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from viva.config.strict_yaml import Document, YamlProblem, read_yaml
from viva.config.strict_yaml import Path as Place
from viva.model.errors import CourseError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound="DataclassInstance")
_UNKNOWN_KEY: Final = "unexpected_keyword_argument"
_PHRASES: Final = {
    "bool_type": "true or false",
    "tuple_type": "a list, such as [a, b]",
    "dict_type": "keys with values, such as {key: value}",
}
"""What is allowed in the words of YAML, by the type of pydantic's error, whose messages use those of JSON."""
_BOUNDS: Final = ("greater_than_equal", "less_than_equal")


@dataclass(frozen=True, slots=True)
class CourseDocument:
    """A YAML file of the course that could be read; its keys are checked by `read`."""

    path: Path
    document: Document

    def read(self, model: type[Model], at: Place = ()) -> Model:
        """Return the mapping at `at` as an instance of a dataclass, defaults filled in.

        Raises:
            CourseError: an unknown key, a missing one, or a value that is not allowed.
        """
        # Strict as pydantic's reader of JSON is: no text becomes a number, but a list becomes a tuple.
        value = json.dumps(self._value(at))
        adapter: TypeAdapter[Model] = _adapter(model)
        try:
            return adapter.validate_json(value)
        except ValidationError as error:
            found = error.errors(include_url=False)
        # An unknown key is often the misspelled name of one that is missing.
        unknown = [detail for detail in found if detail["type"] == _UNKNOWN_KEY]
        raise self._explain((unknown or found)[0], model, at)

    def error(self, at: Place, text: str) -> CourseError:
        """Return an error about the value at `at`: file, line, dotted key, and what `text` says."""
        line = self.document.line(at)
        place = f"{self.path}:{line}" if line else str(self.path)
        if at:
            key = ".".join(str(step) for step in at)
            place = f"{place}: {key}"
        return CourseError(f"{place}: {text}")

    def _explain(self, detail: "ErrorDetails", model: type[Model], at: Place) -> CourseError:
        """Return pydantic's error as a sentence."""
        kind, steps = detail["type"], detail["loc"]
        place = self._place(at, steps)
        if kind == "missing":
            return self.error((*place, steps[-1]), "this key is needed and is missing.")
        if kind == _UNKNOWN_KEY:
            return self.error(place, f"there is no such key{suggest(str(steps[-1]), _keys_at(model, steps[:-1]))}")
        if kind == "value_error":
            expected = str(detail["ctx"]["error"])
        elif kind == "dataclass_type":
            expected = f"keys with values, from these: {', '.join(_keys_at(model, steps))}"
        else:
            message = detail["msg"].removeprefix("Input should be ")
            expected = _PHRASES.get(kind, f"a number {message}" if kind in _BOUNDS else message)
        written = str(detail["input"]) if steps[-1:] == ("[key]",) else self.document.texts.get(place, "")
        found = f"`{written[:80]}`" if written else _found(self._value(place))
        return self.error(place, f"found {found}, expected {expected}.")

    def _place(self, at: Place, steps: tuple[str | int, ...]) -> Place:
        """Return the way to the value of an error; steps that are not in the file are pydantic's names of variants."""
        value, place = self._value(at), at
        for step in steps:
            is_key = isinstance(value, dict) and step in value
            if is_key or (isinstance(value, list) and isinstance(step, int)):
                value = value[step]
                place = (*place, step)
        return place

    def _value(self, at: Place) -> Any:
        value = self.document.value
        for step in at:
            value = value[step]
        return value


def read_document(path: Path) -> CourseDocument:
    """Read a YAML file of the course.

    Raises:
        CourseError: it is missing, unreadable or no YAML.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise CourseError(f"{path} does not exist.") from None
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8.") from None
    try:
        return CourseDocument(path, read_yaml(text))
    except YamlProblem as problem:
        place = f"{path}:{problem.line}" if problem.line else str(path)
        raise CourseError(f"{place}: {problem.text}.") from None


def suggest(word: str, there: Sequence[str]) -> str:
    """Return the end of a sentence about a name that does not exist: what was meant, or else what there is."""
    close = difflib.get_close_matches(word, there, 1, 0.6)
    return f"; did you mean `{close[0]}`?" if close else f"; there are: {', '.join(there) or 'none'}."


def values_of(instance: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a dataclass by name; unlike `asdict`, not those of its values."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


@cache
def _adapter(model: type[Model]) -> TypeAdapter[Model]:
    return TypeAdapter(model)


def _keys_at(model: type["DataclassInstance"], steps: tuple[str | int, ...]) -> list[str]:
    """Return the keys that a mapping may have, found by the keys that lead to it."""
    classes = [model]
    for step in steps:
        types = [field.type for each in classes for field in fields(each) if field.name == step]
        inner = [each for kind in types for each in _classes_in(kind)]
        classes = inner or classes
    return list(dict.fromkeys(field.name for each in classes for field in fields(each)))


def _classes_in(kind: Any) -> Iterator[type["DataclassInstance"]]:
    """Yield the dataclasses of which a type is made."""
    if isinstance(kind, type) and is_dataclass(kind):
        yield kind
    for part in get_args(kind):
        yield from _classes_in(part)


def _found(value: object) -> str:
    if value is None or value == "":
        return "nothing"
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    return f"`{str(value)[:80]}`"
