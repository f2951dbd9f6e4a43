"""The form of an answer by hand, as `answers:` of assignment.yaml declares it for students, tests and markers."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from viva.model.counting import counted

Kind = Literal["choice", "choices", "number", "formula", "order", "table", "matrix", "numbers", "texts", "runs", "text"]

EXPECTED: Final = (
    "a form of answer, such as `choice [first, second]`, `choices [A, B, C]`, `number`, `formula in d, h`, "
    "`order in n, d`, `table 9x9`, `matrix 3x3`, `list of numbers`, `list of 3 texts`, `list of runs` or `text`; "
    "what follows a semicolon is shown to students"
)
_CHOICE: Final = re.compile(r"(?P<kind>choices?)\s*\[(?P<options>[^\[\],]+(?:,[^\[\],]+)*)\]")
_FORMULA: Final = re.compile(r"(?P<kind>formula|order)\s+in\s+(?P<letters>\w+(?:\s*,\s*\w+)*)")
_TABLE: Final = re.compile(r"(?P<kind>table|matrix)(?:\s+(?P<rows>[1-9]\d{0,2})\s*x\s*(?P<columns>[1-9]\d{0,2}))?")
_LIST: Final = re.compile(r"list\s+of\s+(?:(?P<length>[1-9]\d{0,2})\s+)?(?P<items>number|text)s?")
_WORDS: Final[dict[str, Kind]] = {"number": "number", "text": "text", "list of runs": "runs"}


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What an answer by hand must look like; what it must say is known to the tests alone."""

    kind: Kind
    options: tuple[str, ...] = ()
    """Of a choice, in the spelling that tests compare."""
    letters: tuple[str, ...] = ()
    """Of a formula or an order of growth."""
    size: tuple[int, int] | None = None
    """Rows and columns of a table or matrix; None for any size."""
    length: int | None = None
    """Of a list; None for any length."""
    note: str = ""
    """What students are told besides."""

    @property
    def description(self) -> str:
        """Return the form as students read it: "first or second", "a formula in d and h"."""
        match self.kind:
            case "choice":
                return _listed(self.options, "or")
            case "choices":
                return f"one or several of {', '.join(self.options)}"
            case "formula" | "order":
                what = "a formula" if self.kind == "formula" else "an order such as O(…)"
                return f"{what} in {_listed(self.letters, 'and')}"
            case "table":
                return f"a table of {self._sizes('cell')}, a row per line"
            case "matrix":
                return self._sizes("number")
            case "numbers":
                return self._length("number")
            case "texts":
                return self._length("text")
            case "runs":
                return "a list of runs, each with its values by name"
            case "number":
                return "a number or a fraction"
            case "text":
                return "a text"

    def _sizes(self, unit: str) -> str:
        if self.size is None:
            return f"rows of {unit}s"
        rows, columns = self.size
        return f"{counted(rows, 'row')} of {counted(columns, unit)}"

    def _length(self, unit: str) -> str:
        return f"a list of {unit}s" if self.length is None else f"a list of {counted(self.length, unit)}"


def parse_form(text: str) -> AnswerForm:
    """Return the form that a text of assignment.yaml declares.

        parse_form("choice [first, second]")
        parse_form("formula in T, m; of one layer")

    Raises:
        ValueError: it declares none; `EXPECTED` says what can be declared.
    """
    declared, _, note = (part.strip() for part in text.partition(";"))
    if match := _CHOICE.fullmatch(declared):
        kind: Kind = "choice" if match["kind"] == "choice" else "choices"
        return AnswerForm(kind, options=_names(match["options"]), note=note)
    if match := _FORMULA.fullmatch(declared):
        kind = "formula" if match["kind"] == "formula" else "order"
        return AnswerForm(kind, letters=_names(match["letters"]), note=note)
    if match := _TABLE.fullmatch(declared):
        kind = "table" if match["kind"] == "table" else "matrix"
        size = (int(match["rows"]), int(match["columns"])) if match["rows"] else None
        return AnswerForm(kind, size=size, note=note)
    if match := _LIST.fullmatch(declared):
        kind = "numbers" if match["items"] == "number" else "texts"
        return AnswerForm(kind, length=int(match["length"]) if match["length"] else None, note=note)
    if declared in _WORDS:
        return AnswerForm(_WORDS[declared], note=note)
    raise ValueError(EXPECTED)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _listed(words: tuple[str, ...], last: str) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
