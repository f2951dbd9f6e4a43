"""Reads what can be read of an `answers.yaml` that is not YAML: a broken line costs itself, not the other answers."""

import re
import textwrap
from typing import Final

from viva.config.strict_yaml import MAX_CHARACTERS, YamlProblem, read_yaml

ANSWERS: Final = "answers"
WRITTEN: Final = "written"
_QUESTION: Final = re.compile(
    rf"[\"'“”„‘’]?(?P<name>(?=[^:)=\n]{{0,60}}\d)\w[\w., ]{{0,60}}?|{ANSWERS}|{WRITTEN})[\"'“”„‘’]?"
    r"\s{0,9}[:)=](?P<rest>[^\n]*)"
)
_MOST: Final = 1000
"""Questions of a file."""
_LONGEST: Final = 5000
"""Characters of an answer that is not YAML."""
_ENDS: Final = "\"'`"


def read_line_by_line(text: str) -> dict[str, object] | None:
    """Return the answers of a text, each read by itself; one that is not YAML counts as the text after its name.

    A name that occurs twice has no answer: which one is meant is not known.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    return _read(textwrap.dedent(text.expandtabs(2)), is_section=False) or None


def merged_items(value: object) -> dict[str, object] | None:
    """Return a list such as `- 1.6: B` as one table; None if it is something else, or a name occurs twice."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    pairs = [pair for item in value for pair in item.items()]
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None


def _read(text: str, *, is_section: bool) -> dict[str, object]:
    values: dict[str, object] = {}
    twice: set[str] = set()
    for chunk in _chunks(text):
        match = _QUESTION.match(chunk)
        if match is None:
            continue
        name, rest, below = match["name"].strip(), match["rest"].strip(), chunk[match.end() :]
        if name in values:
            twice.add(name)
        elif name in (ANSWERS, WRITTEN) and not is_section and not rest:
            values[name] = _read(textwrap.dedent(below), is_section=True)
        else:
            values[name] = _value(rest, below)
    return {name: value for name, value in values.items() if name not in twice}


def _chunks(text: str) -> list[str]:
    """Return the text in pieces, each of which begins with a line that names a question."""
    chunks: list[list[str]] = []
    for line in text.splitlines():
        begins = _QUESTION.match(line) or (chunks and _is_answered(chunks[-1][0]) and _QUESTION.match(line.lstrip()))
        if begins and len(chunks) < _MOST:
            chunks.append([line.lstrip()])
        elif chunks:
            chunks[-1].append(line if line[:1].isspace() else f"  {line}")
    return ["\n".join(chunk) for chunk in chunks]


def _is_answered(line: str) -> bool:
    """Return whether the answer is on the line of the name, so that an indented line cannot belong to it."""
    match = _QUESTION.match(line)
    return match is not None and match["rest"].strip()[:1] not in ("", "|", ">", "[", "{")


def _value(rest: str, below: str) -> object:
    try:
        value: object = read_yaml(f"answer: {rest}{below}").value["answer"]
    except (YamlProblem, TypeError, KeyError):
        as_text = f"{rest}\n{textwrap.dedent(below)}".strip()
        if len(as_text) > _LONGEST:
            return None
        return as_text.strip(_ENDS) if "\n" not in as_text else as_text.removeprefix("|\n")
    return value
