"""YAML read strictly and safely: plain data, duplicate keys refused, every value knows its line.

The same reader serves the course's own files and the answers of students, so it works on the parser's events with its
own stack: no object is ever built from a tag, nothing is repeated by an alias, and depth and size are bounded before
anything is built. A scalar means what a person expects: `no`, `1:30`, `010` and dates stay text, `1e-3` is a number, a
key is always the text that was written (`1.10` is not `1.1`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

MAX_CHARACTERS: Final = 256 << 10
MAX_DEPTH: Final = 24
MAX_VALUES: Final = 20_000
MAX_KEY: Final = 1024
"""Characters; as many as YAML allows for a key that is written without `?`."""

Path = tuple[str | int, ...]

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_WHOLE: Final = re.compile(r"[-+]?(0|[1-9][0-9]{0,39})")
_DECIMAL: Final = re.compile(r"[-+]?([0-9]{1,40}\.[0-9]{0,40}|\.[0-9]{1,40}|[0-9]{1,40}(?=[eE]))([eE][-+]?[0-9]{1,4})?")


class YamlProblem(Exception):
    """The reader does not accept the text: `line` (from 1, None if unknown) and `text`, a phrase for a person."""

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {text}" if line else text)
        self.text = text
        self.line = line


@dataclass(slots=True)
class Document:
    """What was read. A path is the keys and positions that lead to a value: `("limits", "load_s")`."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    """The line of each value, from 1; of a value with a key, the key's."""
    texts: dict[Path, str] = field(default_factory=dict)
    """The text of each scalar as it was written, before it became a number."""

    def line(self, path: Path) -> int | None:
        """Return the line of a value, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def read_yaml(text: str) -> Document:
    """Read one YAML document.

    Raises:
        YamlProblem: broken, too large or too deep, a duplicate key, an alias, an anchor or a tag.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlProblem(f"the text is longer than {MAX_CHARACTERS >> 10} KiB")
    builder = _Builder()
    for event in _events(text):
        builder.take(event)
    return builder.document


def scalar(text: str) -> str | int | float | bool | None:
    """Return what an unquoted scalar means: None, a bool, a number, or the text itself."""
    word = text.lower()
    if word in _WORDS and text in (word, word.capitalize(), word.upper()):
        return _WORDS[word]
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text


def _events(text: str) -> Iterator[Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblem(_in_words(error.problem or "broken"), mark.line + 1 if mark else None) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow; the reader tells its position only
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
        raise YamlProblem("there is a character that YAML does not allow", line) from None


def _in_words(problem: str) -> str:
    if "\\t" in problem or "tab" in problem or "cannot start any token" in problem:
        return f"invalid YAML: {problem}; indent with spaces, and put text that begins with a sign in quotes"
    return f"invalid YAML: {problem}"


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    value: Any
    path: Path
    key: str | None = None
    key_line: int = 0


class _Builder:
    """Builds plain data from events."""

    def __init__(self) -> None:
        self.document = Document()
        self._open: list[_Open] = []
        self._count = 0
        self._documents = 0

    def take(self, event: Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise YamlProblem("a second document begins here (`---`); write one", line)
        elif isinstance(event, CollectionEndEvent):
            self._open.pop()
        elif isinstance(event, NodeEvent):
            self._node(event, line)

    def _node(self, event: NodeEvent, line: int) -> None:
        self._count += 1
        if self._count > MAX_VALUES:
            raise YamlProblem(f"there are more than {MAX_VALUES:,} values", line)
        if isinstance(event, AliasEvent) or event.anchor:
            sign = "*" if isinstance(event, AliasEvent) else "&"
            raise YamlProblem(f"a text that begins with `{sign}` must be in quotes", line)
        if getattr(event, "tag", None):
            raise YamlProblem("a text that begins with `!` must be in quotes", line)
        container = self._open[-1] if self._open else None
        if container is not None and isinstance(container.value, dict) and container.key is None:
            self._take_key(container, event, line)
            return
        path = self._place(container)
        self.document.lines[path] = container.key_line if container is not None and container.key_line else line
        if isinstance(event, ScalarEvent):
            plain = event.implicit[0]
            self._put(container, scalar(event.value) if plain else event.value)
            self.document.texts[path] = event.value
            return
        value: Any = {} if isinstance(event, MappingStartEvent) else []
        assert isinstance(event, MappingStartEvent | SequenceStartEvent)  # every other node has been dealt with
        self._put(container, value)
        if len(self._open) >= MAX_DEPTH:
            raise YamlProblem(f"lists and mappings are nested deeper than {MAX_DEPTH} levels", line)
        self._open.append(_Open(value, path))

    def _take_key(self, container: _Open, event: NodeEvent, line: int) -> None:
        if not isinstance(event, ScalarEvent):
            raise YamlProblem("a key must be a text or a number; put it in quotes if it holds brackets or braces", line)
        if len(event.value) > MAX_KEY:
            raise YamlProblem(f"a key is longer than {MAX_KEY:,} characters", line)
        if event.value in container.value:
            first = self.document.lines[(*container.path, event.value)]
            raise YamlProblem(f"the key `{event.value}` is written twice (first in line {first})", line)
        container.key, container.key_line = event.value, line

    def _place(self, container: _Open | None) -> Path:
        if container is None:
            return ()
        here = container.key if isinstance(container.value, dict) else len(container.value)
        return (*container.path, here if here is not None else "")

    def _put(self, container: _Open | None, value: object) -> None:
        if container is None:
            self.document.value = value
        elif isinstance(container.value, dict):
            container.value[container.key] = value
            container.key = None
        else:
            container.value.append(value)
