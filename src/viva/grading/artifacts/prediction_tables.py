"""Predictions as text: CSV in any dialect, with a header or without; JSON as a list, a table, records or lines.

The result is columns; columns.py decides which of them holds the predictions.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from viva.compare.show import show
from viva.formats.csv_delimiter import delimiter_of_table
from viva.grading.artifacts.table_cells import Classes
from viva.grading.artifacts.unusable import Unusable
from viva.submissions.decode_text import decode

ANY_COLUMNS: Final = 1024
"""The most columns besides those of the classes: texts, lists, more figures."""
_LINES_PER_ROW: Final = 64
_SPARE: Final = 10_000
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_DECIMAL_COMMA: Final = re.compile(r"^\s*([+-]?\d{0,20}),(\d{1,40}([eE][+-]?\d{1,4})?)\s*$")


NamedColumns = Sequence[tuple[str, Sequence[object]]]


@dataclass(frozen=True, slots=True)
class Columns:
    """A table by its columns, all of one length."""

    columns: NamedColumns
    """Name ("" without a header) and cells."""
    named: bool


def read_text(data: bytes, n: int, classes: Classes) -> Columns:
    """Return the columns of a CSV or JSON file.

    Raises:
        Unusable: it cannot be read, does not have n rows, or has more columns than any right file would.
    """
    text = decode(data)
    if "\0" in text:
        raise Unusable("holds zero bytes, as no text does: submit CSV, JSON or npz.")
    return _read_json(text, n, classes) if _is_json(text) else _read_csv(text, n, classes)


def _is_json(text: str) -> bool:
    """Return whether the text is JSON, which begins with a bracket; so do rows that numpy prints, like [0.1 0.9]."""
    first = next((m[0].strip() for m in _LINE.finditer(text) if m[0].strip()), "")
    printed = first.endswith("]") and "," not in first and len(first.split()) > 1
    return first.startswith("{") or (first.startswith("[") and not printed)


# --- CSV


def _read_csv(text: str, n: int, classes: Classes) -> Columns:
    text = text.removeprefix("# ")  # np.savetxt(header=…)
    delimiter = _delimiter(text, classes)
    rows: list[list[str]] = []
    count = 0
    for row in _rows(text, delimiter, n, classes):
        count += 1
        if len(rows) <= n:
            rows.append(row)
    header = _has_header(rows, count, n, classes)
    if count - header != n:
        below = " below its header" if header else ""
        raise wrong_count(count - header, n, below)
    names = [cell.strip().lstrip("#") if header else "" for cell in rows[0]]
    rows = rows[1:] if header else rows
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise Unusable(f"has {len(row)} columns in row {number}; expected {len(names)}, as in its first row.")
    cells = [[row[at] for row in rows] for at in range(len(names))]
    if delimiter != ",":
        cells = [[_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in column] for column in cells]
    return Columns(list(zip(names, cells, strict=True)), named=header)


def _rows(text: str, delimiter: str, n: int, classes: Classes) -> Iterator[list[str]]:
    """Yield rows that are not blank, without allocating memory for what no right file holds."""
    lines = _Lines(text, delimiter, n, (classes.count or 0) + ANY_COLUMNS)
    if delimiter == " ":
        yield from (line.split() for line in lines.each() if line.strip())
        return
    try:
        for row in csv.reader(lines.each(), delimiter=delimiter, skipinitialspace=True):
            lines.delimiters = 0
            if any(cell.strip() for cell in row):
                yield row
    except csv.Error as error:
        raise Unusable(f"is not readable CSV ({error}): write one row per line.") from None


class _Lines:
    """The lines of a text one by one; too many columns in a row, or too many lines, raise an error."""

    def __init__(self, text: str, delimiter: str, n: int, columns: int) -> None:
        self._text, self._delimiter, self._columns = text, delimiter, columns
        self._rows = n
        self.delimiters = 0
        """Delimiters since the row began; a quoted cell may span several lines."""

    def each(self) -> Iterator[str]:
        most = _LINES_PER_ROW * self._rows + _SPARE
        for number, match in enumerate(_LINE.finditer(self._text)):
            if number >= most:
                raise Unusable(f"has more than {most:,} lines; expected {self._rows:,} rows.")
            line = match[0]
            self.delimiters += line.count(self._delimiter)
            if self.delimiters >= self._columns:
                raise Unusable(f"has a row of more than {self._columns:,} columns: submit the predictions alone.")
            yield line


def _delimiter(text: str, classes: Classes) -> str:
    first = next((m[0] for m in _LINE.finditer(text) if m[0].strip()), "")
    found = delimiter_of_table(first)
    if found or classes.is_one(first.strip()) or '"' in first:
        return found or ","
    return " " if len(first.split()) > 1 else ","


def _has_header(rows: list[list[str]], count: int, n: int, classes: Classes) -> bool:
    """Return whether the first row names the columns: it cannot be a prediction, or is one too many."""
    if not rows:
        return False
    first = [cell.strip() for cell in rows[0]]
    if not any(map(classes.is_one, first)):
        return count != n or any(any(map(classes.is_one, row)) for row in rows[1:2])
    # What pandas writes above columns without names: 0, 1, … and nothing above the index.
    names = first[1:] if not first[0] else first
    named = not all(map(classes.is_one, names)) or classes.are_all(names)
    return count == n + 1 and (named or names == [str(at) for at in range(len(names))])


# --- JSON


def _read_json(text: str, n: int, classes: Classes) -> Columns:
    allowed = n * (64 + 4 * (classes.count or ANY_COLUMNS)) + _SPARE
    if sum(map(text.count, ",[{")) > allowed or text.count('"') > 64 * n + _SPARE or _containers(text) > 8 * n + _SPARE:
        raise Unusable(f"holds far more than predictions for {n:,} rows: submit the predictions alone.")
    return _columns(_parsed(text), n)


def _containers(text: str) -> int:
    return text.count("[") + text.count("{")


def _parsed(text: str) -> object:
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.split("\n") if line.strip()] if error.msg == "Extra data" else []
        try:
            if len(lines) > 1:
                return [_loads(line) for line in lines]
        except json.JSONDecodeError:
            pass
        where = f"line {error.lineno}, column {error.colno}"
        raise Unusable(f"is not valid JSON ({error.msg} at {where}): write it with json.dump.") from None


def _loads(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except (json.JSONDecodeError, Unusable):
        raise
    except RecursionError:
        raise Unusable("is nested too deeply: submit a list of predictions.") from None
    except ValueError:  # a whole number of more digits than Python reads
        raise Unusable("holds a number of thousands of digits: submit a list of predictions.") from None


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for name, value in pairs:
        if name in table:
            raise Unusable(f"holds {show(name)} twice in one table: leave one of them.")
        table[name] = value
    return table


def _columns(value: object, n: int) -> Columns:
    if isinstance(value, dict):
        return _from_table(value, n)
    rows = list(value) if isinstance(value, list) else []
    if len(rows) != n:
        raise wrong_count(len(rows), n)
    if all(isinstance(row, dict) for row in rows):
        names = list(rows[0])
        if len(names) > ANY_COLUMNS:
            raise Unusable(f"has rows of {len(names):,} entries: submit the predictions alone.")
        return Columns([(name, [row.get(name) for row in rows]) for name in names], named=True)
    return Columns([("", rows)], named=False)


def _from_table(table: dict[str, object], n: int) -> Columns:
    """Read {"predictions": […]}, {"prediction": {"0": …}} as pandas writes it, or {id: prediction}."""
    lists = [(name, column) for name, column in table.items() if isinstance(column, list) and len(column) == n]
    nested = [(name, column) for name, column in table.items() if isinstance(column, dict) and len(column) == n]
    is_by_id = len(table) == n and not any(isinstance(cell, dict) for cell in table.values())
    if is_by_id and not (n == 1 and lists):
        return Columns([("id", list(table)), ("prediction", list(table.values()))], named=True)
    if lists:
        return Columns(lists, named=True)
    if nested:
        ids = list(nested[0][1])
        columns = [(name, [column.get(id) for id in ids]) for name, column in nested]
        return Columns([("id", ids), *columns], named=True)
    sizes = {len(column) for column in table.values() if isinstance(column, list | dict)}
    raise wrong_count(max(sizes, default=len(table)), n)


def wrong_count(found: int, n: int, below: str = "") -> Unusable:
    """Return the error for too many or too few rows."""
    return Unusable(f"holds {found:,} predictions{below}; expected {n:,}, one for each row in the order of the rows.")
