"""A course file becomes checked values, or one sentence: file, line, key, what was found, what is allowed."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viva.config.checks import Expected, Key, Required, Table, mapping
from viva.config.strict_yaml import Document, YamlProblem, read_yaml
from viva.config.strict_yaml import Path as Place
from viva.model.errors import CourseError


@dataclass(frozen=True, slots=True)
class CourseDocument:
    """A YAML file of the course that could be read; its keys are checked by `table`."""

    path: Path
    document: Document

    def table(self, table: Table, at: Place = ()) -> dict[str, Any]:
        """The checked values of the mapping at `at`, defaults filled in; nested tables become nested dicts.

        Raises:
            CourseError: an unknown key, a missing one, or a value that is not allowed.
        """
        given = self._value(at)
        try:
            given = mapping(given)
        except Expected as error:
            needed = [name for name, key in table.items() if isinstance(key, Key) and key.default is Required]
            raise self.error(
                at, f"found {_found(given)}, expected {error} (needed: {', '.join(needed) or 'none'})."
            ) from None
        for name in given:
            if name not in table:
                raise self.error((*at, name), f"there is no such key{suggest(name, list(table))}")
        return {name: self._checked(key, given, (*at, name)) for name, key in table.items()}

    def error(self, at: Place, text: str) -> CourseError:
        """An error about the value at `at`: file, line, dotted key, and what `text` says."""
        line = self.document.line(at)
        place = f"{self.path}:{line}" if line else str(self.path)
        return CourseError(": ".join([place, *([".".join(str(step) for step in at)] if at else []), text]))

    def _checked(self, key: Key | Table, given: Mapping[str, Any], at: Place) -> Any:
        name = at[-1]
        if isinstance(key, Mapping):
            return self.table(key, at) if name in given else {n: _default(k) for n, k in key.items()}
        if name not in given:
            if key.default is Required:
                raise self.error(at, "this key is needed and is missing.")
            return key.default
        try:
            return key.check(given[str(name)])
        except Expected as error:
            where = at if error.index is None else (*at, error.index)
            written = self.document.texts.get(where, "")
            found = f"`{written[:80]}`" if written else _found(self._value(where))
            raise self.error(where, f"found {found}, expected {error}.") from None

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
    """The end of a sentence about a name that does not exist: what was meant, or else what there is."""
    close = difflib.get_close_matches(word, there, 1, 0.6)
    return f"; did you mean `{close[0]}`?" if close else f"; there are: {', '.join(there) or 'none'}."


def _default(key: Key | Table) -> Any:
    return {n: _default(k) for n, k in key.items()} if isinstance(key, Mapping) else key.default


def _found(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    return f"`{str(value)[:80]}`"
