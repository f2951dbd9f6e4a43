"""Read a CSV file as any platform, or a spreadsheet in any country, writes it: header and rows of text."""

import csv
import io
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.formats.csv_delimiter import delimiter_of_export
from viva.model.errors import UsageError
from viva.submissions.decode_text import decode
from viva.submissions.open_submission import no_such_path
from viva.submissions.opening_by_descriptor import NotOpened, read_at_most

MOST_BYTES: Final = 16 << 20
MOST_ROWS: Final = 100_000
MOST_COLUMNS: Final = 2000
_WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


@dataclass(frozen=True, slots=True)
class Table:
    """The contents of the file, every cell without surrounding spaces."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Each as long as the header."""
    lines: tuple[int, ...]
    """The line in which each row ends, from 1."""

    def column(self, at: int) -> tuple[str, ...]:
        """Return every cell of one column."""
        return tuple(row[at] for row in self.rows)


def read_table(path: Path, known: Container[str] = frozenset()) -> Table:
    """Read a CSV file with a header; commas, semicolons or tabs between the cells, any usual encoding.

    Args:
        path: the file.
        known: headers that are looked for, in lower case; they decide which delimiter is used.

    Raises:
        UsageError: it does not exist, is not text, or is larger than the list of a class can be.
    """
    data = _bytes(path)
    if data.startswith(_WORKBOOKS):
        raise UsageError(f"{path} is a workbook; save it as CSV, and give that file.")
    text = decode(data).lstrip("\ufeff")
    if text[:4].lower() == "sep=":  # tells a spreadsheet the delimiter
        text = text.partition("\n")[2]
    rows, lines = _rows(path, text, delimiter_of_export(text, known))
    if not rows:
        raise UsageError(f"{path} is empty; a header and a row for each student are expected.")
    header, *body = rows
    if len(header) > MOST_COLUMNS:
        raise UsageError(f"{path} has more than {MOST_COLUMNS:,} columns; give the list of one class.")
    width = len(header)
    padded = tuple((*row, *[""] * (width - len(row)))[:width] for row in body)
    return Table(path, tuple(header), padded, tuple(lines[1:]))


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise UsageError(f"{path} is not a file; give a CSV file." if path.exists() else no_such_path(path))
        with path.open("rb") as file:
            data = read_at_most(file.fileno(), MOST_BYTES)
    except (OSError, NotOpened) as error:
        raise UsageError(f"{path} cannot be read ({error}).") from None
    if data is None:
        raise UsageError(f"{path} is larger than {MOST_BYTES >> 20} MiB; give the list of one class.")
    return data


def _rows(path: Path, text: str, delimiter: str) -> tuple[list[tuple[str, ...]], list[int]]:
    rows, lines = [], []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(tuple(cell.strip() for cell in row))
                lines.append(reader.line_num)
            if len(rows) > MOST_ROWS:
                raise UsageError(f"{path} has more than {MOST_ROWS:,} rows; give the list of one class.")
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {error}; a CSV file is expected.") from None
    return rows, lines
