"""Reads a table of known size in forms that the table reader does not know: np.array(...), "row 1: 0 1 1".

Anything may surround the rows, such as a title or a remark. The number of rows and the number of cells in each must be
exactly the expected ones, with at most two different symbols.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from viva.compare.answers.characters import latin, plain_signs
from viva.compare.answers.table_text import Table, mark
from viva.compare.normalize import plain

_LENGTH: Final = 20_000
_ROW_END: Final = re.compile(r"</tr\s*>|<br\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]{1,100}>")
_COMMENT: Final = re.compile(r"(?<=[^\s#])\s+(?:#|//|<-|\().*")
_GROUPS: Final = [re.compile(r"\[([^\[\]]*)\]"), re.compile(r"\{([^{}]*)\}"), re.compile(r"\(([^()]*)\)")]
_CUTS: Final = [re.compile(r"\n"), re.compile(r";"), re.compile(r"\s/\s|/"), re.compile(r"[|,\s]+")]
_LABEL: Final = re.compile(r"^\s*(?:[-*•]\s+|(?:row|zeile|token)?\s*\(?\w{1,20}\)?\s*[:.)=]\s*)", re.IGNORECASE)
_BETWEEN_CELLS: Final = re.compile(r"[\s,;&|│┃]+")
_AROUND: Final = " \t,;|│\"'`“”‘’"
_MARKS: Final = 2


def read_by_size(value: object, rows: int, columns: int) -> Table | None:
    """Return the table if the answer has exactly this many rows and columns in some form, else None."""
    text = _text(value, columns)
    if text is None or not rows or not columns:
        return None
    for parts in _splits(text):
        read = [(part, _cells(part, columns)) for part in parts]
        cells = tuple(row for _, row in read if row is not None)
        marks = {cell for row in cells for cell in row}
        others = [part for part, row in read if row is None]
        if len(cells) == rows and len(marks) <= _MARKS and not any(map(_looks_like_a_row, others)):
            return Table(cells)
    on_one_line = _cells(text, rows * columns) if "\n" not in text.strip() else None  # YAML joins lines
    if on_one_line is None or len(set(on_one_line)) > _MARKS:
        return None
    return Table(tuple(on_one_line[start : start + columns] for start in range(0, rows * columns, columns)))


def _text(value: object, columns: int) -> str | None:
    """Return the answer as lines; a row that was read as a whole number has its zeros again."""
    value = plain(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        value = [plain(row) for row in value[:1000]]
        if not all(type(row) is int or isinstance(row, str) for row in value):
            return None
        value = "\n".join(row if isinstance(row, str) else f"{row:0{columns}}" for row in value if _is_short(row))
    if not isinstance(value, str) or len(value) > _LENGTH:
        return None
    text = _TAG.sub(" ", _ROW_END.sub("\n", value))
    return latin(plain_signs(text))


def _is_short(row: object) -> bool:
    return isinstance(row, str) or (isinstance(row, int) and 0 <= row < 10**40)


def _splits(text: str) -> Iterator[list[str]]:
    """Yield the ways in which a text may fall into rows."""
    for group in _GROUPS:
        if len(found := group.findall(text)) > 1:
            yield found
    for cut in _CUTS:
        yield [part for part in cut.split(text) if part.strip()]


def _cells(part: str, columns: int) -> tuple[str, ...] | None:
    """Return the cells of a row, None if it has another number of them."""
    without_remark = _COMMENT.sub("", part)
    for row in (part, without_remark, _LABEL.sub("", part, count=1), _LABEL.sub("", without_remark, count=1)):
        cells: Sequence[str] = [cell for cell in _BETWEEN_CELLS.split(row.strip(_AROUND)) if cell]
        if len(cells) == 1 and len(cells[0]) == columns > 1:
            cells = cells[0]
        if len(cells) == columns:
            return tuple(mark(cell.strip(_AROUND)) for cell in cells)
    return None


def _looks_like_a_row(part: str) -> bool:
    """Return whether a part that is not a row of this length looks like one of another: then the size is wrong."""
    return len(re.findall(r"(?<![A-Za-z])[01](?![A-Za-z])", part)) > 1
