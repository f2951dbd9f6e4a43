"""Mutants that may survive: the assignment lists each with a reason, and only those that do.

They are of two kinds, which are counted apart: provably equal to the right answer, or left open by the handout.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Final

from pydantic import PlainValidator, WithJsonSchema

from viva.config import Assignment
from viva.config.read_config import read_document
from viva.config.yaml_types import STRICT, Text
from viva.plugins.verify.mutants.mutant import Mutant

EQUIVALENT, LEFT_OPEN = "equivalent", "left_open"
FILE: Final = "equivalent_mutants.yaml"
ANYTHING: Final = "*"


def _read_lines(value: object) -> tuple[str, ...]:
    """Return one text, or a list of texts, as a tuple."""
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(t, str) for t in texts):
        raise ValueError("a line of source, or a list of them")
    return tuple(texts)


_TEXT: Final = {"type": "string"}
_LINES_SCHEMA: Final = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}


@dataclass(frozen=True, slots=True)
class EquivalentRow:
    """One line of a right answer, and the lines that may replace it; `*` matches anything."""

    __pydantic_config__ = STRICT

    file: Text
    function: Text
    was: Text
    becomes: Annotated[tuple[str, ...], PlainValidator(_read_lines), WithJsonSchema(_LINES_SCHEMA)]
    reason: Text
    left_open: bool = False
    """The reason says what the handout leaves open; otherwise, why both lines give the same."""

    def matches(self, mutant: Mutant) -> tuple[str, ...]:
        """Return which of the lines in `becomes` the mutant has."""
        same_place = fnmatchcase(mutant.file, self.file) and mutant.unit.name == self.function
        if not same_place or not _same(mutant.was, self.was):
            return ()
        return tuple(line for line in self.becomes if _same(mutant.becomes, line))


class EquivalentMutants:
    """The rows of one assignment, and which of them matched a survivor."""

    def __init__(self, rows: Iterable[EquivalentRow] = ()) -> None:
        self._rows = list(rows)
        self._used: set[tuple[int, str]] = set()

    def kind_of(self, mutant: Mutant) -> str:
        """Return `equivalent` or `left_open`, empty if it is not listed."""
        found = ""
        for number, row in enumerate(self._rows, 1):
            for line in row.matches(mutant):
                self._used.add((number, line))
                found = found or (LEFT_OPEN if row.left_open else EQUIVALENT)
        return found

    def __contains__(self, mutant: Mutant) -> bool:
        return bool(self.kind_of(mutant))

    def stale(self) -> list[str]:
        """Return a sentence for each row, or line of a row, that no survivor has matched."""
        return [
            f"{FILE}, row {number}: nothing that survives in {row.function} of {row.file} makes `{line}` of `{row.was}`"
            for number, row in enumerate(self._rows, 1)
            for line in row.becomes
            if (number, line) not in self._used
        ]


def read_equivalents(assignment: Assignment) -> EquivalentMutants:
    """Read what the assignment lists; nothing if it has no list.

    Raises:
        CourseError: the list cannot be read, or a row is wrong.
    """
    path: Path = assignment.folder / FILE
    if not path.is_file():
        return EquivalentMutants()
    document = read_document(path)
    written = document.document.value
    if written is None:
        return EquivalentMutants()
    if not isinstance(written, list):
        raise document.error((), "expected a list of rows {file, function, was, becomes, reason}.")
    rows = [document.read(EquivalentRow, (number,)) for number in range(len(written))]
    for number, row in enumerate(rows):
        if row.was == ANYTHING and not row.left_open:
            raise document.error(
                (number, "was"), "`*` is for what is left open; expected a line, or `left_open: true`."
            )
    return EquivalentMutants(rows)


def _same(source: str, row: str) -> bool:
    return row == ANYTHING or _without_white_space(source) == _without_white_space(row)


def _without_white_space(source: str) -> str:
    """Return source lines without the white space that a formatter may change."""
    return "".join(source.split())
