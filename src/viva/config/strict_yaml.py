"""YAML read strictly and safely: plain data, duplicate keys refused, every value knows its line.

The same reader serves the course's own files and the answers of students. So depth, size, tags and aliases are checked
on the parser's events before anything is built, and no object is ever built from a tag. A scalar means what a person
expects: `no`, `1:30`, `010` and dates stay text, `1e-3` is a number, a key is always the text that was written (`1.10`
is not `1.1`).
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, DocumentStartEvent, NodeEvent

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

    def add(self, node: yaml.Node, path: Path, line: int) -> object:
        """Return a node as plain data, and remember the lines and texts of it and of all that is in it."""
        self.lines[path] = line
        if isinstance(node, yaml.MappingNode):
            return self._add_mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.add(item, (*path, index), _line(item)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)  # no other kind is left
        self.texts[path] = node.value
        is_quoted = bool(node.style)
        return node.value if is_quoted else scalar(node.value)

    def _add_mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key_node, value_node in node.value:
            key, line = key_node.value, _line(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlProblem(
                    "a key must be a text or a number; put it in quotes if it holds brackets or braces", line
                )
            if len(key) > MAX_KEY:
                raise YamlProblem(f"a key is longer than {MAX_KEY:,} characters", line)
            if key in mapping:
                first = self.lines[(*path, key)]
                raise YamlProblem(f"the key `{key}` is written twice (first in line {first})", line)
            mapping[key] = self.add(value_node, (*path, key), line)
        return mapping


def read_yaml(text: str) -> Document:
    """Read one YAML document.

    Raises:
        YamlProblem: broken, too large or too deep, a duplicate key, an alias, an anchor or a tag.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlProblem(f"the text is longer than {MAX_CHARACTERS >> 10} KiB")
    try:
        _check_events(text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblem(_in_words(error.problem or "broken"), mark.line + 1 if mark else None) from None
    except yaml.YAMLError as error:  # a character that YAML does not allow; the reader tells its position only
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
        raise YamlProblem("there is a character that YAML does not allow", line) from None
    document = Document()
    if root is not None:
        document.value = document.add(root, (), _line(root))
    return document


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


def _check_events(text: str) -> None:
    """Check the size and the depth of a document, and that it has nothing that repeats or builds values."""
    depth = count = documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = _line(event)
        if isinstance(event, DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise YamlProblem("a second document begins here (`---`); write one", line)
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        elif isinstance(event, NodeEvent):
            count += 1
            depth += isinstance(event, CollectionStartEvent)
            _check_node(event, line)
        if count > MAX_VALUES:
            raise YamlProblem(f"there are more than {MAX_VALUES:,} values", line)
        if depth > MAX_DEPTH:
            raise YamlProblem(f"lists and mappings are nested deeper than {MAX_DEPTH} levels", line)


def _check_node(event: NodeEvent, line: int) -> None:
    if isinstance(event, AliasEvent):
        raise YamlProblem("a text that begins with `*` must be in quotes", line)
    if event.anchor:
        raise YamlProblem("a text that begins with `&` must be in quotes", line)
    if getattr(event, "tag", None):
        raise YamlProblem("a text that begins with `!` must be in quotes", line)


def _line(marked: Any) -> int:
    """Return the line at which an event or a node begins, from 1."""
    return marked.start_mark.line + 1 if marked.start_mark else 0


def _in_words(problem: str) -> str:
    if "\\t" in problem or "tab" in problem or "cannot start any token" in problem:
        return f"invalid YAML: {problem}; indent with spaces, and put text that begins with a sign in quotes"
    return f"invalid YAML: {problem}"
