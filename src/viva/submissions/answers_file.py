"""Answers that are not code: `answers.yaml`, and prose under the headings of a notebook."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from viva.config.strict_yaml import MAX_CHARACTERS, Document, YamlProblem, read_yaml
from viva.submissions.answers_by_line import ANSWERS, WRITTEN, merged_items, read_line_by_line
from viva.submissions.decode_text import decode, without_surrogates
from viva.submissions.notebook_prose import written_in

__all__ = ["AnswersFile", "is_answers_file", "read_answers", "written_in"]

_LARGEST: Final = 4 * MAX_CHARACTERS
"""Bytes: UTF-8 and UTF-32 take four for a character at most."""
_NUMBER: Final = re.compile(r"(?:q|question|answer|task|exercise)?[\s_#-]*(\d+(?:\.\w+)*)[\s.):]*", re.IGNORECASE)
_LONGEST_NAME: Final = 300
"""Characters of the dotted name of a part, which repeats all names above it: together they would fill the memory."""


@dataclass(frozen=True, slots=True)
class AnswersFile:
    """What `answers.yaml` says, by question number as the student wrote it (`1.10` is not `1.1`)."""

    answers: Mapping[str, object]
    """Choices, numbers, formulas, tables: None, bool, int, float, str, and lists and dicts of them.

    A part of an answer can be found by its dotted name as well, where that is not too long: `1.4: {P1: 11/12}` holds
    `1.4` and `1.4.P1`.
    """
    written: Mapping[str, str]
    """Prose."""
    problem: str = ""
    """Why the file, or a line of it, could not be read, as a phrase for the student; empty when all of it could."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The text of an answer as the student wrote it (`0.50`), where it is a single text or number."""


def is_answers_file(path: str) -> bool:
    """Return whether a path is that of a file of answers, in any folder."""
    return path.rsplit("/", 1)[-1] in ("answers.yaml", "answers.yml")


def read_answers(data: bytes) -> AnswersFile:
    """Read the bytes of an `answers.yaml`; never raises.

    The answers are either at the top level (`"1.6": B`), or under `answers:` with prose under `written:`.
    """
    if len(data) > _LARGEST:
        return AnswersFile({}, {}, f"the file is larger than {_LARGEST >> 20} MiB")
    text, problem = _cleaned(decode(data)), ""
    try:
        document = read_yaml(text)
    except YamlProblem as found:
        document, problem = read_line_by_line(text), str(found)
    top = document.value
    if top is None:
        return AnswersFile({}, {}, problem)
    if isinstance(top, list | str) and (merged := merged_items(top) or read_line_by_line(text).value):
        top = merged
    if not isinstance(top, dict):
        return AnswersFile({}, {}, 'expected lines such as `"1.6": B`')
    answers, below = _answers(top)
    answers = _flattened(answers) | answers
    answers = _by_number(answers) | answers
    written = top.get(WRITTEN)
    return AnswersFile(
        problem=problem,
        answers=answers,
        written={
            number: _prose(document, number, value)
            for number, value in (written.items() if isinstance(written, dict) else ())
        },
        texts={
            ".".join(map(str, at[len(below) :])): text for at, text in document.texts.items() if _is_named(at, below)
        },
    )


def _answers(top: dict[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the answers and the path to them: those under `answers:` if there are any, else those at the top level."""
    inner = top.get(ANSWERS)
    if isinstance(inner, dict):
        return inner, (ANSWERS,)
    return {number: value for number, value in top.items() if number not in (ANSWERS, WRITTEN)}, ()


def _by_number(answers: Mapping[str, object]) -> dict[str, object]:
    """Return answers by the number alone where their names say more: "Q1.6" and "1.6)" are 1.6."""
    numbers = [(match[1], value) for name, value in answers.items() if (match := _NUMBER.fullmatch(name))]
    counts = Counter(number for number, _ in numbers)
    return {number: value for number, value in numbers if counts[number] == 1}


def _flattened(answers: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in answers.items():
        if prefix and len(prefix) + len(key) > _LONGEST_NAME:
            continue
        flat[prefix + key] = value
        if isinstance(value, dict):
            flat |= _flattened(value, f"{prefix}{key}.")
    return flat


def _is_named(at: tuple[str | int, ...], below: tuple[str, ...]) -> bool:
    """Return whether the value at this path is an answer, or a part of one whose name is not too long."""
    if at[: len(below)] != below or len(at) <= len(below) or at[0] == WRITTEN:
        return False
    inner = at[len(below) :]
    return len(inner) == 1 or sum(len(str(step)) + 1 for step in inner) - 1 <= _LONGEST_NAME


def _prose(document: Document, number: str, value: object) -> str:
    if isinstance(value, list):
        return "\n".join(str(line) for line in value)
    return document.texts.get((WRITTEN, number), "") if value is not None else ""


def _cleaned(text: str) -> str:
    """Remove what YAML refuses and no student means: control characters, no-break spaces, lone surrogates."""
    text = without_surrogates(text).replace("\u00a0", " ").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs", "Cn", "Co"))
