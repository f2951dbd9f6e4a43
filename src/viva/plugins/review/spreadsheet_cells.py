"""Cells of a CSV table that survive a spreadsheet: what was written is what is read again."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from viva.formats import escaping
from viva.formats.csv_delimiter import find_delimiter
from viva.formats.decimal_points import in_decimals
from viva.model.errors import UsageError

MOST_BYTES: Final = 64 << 20
"""A class of 2,000 with 8 questions, and 4 KiB for each answer with its comment."""
MOST_CELLS: Final = 4_000_000
"""Counted by their possible separators; commas in prose count too."""
_NO_LIMIT: Final = 1 << 20
_CHECKED_CHARACTERS: Final = 100
"""Characters at the beginning of a text that are checked for a formula; a long text is not scanned twice."""
_NUMBER_OR_DATE: Final = re.compile(r"(?=.*[0-9]).{1,20}")
"""Spreadsheets turn 2.10 into 2.1, and 1/2 into a day in January."""


def cell(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet might take for a formula, a number or a date."""
    text = escaping.terminal(text, characters=_NO_LIMIT, lines=_NO_LIMIT)
    return f"'{text}" if _needs_apostrophe(text) else text


def text_of(cell: str) -> str:
    """Return the text that `cell` was called with, even if a spreadsheet has removed the apostrophe."""
    cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return cell[1:] if cell.startswith("'") and _needs_apostrophe(cell[1:]) else cell


def number(points: Fraction) -> str:
    """Return points as a decimal number if that is exact, otherwise as a fraction in a text cell."""
    decimals = in_decimals(points)
    return decimals if Fraction(decimals) == points else cell(str(points))


def table(rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows as a CSV file."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode("utf-8-sig")  # without a byte order mark Excel reads the country's code page


def rows(data: bytes, columns: Sequence[str], optional: Collection[str] = ()) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows below the header that are not empty, each with its row number in a spreadsheet.

    The rows above the header count, too; a header in the first row has the number 1.

    Args:
        data: a CSV file in UTF-8 with commas, semicolons or tabs between the cells.
        columns: names that the header must have, in any order and any case; there may be others.
        optional: those of them that may be missing.

    Raises:
        UsageError: it is not such a file.
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
        for place, row in enumerate(
            csv.reader(io.StringIO(text, newline=""), delimiter=find_delimiter(text, columns)), 1
        ):
            if not any(text.strip() for text in row):
                continue
            if header:
                yield place, dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=False))
            else:
                header = _header(row, columns, optional)
    except csv.Error as error:
        raise UsageError(f"The table cannot be read ({error}); save it as CSV in UTF-8.") from None
    if not header:
        raise UsageError(f"The table is empty; a header is expected: {', '.join(columns)}.")


def _needs_apostrophe(text: str) -> bool:
    """Return whether a text needs an apostrophe; texts that begin with apostrophes are judged by what follows them."""
    bare = text.lstrip("'")
    begins = bare.lstrip(" \u00a0")[:_CHECKED_CHARACTERS]
    return bool(_NUMBER_OR_DATE.fullmatch(bare)) or escaping.csv_cell(begins).startswith("'")


def _header(row: Sequence[str], columns: Sequence[str], optional: Collection[str]) -> list[str]:
    header = [_name(text) for text in row]
    if missing := [name for name in columns if name not in header and name not in optional]:
        raise UsageError(f"The table has no column {', '.join(missing)}; its header is expected as it was written.")
    if twice := [name for name in columns if header.count(name) > 1]:
        raise UsageError(f"The table has two columns {twice[0]}; keep one of them.")
    return header


def _name(cell: str) -> str:
    return cell.strip(' "').casefold()
