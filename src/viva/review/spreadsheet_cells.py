"""Cells of a table that goes through a spreadsheet and comes back: what was written is what is read again."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from viva.formats import escaping
from viva.formats.decimal_points import in_decimals
from viva.model.errors import UsageError

MOST_BYTES: Final = 64 << 20
"""A class of 2,000 with 8 questions, and 4 KiB for each answer with its comment."""
MOST_CELLS: Final = 4_000_000
"""Counted by what may separate them; commas in prose count too."""
_NO_LIMIT: Final = 1 << 20
_LONGER_THAN_NUMBERS: Final = 100
"""Characters by which a formula is known; a whole text is not looked through twice for that."""
_DELIMITERS: Final = ",;\t"
_TAKEN_FOR_ANOTHER: Final = re.compile(r"(?=.*[0-9]).{1,20}")
"""2.10 would become 2.1, and 1/2 a day in January."""


def cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula, a number or a date: a mark goes before what it might."""
    text = escaping.terminal(text, characters=_NO_LIMIT, lines=_NO_LIMIT)
    return f"'{text}" if _is_marked(text) else text


def text_of(cell: str) -> str:
    """What `cell` made it of, also where a spreadsheet has taken the mark away."""
    cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return cell[1:] if cell.startswith("'") and _is_marked(cell[1:]) else cell


def number(points: Fraction) -> str:
    """Points exactly, as a number where decimals can say them."""
    decimals = in_decimals(points)
    return decimals if Fraction(decimals) == points else cell(str(points))


def table(rows: Iterable[Sequence[str]]) -> bytes:
    """The file."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode("utf-8-sig")  # without the mark Excel reads it as the code page of the country


def rows(data: bytes, columns: Sequence[str], optional: Collection[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows below the header that are not empty, each with its number in a spreadsheet: the header's is 1.

    Args:
        data: a CSV file in UTF-8 with commas, semicolons or tabs between the cells.
        columns: names that the header must have, in any order and any case; others may stand beside them.
        optional: those of them that may be missing.

    Raises:
        UsageError: it is something else.
    """
    if len(data) > MOST_BYTES or sum(map(data.count, (b",", b";", b"\t", b"\n", b"\r"))) > MOST_CELLS:
        raise UsageError(
            f"The table is larger than {MOST_BYTES >> 20} MiB or {MOST_CELLS:,} cells; give a part of its rows."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"The table is not UTF-8 text (byte {error.start}); save it as CSV in UTF-8.") from None
    header: list[str] = []
    try:
        for place, row in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, columns)), 1):
            if not any(each.strip() for each in row):
                continue
            if header:
                yield place, dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=False))
            else:
                header = _header(row, columns, optional)
    except csv.Error as error:
        raise UsageError(f"The table cannot be read ({error}); save it as CSV in UTF-8.") from None
    if not header:
        raise UsageError(f"The table is empty; a header is expected: {', '.join(columns)}.")


def _is_marked(text: str) -> bool:
    """Also behind marks, so that each one that was written can be taken off again."""
    bare = text.lstrip("'")
    begins = bare.lstrip(" \u00a0")[:_LONGER_THAN_NUMBERS]
    return bool(_TAKEN_FOR_ANOTHER.fullmatch(bare)) or escaping.csv_cell(begins).startswith("'")


def _delimiter(text: str, columns: Sequence[str]) -> str:
    """The one that makes the most columns that are looked for."""
    head = (text[:65536].strip().splitlines() or [""])[0]
    return max(_DELIMITERS, key=lambda sign: len(set(map(_name, head.split(sign))).intersection(columns)))


def _header(row: Sequence[str], columns: Sequence[str], optional: Collection[str]) -> list[str]:
    header = [_name(each) for each in row]
    if missing := [name for name in columns if name not in header and name not in optional]:
        raise UsageError(f"The table has no column {', '.join(missing)}; its header is expected as it was written.")
    if twice := [name for name in columns if header.count(name) > 1]:
        raise UsageError(f"The table has two columns {twice[0]}; keep one of them.")
    return header


def _name(cell: str) -> str:
    return cell.strip(' "').casefold()
