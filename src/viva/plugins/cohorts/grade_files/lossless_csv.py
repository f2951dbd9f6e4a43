"""A CSV file that a platform exported: read and replace cells, and keep every other byte.

Python's csv module reads the same cells but loses how they were quoted; here each cell keeps its own text, and the two
readings are compared before anything is changed.
"""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.formats.csv_delimiter import find_delimiter
from viva.formats.escaping import line
from viva.model.errors import UsageError

MAX_BYTES: Final = 32 << 20
MAX_CELLS: Final = 1_000_000
_BOM: Final = "\ufeff"


@dataclass(slots=True)
class _Cell:
    """One cell as in the file."""

    raw: str
    end: str
    """The delimiter or the line break after it."""


@dataclass(slots=True)
class LosslessCsv:
    """A table whose first row is the header. Rows are numbered from 0, the header included."""

    name: str
    """The file's name in error messages."""
    delimiter: str
    encoding: str
    _bom: bool
    _rows: list[list[_Cell]]
    values: list[list[str]]
    """The values of the cells; only `put` changes them."""

    @property
    def header(self) -> list[str]:
        """Return the first row."""
        return self.values[0]

    def value(self, row: int, column: int) -> str:
        """Return the value of a cell; empty where its row is too short."""
        cells = self.values[row]
        return cells[column] if column < len(cells) else ""

    def put(self, row: int, column: int, text: str) -> None:
        """Replace a cell; quote it if it was quoted or has to be.

        Raises:
            UsageError: the row is too short.
        """
        if column >= len(self._rows[row]):
            raise UsageError(f"{self.name}, row {row + 1}: there are only {len(self._rows[row])} cells in it.")
        cell = self._rows[row][column]
        quoted = (
            cell.raw.startswith('"') or text != text.strip() or any(sign in text for sign in f'"\r\n{self.delimiter}')
        )
        cell.raw = '"' + text.replace('"', '""') + '"' if quoted else text
        self.values[row][column] = text

    def to_bytes(self) -> bytes:
        """Return the file."""
        text = "".join(cell.raw + cell.end for row in self._rows for cell in row)
        return ((_BOM if self._bom else "") + text).encode(self.encoding)


def read_lossless_csv(path: Path) -> LosslessCsv:
    """Read a CSV file with commas, semicolons or tabs, in UTF-8 or (with its mark) UTF-16.

    Raises:
        UsageError: it is too large, not text, not a table, or quoted in a way that programs read differently.
    """
    with path.open("rb") as file:
        return parse_lossless_csv(file.read(MAX_BYTES + 1), str(path))


def parse_lossless_csv(data: bytes, name: str) -> LosslessCsv:
    """Parse the bytes of such a file; `name` is its name in messages. Raises UsageError as `read_lossless_csv` does."""
    name = line(name)
    if len(data) > MAX_BYTES:
        raise UsageError(f"{name} is larger than {MAX_BYTES >> 20} MiB, too large for such a file; check the path.")
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text (byte {error.start}); export it again as CSV in UTF-8.") from None
    bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    delimiter = find_delimiter(text)
    rows = _rows(text, delimiter, name)
    values = [[_meaning(cell.raw) for cell in row] for row in rows]
    if values != _as_csv_reads(text, delimiter):
        raise UsageError(f"{name} is quoted in a way that programs read differently; export it again as CSV.")
    if not values or not any(values[0]):
        raise UsageError(f"{name} is empty; give the file that the platform exported.")
    return LosslessCsv(name, delimiter, encoding, bom, rows, values)


def _rows(text: str, delimiter: str, name: str) -> list[list[_Cell]]:
    pattern = re.compile(rf'((?:"(?:[^"]|"")*")?[^{delimiter}\r\n]*)({delimiter}|\r\n|\r|\n|\Z)')
    rows: list[list[_Cell]] = [[]]
    at, count = 0, 0
    while at < len(text):
        found = pattern.match(text, at)
        if found is None or count > MAX_CELLS:
            raise UsageError(f"{name} is not a table with cells between `{delimiter}`, or has too many of them.")
        rows[-1].append(_Cell(found[1], found[2]))
        count += 1
        at = found.end()
        if found[2] not in (delimiter, ""):
            rows.append([])
    if text.endswith(delimiter):
        rows[-1].append(_Cell("", ""))
    if not rows[-1]:
        rows.pop()
    return rows


def _meaning(raw: str) -> str:
    if not raw.startswith('"'):
        return raw
    closing = len(raw) - 1 - raw[::-1].find('"')
    return raw[1:closing].replace('""', '"') + raw[closing + 1 :]


def _as_csv_reads(text: str, delimiter: str) -> list[list[str]]:
    limit = csv.field_size_limit(max(len(text), 1))
    try:
        read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False))
    except csv.Error:
        return []
    finally:
        csv.field_size_limit(limit)
    return [row or [""] for row in read]
