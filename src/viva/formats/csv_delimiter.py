"""The delimiter of a CSV file: spreadsheets of different countries and platforms write different ones."""

import csv
import io
from collections.abc import Container
from typing import Final

_DELIMITERS: Final = ",;\t"
_MAX_CHARACTERS: Final = 65536


def find_delimiter(text: str, known: Container[str] = ()) -> str:
    """Return the delimiter that gives the header the most known names, or else the most cells.

    Args:
        text: the file; lines without text before the header are skipped.
        known: names that the header may have, in lower case.
    """

    def fits(delimiter: str) -> tuple[int, int]:
        rows = csv.reader(io.StringIO(text[:_MAX_CHARACTERS].lstrip("\r\n"), newline=""), delimiter=delimiter)
        try:
            cells = next(rows, [])
        except csv.Error:
            return 0, 0
        return sum(cell.strip().casefold() in known for cell in cells), len(cells)

    return max(_DELIMITERS, key=fits)
