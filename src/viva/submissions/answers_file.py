"""Answers by the number of their question: `answers.yaml`, and tables like it in code (`answers = {...}`)."""

import ast
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from viva.config.strict_yaml import MAX_CHARACTERS, YamlProblem, read_yaml
from viva.submissions.answers_by_line import ANSWERS, WRITTEN, merged_items, read_line_by_line
from viva.submissions.code_names import NOT_PYTHON, syntax_trees, with_trees
from viva.submissions.decode_text import decode, without_surrogates
from viva.submissions.notebook_prose import Number, number_of

_LARGEST: Final = 4 * MAX_CHARACTERS
"""Bytes: UTF-8 and UTF-32 take four for a character at most."""
_LONGEST_NAME: Final = 300
"""Characters of the dotted name of a part, which repeats all names above it: together they would fill the memory."""
_QUOTES: Final = '"“”„‟«»' + "'‘’‚‛`"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AnswersFile:
    """What `answers.yaml` says, by question number as the student wrote it (`1.10` is not `1.1`)."""

    answers: Mapping[str, object]
    """Choices, numbers, formulas, tables: None, bool, int, float, str, and lists and dicts of them.

    A part of an answer can be found by its dotted name as well, where that is not too long: `1.4: {P1: 11/12}` holds
    `1.4` and `1.4.P1`.
    """
    written: Mapping[str, object]
    """The same of what is under `written:`."""
    problem: str = ""
    """Why the file, or a line of it, could not be read, as a phrase for the student; empty when all of it could."""
    names: tuple[str, ...] = ()
    """The names of all answers as they are written, without those of their parts."""


def read_answers(data: bytes) -> AnswersFile:
    """Read the bytes of an `answers.yaml`; never raises.

    The answers are at the top level (`"1.6": B`) or under `answers:`, with prose under `written:`.
    """
    if len(data) > _LARGEST:
        return AnswersFile({}, {}, f"the file is larger than {_LARGEST >> 20} MiB")
    text, problem = _cleaned(decode(data)), ""
    try:
        top = read_yaml(text).value
    except YamlProblem as found:
        top, problem = read_line_by_line(text), str(found)
    if top is None:
        return AnswersFile({}, {}, problem)
    if isinstance(top, list | str) and (merged := merged_items(top) or read_line_by_line(text)):
        top = merged
    if not isinstance(top, dict):
        return AnswersFile({}, {}, 'expected lines such as `"1.6": B`')
    answers: dict[str, object] = {}
    written: dict[str, object] = {}
    for name, value in top.items():
        inner = value if isinstance(value, dict) else merged_items(value)
        section = name.strip(f"{_QUOTES} ").lower()
        if section not in (ANSWERS, WRITTEN):
            answers[name] = value
        elif inner is not None:
            (answers if section == ANSWERS else written).update(inner)
        elif value is not None:
            answers[name] = value
    return AnswersFile(_flattened(answers), _flattened(written), problem, (*answers, *written))


def find(table: Mapping[str, T], number: str) -> T | None:
    """Return the value for a question: under its number as it stands, or else under one name that means it.

    `Q1.6`, `1,6` and `“1.6”` mean 1.6. None if no name does, or several do.
    """
    if table.get(number) is not None:
        return table[number]
    wanted: Number = number_of(number)
    found = [value for name, value in table.items() if value is not None and number_of(name) == wanted]
    return found[0] if len(found) == 1 else None


def as_text(value: object) -> str:
    """Return an answer in words: a text, or a list of its lines; "" for a table."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None or isinstance(value, dict) else str(value)


def _flattened(answers: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in answers.items():
        if prefix and len(prefix) + len(key) > _LONGEST_NAME:
            continue
        flat[prefix + key] = value
        if isinstance(value, dict):
            flat |= _flattened(value, f"{prefix}{key}.")
    return flat


def _cleaned(text: str) -> str:
    """Remove what YAML refuses and no student means: control characters, no-break spaces, lone surrogates."""
    text = without_surrogates(text).replace("\u00a0", " ").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs", "Cn", "Co"))


def answers_in_code(texts: Sequence[str], table: str = ANSWERS) -> dict[str, object]:
    """Return every answer that is written into the table `answers` or `written`, by its key as a text.

    A second table replaces the first one where the code runs; here it only adds to it.
    """
    return with_trees(_answers_in, texts, table, returns=dict[str, object], unreadable={})


def _answers_in(texts: Sequence[str], table: str) -> dict[str, object]:
    found: dict[str, object] = {}
    trees = syntax_trees([NOT_PYTHON.sub("", text) for text in texts])
    for node in (node for tree in trees if isinstance(tree, ast.Module) for node in tree.body):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
            continue
        if table in {target.id for target in node.targets if isinstance(target, ast.Name)}:
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant):
                    found |= {str(key.value): plain for plain in _plain(value)}
    return found


def _plain(node: ast.expr) -> Iterator[object]:
    """Yield the value if it is a text, a number, True, False or None, or a list of these."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return
    parts = value if isinstance(value, list) else [value]
    if all(part is None or isinstance(part, bool | int | float | str) for part in parts):
        yield value
