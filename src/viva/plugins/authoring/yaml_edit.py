"""Add to a YAML file of the course and leave the rest of its text, comments included, as the author wrote it."""

import contextlib
import re
from collections.abc import Callable
from typing import Any, Final

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_ON_ONE_LINE: Final = 1_000_000


class NotEditable(ValueError):
    """The file has a form in which viva cannot find the place; the author adds the line."""


def with_item(text: str, key: str, item: str) -> str:
    """Return `text` with `item` added to the end of the list under a top-level `key`.

    Args:
        text: a YAML document that is a mapping.
        key: a key whose value is a list of plain scalars.
        item: the text to add.

    Raises:
        NotEditable: the list is not found, or the result would not be what was meant.
    """
    items = _value(_root(text), key)
    if not isinstance(items, SequenceNode):
        raise NotEditable(key)
    scalar = as_scalar(item)
    if items.flow_style:
        end = items.end_mark.index - 1
        before = text[:end].rstrip()
        space = "" if before.endswith("[") else " " if before.endswith(",") else ", "
        edited = before + space + scalar + text[end:]
    else:
        edited = _after_line(text, items.value[-1], f"{' ' * items.start_mark.column}- {scalar}")
    return _checked(text, edited, lambda document: document[key].append(item))


def with_entry(text: str, parents: tuple[str, ...], key: str, lines: list[str]) -> str:
    """Return `text` with an entry added to the end of a mapping, which is made where it is missing.

    Args:
        text: a YAML document that is a mapping, or empty.
        parents: the keys that lead to the mapping; at most one.
        key: the key of the new entry, which must not be there yet.
        lines: its lines without their indentation, beginning with the key.

    Raises:
        NotEditable: the mapping is not found, or the result would not be what was meant.
    """
    root = _root(text)
    mapping: Node | None = root
    for parent in parents:
        mapping = _value(root, parent)
    new = yaml.safe_load("\n".join(lines))
    if isinstance(mapping, MappingNode) and not mapping.flow_style:
        indent = " " * mapping.start_mark.column
        edited = _after_line(text, mapping.value[-1][1], "\n".join(indent + line for line in lines))
    elif mapping is None or (isinstance(mapping, ScalarNode) and not mapping.value):
        indented = ["  " * len(parents) + line for line in lines]
        if mapping is None:
            edited = "\n".join([text.rstrip("\n"), *(f"{p}:" for p in parents), *indented]).lstrip("\n") + "\n"
        else:
            edited = _after_line(text, mapping, "\n".join(indented))
    else:
        raise NotEditable(".".join(parents) or key)

    def add(document: dict[str, Any]) -> None:
        inner = document
        for parent in parents:
            inner = _entered(inner, parent)
        if key in inner:
            raise NotEditable(key)
        inner |= new

    return _checked(text, edited, add)


def as_scalar(text: str) -> str:
    """Return a text as YAML reads it back, with quotes where it needs them."""
    with contextlib.suppress(yaml.YAMLError):
        if yaml.safe_load(f"[{text}]") == [text] and yaml.safe_load(text) == text:
            return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=_ON_ONE_LINE).rstrip("\n")


def _entered(document: dict[str, Any], key: str) -> dict[str, Any]:
    if document.get(key) is None:
        document[key] = {}
    inner = document[key]
    assert isinstance(inner, dict)
    return inner


def _root(text: str) -> MappingNode | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise NotEditable(str(error)) from None
    if root is not None and not isinstance(root, MappingNode):
        raise NotEditable("the file")
    return root


def _value(mapping: Node | None, key: str) -> Node | None:
    if isinstance(mapping, MappingNode):
        for name, value in mapping.value:
            if isinstance(name, ScalarNode) and name.value == key:
                return value  # type: ignore[no-any-return]  # PyYAML types the pairs as Any
    return None


def _after_line(text: str, node: Node, line: str) -> str:
    """Put a line after the last line of a node, which may have a comment behind it."""
    end = text.rfind("\n", 0, node.end_mark.index)
    # A block ends where the next one begins; its own last line is the one before.
    last = node.end_mark.index if text[end + 1 : node.end_mark.index].strip() else max(end, node.start_mark.index)
    at = text.find("\n", last)
    head, tail = (text, "") if at < 0 else (text[:at], text[at:])
    newline = "\r\n" if "\r\n" in text else "\n"
    carriage = "\r" if head.endswith("\r") else ""
    head = head.removesuffix("\r")
    return head + newline + line.replace("\n", newline) + (carriage + tail if tail else newline)


def _checked(before: str, after: str, change: Callable[[dict[str, Any]], object]) -> str:
    """Return `after` if it says what `before` says, and the change."""
    try:
        wanted, got = yaml.safe_load(before) or {}, yaml.safe_load(after)
        change(wanted)
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise NotEditable(str(error)) from None
    if got != wanted:
        raise NotEditable(re.sub(r"\s+", " ", after)[:200])
    return after
