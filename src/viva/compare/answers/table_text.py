"""Reads a table into rows of short texts with labels: rows of digits, Markdown, CSV, aligned text, lists, arrays."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from viva.compare.answers.characters import latin, plain_signs
from viva.compare.answers.unreadable import Unreadable
from viva.compare.masks import VERY_NEGATIVE
from viva.compare.normalize import plain
from viva.compare.show import show

_USUAL: Final = ("0", "1", "-inf", "x", "✓")
_NUMBER: Final = re.compile(r"[-+]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})(e[-+]?\d{1,2})?")
CELLS: Final = 10_000
"""Cells and labels that a table may have."""
_LENGTH: Final = 100_000
_RULE: Final = frozenset(" \t|:+=*_-")
_BRACKETS: Final = re.compile(r"[\[\](){}]")
_LIST: Final = re.compile(
    r"(?:array|tensor)?[\s\[\](),.;01]*(?:(?:true|false|inf|dtype=\w+\b|[-+e2-9])[\s\[\](),.;01]*)*", re.I
)
_INNER_LIST: Final = re.compile(r"\[([^\[\]]*)\]")
_SEPARATORS: Final = ("|", "\t", "&", ";", ",")
_DIGIT, _LARGEST = 9, 10**40
_TOGETHER: Final = frozenset("01")
"""Cells that may follow each other without a space."""
_TWO: Final = 2
MARKS: Final = {
    **dict.fromkeys(("0", "o", "false", "visible"), "0"),
    **dict.fromkeys(("1", "l", "true", "masked"), "1"),
    **dict.fromkeys(
        ("-inf", "-.inf", "-∞", "-infinity", "-infty", "float(-inf)", "-float(inf)", "-np.inf", "-torch.inf"), "-inf"
    ),
    **dict.fromkeys(("x", "✗", "✘"), "x"),
    **dict.fromkeys(("✓", "✔"), "✓"),
    "": "",
}
"""Spellings of the symbols in masks; a look-alike letter counts as its digit."""


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Cells as normalised texts; labels are empty where there are none."""

    cells: tuple[tuple[str, ...], ...]
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns without labels."""
        return len(self.cells), len(self.cells[0]) if self.cells else 0


def read_table(value: object) -> Table:
    """Read a table.

    Raises:
        Unreadable: no table: rows of different lengths, too many cells, or nothing at all.
    """
    value = plain(value)
    if isinstance(value, str):
        return _labelled(_lines(value))
    if isinstance(value, np.ndarray):
        if value.ndim != 2 or value.size > CELLS:
            raise Unreadable(f"it has the shape {value.shape}; a table has rows and columns")
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise Unreadable("write its rows below each other, or as a list of rows")
    rows = [plain(row) for row in value[: CELLS + 1]]
    if any(type(row) is int and _DIGIT < row < _LARGEST for row in rows):  # YAML reads 110000000 as a number
        rows = [str(row) if type(row) is int and 0 <= row < _LARGEST else row for row in rows]
    texts = [row for row in rows if isinstance(row, str)]
    if rows and len(texts) == len(rows):
        return _labelled(_lines("\n".join(text[:_LENGTH] for text in texts[:1000])))
    return _labelled([_row(row) for row in rows])


def _row(row: object) -> list[str]:
    row = plain(row)
    if isinstance(row, np.ndarray):
        row = row.tolist()
    if isinstance(row, str):
        return next(iter(_lines(row)), [])
    if not isinstance(row, list | tuple) or len(row) > CELLS:
        raise Unreadable("write each of its rows as a list of cells")
    return [_written(plain(cell))[:100] if plain(cell) is not None else "" for cell in row]


def _written(value: object) -> str:
    """Return the text of a cell or label."""
    try:
        return str(value)
    except ValueError:  # a whole number of more than 4,300 digits, which Python does not write out
        return show(value)


def _lines(text: str) -> list[list[str]]:
    """Return the cells of every line; the whole table has one separator, the strongest that occurs."""
    if len(text) > _LENGTH:
        raise Unreadable("it is too long for a table")
    if "[" in text and _LIST.fullmatch(text):
        return [_split(row, "," if "," in row else None) for row in _INNER_LIST.findall(text)]
    lines = [line for line in text.splitlines() if line.strip(" \t`")]
    if (together := _split_marks(lines)) is not None:
        return together
    lines = [line for line in lines if not _is_rule(line)]
    separator = next((s for s in _SEPARATORS if sum(s in line for line in lines) * 2 > len(lines)), None)
    return [_split(line, separator) for line in lines]


def _split_marks(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the digits of lines such as 0111; None if the lines hold anything else."""
    rows = [
        list(_BRACKETS.sub("", latin(plain_signs(line)).lower()).replace(",", "").strip("\"'` \t")) for line in lines
    ]
    marks = set().union(*rows) if rows else set()
    if len(rows) < _TWO or len({len(row) for row in rows}) > 1 or len(rows[0]) < _TWO:
        return None
    return rows if marks <= _TOGETHER else None


def _is_rule(line: str) -> bool:
    """Return whether this is the line under a table's head."""
    return ("-" in line or "=" in line) and _RULE.issuperset(line)


def _split(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    if separator == "|":
        line = line.strip().removeprefix("|").removesuffix("|")
    cells = [cell.strip() for cell in line.rstrip("\r\n").split(separator)]
    # "0, 1, 1," and "[0, 1, 1]," end with a Python comma, not with an empty cell.
    return cells[:-1] if separator == "," and not cells[-1].strip("])") else cells


def _labelled(rows: list[list[str]]) -> Table:
    """Separate the labels: a first row or column that mostly holds something other than cells."""
    rows = [row for row in rows if row]
    if not rows:
        raise Unreadable("it has no rows")
    header = rows[0] if len(rows) > 1 and _are_labels(rows[0]) else []
    body = rows[1:] if header else rows
    labels: list[str] = []
    if len(body[0]) > 1 and (len(header) == len(body[0]) - 1 or _are_labels([row[0] for row in body])):
        labels, body = [row[0] for row in body], [row[1:] for row in body]
    width = len(body[0])
    if len(header) == width + 1:
        header = header[1:]
    if header and len(header) != width:
        raise Unreadable(f"it has {len(header)} column labels and {width} cells in the first row")
    return Table(_cells(body), tuple(map(_label, labels)), tuple(map(_label, header)))


def _are_labels(texts: Sequence[str]) -> bool:
    named = [mark(text) for text in texts if text.strip()]
    return bool(named) and 2 * sum(text not in _USUAL for text in named) >= len(named)


def mark(text: str) -> str:
    """Return a cell in its usual spelling."""
    text = _BRACKETS.sub("", _bare(text)) if len(text) < 20 else _bare(text)
    if text in MARKS:
        return MARKS[text]
    if _NUMBER.fullmatch(text):
        value = float(text)
        return "-inf" if value <= VERY_NEGATIVE else f"{value + 0.0:g}"  # -0.0 is 0
    return text


def _cells(rows: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    if sum(map(len, rows)) > CELLS:
        raise Unreadable("it has too many cells")
    widths = [len(row) for row in rows]
    for number, width in enumerate(widths, 1):
        if width != widths[0]:
            raise Unreadable(f"row 1 has {widths[0]} cells and row {number} has {width}")
    return tuple(tuple(mark(cell) for cell in row) for row in rows)


def _label(text: str) -> str:
    return " ".join(latin(text).strip("`*\"' \t").split())[:40]


def label_key(label: str) -> str:
    """Return a key that is equal for equal labels: "[MASK]" and "mask" are."""
    return _BRACKETS.sub("", _bare(label))


def _bare(text: str) -> str:
    return latin(plain_signs(text)).strip().strip("`*_\"'$ ").replace("'", "").lower()
