"""A course file becomes checked values, or one sentence: file, line, key, what was found, what is allowed.

What a file may hold is said by a dataclass: its fields are the keys, their types say what is allowed (`yaml_types.py`),
their docstrings are what an editor shows. pydantic reads the same classes (`json_schema.py`). Classes that are read and
converted at once have no `eq` and no `repr`: making these takes longer than reading the file.
"""

import difflib
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, Union, get_args, get_origin

from viva.config.strict_yaml import Document, YamlProblem, read_yaml
from viva.config.strict_yaml import Path as Place
from viva.config.yaml_types import Expected, Imported, Kind, one_of
from viva.model.errors import CourseError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Model = TypeVar("Model", bound="DataclassInstance")


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
        given = self._value(at)
        keys = {field.name: field.type for field in fields(model)}
        needed = [f.name for f in fields(model) if f.default is MISSING and f.default_factory is MISSING]
        if not isinstance(given, dict):
            expected = f"keys with values, such as {{{next(iter(keys))}: …}}"
            raise self._unlike(at, f"{expected} (needed: {', '.join(needed)})" if needed else expected)
        for name in given:
            if name not in keys:
                raise self.error((*at, name), f"there is no such key{suggest(name, list(keys))}")
        values = {}
        for name, kind in keys.items():
            if name in given:
                values[name] = self._read(kind, (*at, name))
            elif name in needed:
                raise self.error((*at, name), "this key is needed and is missing.")
        return model(**values)

    def error(self, at: Place, text: str) -> CourseError:
        """Return an error about the value at `at`: file, line, dotted key, and what `text` says."""
        line = self.document.line(at)
        place = f"{self.path}:{line}" if line else str(self.path)
        return CourseError(": ".join([place, *([".".join(str(step) for step in at)] if at else []), text]))

    def _read(self, kind: Any, at: Place) -> object:
        """Return the value at `at` as its type says."""
        origin, of = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(of[0], of[1], at)
        if origin in (Union, UnionType):  # the other member is None
            return None if self._value(at) is None else self._read(of[0], at)
        if origin is tuple:
            return self._elements(of[0], at)
        if origin is dict:
            return self._entries(of[0], of[1], at)
        if kind is bool or of:
            return self._scalar(_TRUTH if kind is bool else one_of(*of), at)
        return self.read(kind, at)

    def _annotated(self, kind: object, how: Kind | Imported | str, at: Place) -> object:
        if isinstance(how, Kind):
            return self._scalar(how, at)
        return self.read(how.load(), at) if isinstance(how, Imported) else self._either(kind, how, at)

    def _scalar(self, kind: Kind, at: Place) -> object:
        try:
            return kind.read(self._value(at))
        except Expected as error:
            raise self._unlike(at, str(error)) from None

    def _either(self, kinds: object, expected: str, at: Place) -> object:
        """Return a list or a mapping, whichever is written; for anything else, the error says `expected`."""
        listed, keyed = get_args(kinds)
        value = self._value(at)
        if isinstance(value, dict):
            return self._read(keyed, at)
        if isinstance(value, list) and value:
            return self._read(listed, at)
        raise self._unlike(at, expected)

    def _elements(self, kind: object, at: Place) -> tuple[object, ...]:
        """Return a list: of mappings at least one, of anything else each once."""
        values, of_mappings = self._value(at), get_origin(kind) is None
        if not isinstance(values, list) or (of_mappings and not values):
            raise self._unlike(at, "a list with at least one element" if of_mappings else "a list, such as [a, b]")
        read: list[object] = []
        for index in range(len(values)):
            value = self._read(kind, (*at, index))
            if not of_mappings and value in read:
                raise self._unlike((*at, index), "each element once")
            read.append(value)
        return tuple(read)

    def _entries(self, key: object, kind: object, at: Place) -> dict[str, object]:
        values = self._value(at)
        if not isinstance(values, dict):
            raise self._unlike(at, "keys with values, such as {key: value}")
        for name in values if get_args(key) else ():
            try:
                get_args(key)[1].read(name)
            except Expected as error:
                raise self.error((*at, name), f"found `{name}`, expected {error}.") from None
        return {name: self._read(kind, (*at, name)) for name in values}

    def _unlike(self, at: Place, expected: str) -> CourseError:
        written = self.document.texts.get(at, "")
        found = f"`{written[:80]}`" if written else _found(self._value(at))
        return self.error(at, f"found {found}, expected {expected}.")

    def _value(self, at: Place) -> object:
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


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise Expected("true or false")
    return value


def _found(value: object) -> str:
    if value is None or value == "":
        return "nothing"
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    return f"`{str(value)[:80]}`"


_TRUTH: Final = Kind(_truth, {"type": "boolean"})
