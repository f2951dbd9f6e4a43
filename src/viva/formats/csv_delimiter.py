"""The delimiter of a CSV file: spreadsheets of different countries and platforms write different ones."""

import csv
import io
from collections.abc import Container
from typing import Final

_OF_EXPORTS: Final = ",;\t"
_OF_TABLES: Final = "\t;|,"
_MOST_CHARACTERS: Final = 65536


def delimiter_of_export(text: str, known: Container[str] = ()) -> str:
    """Return the delimiter that gives the header the most known names, or else the most cells.

    Args:
        text: the file; lines without text before the header are skipped.
        known: names that the header may have, in lower case.
    """

    def fits(delimiter: str) -> tuple[int, int]:
        rows = csv.reader(io.StringIO(text[:_MOST_CHARACTERS].lstrip("\r\n"), newline=""), delimiter=delimiter)
        try:
            cells = next(rows, [])
        except csv.Error:
            return 0, 0
        return sum(cell.strip().casefold() in known for cell in cells), len(cells)

    return max(_OF_EXPORTS, key=fits)


def delimiter_of_table(line: str) -> str | None:
    """Return the delimiter in a line of a table that a program wrote; None if there is none.

    A comma counts last, because it may also be the sign before decimals.
    """
    return next((delimiter for delimiter in _OF_TABLES if delimiter in line), None)
