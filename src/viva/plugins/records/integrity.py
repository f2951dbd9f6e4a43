"""Check SQLite's file for damage, and save what can still be read of it into a new one."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Table, insert, select

from viva.model.errors import UsageError
from viva.plugins.records.damaged_copy import FILES
from viva.plugins.records.database import open_database, writing
from viva.plugins.records.database_tables import METADATA
from viva.plugins.records.row_packing import unpack_score

_LISTED: Final = 10
_LARGEST_END: Final = 1 << 33
_LARGEST_GAP: Final = 10_000
"""Numbers that are tried after a damaged place: a damaged number may be of any size."""


@dataclass(slots=True)
class Integrity:
    """What a check found."""

    problems: list[str] = field(default_factory=list)
    """Sentences; empty if nothing is damaged."""
    readable: dict[str, int] = field(default_factory=dict)
    """How many rows of each table can be read."""
    lost: dict[str, int] = field(default_factory=dict)
    """How many rows cannot."""


def check(path: Path) -> Integrity:
    """Read every row of a file of records; the file itself stays as it is.

    Raises:
        UsageError: there is no such file.
    """
    found = Integrity()
    with _copy(path) as connection:
        if connection is None:
            found.problems.append(f"{path} is empty: it holds no table and no score.")
            return found
        if missing := _missing_bytes(path):
            found.problems.append(f"{missing:,} bytes are missing at the end of {path}.")
        try:
            lines = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_LISTED})")]
            found.problems += [f"SQLite: {line}" for line in lines if line != "ok"]
        except (sqlite3.Error, UnicodeDecodeError) as error:
            found.problems.append(f"SQLite: {error}.")
        for table in METADATA.sorted_tables:
            if not _columns(connection, table):
                found.problems.append(f"The table {table.name} cannot be read.")
                continue
            rows = list(_rows(connection, table))
            found.readable[table.name] = sum(row is not None for row in rows)
            if lost := sum(row is None for row in rows):
                found.lost[table.name] = lost
                found.problems.append(f"{lost} of {len(rows)} rows of {table.name} cannot be read.")
    return found


def save(path: Path, target: Path) -> int:
    """Write every row that can be read into a new file, and return how many these are.

    Rows that belong to a lost one are left out.

    Raises:
        UsageError: `target` exists, or cannot be written.
    """
    if target.exists():
        raise UsageError(f"{target} is there already; say a new file.")
    engine = open_database(f"sqlite:///{target.absolute()}", Path())
    saved: dict[str, set[int]] = {}
    try:
        with _copy(path) as connection, writing(engine) as new:
            for table in METADATA.sorted_tables if connection is not None else ():
                assert connection is not None
                rows = [row for row in _rows(connection, table) if row is not None and _has_parents(table, row, saved)]
                for row in rows:  # a damaged index gives some rows twice, or a number that another row has
                    new.execute(insert(table).prefix_with("OR IGNORE"), row)
                saved[table.name] = set(new.execute(select(table.c.id)).scalars())
    finally:
        engine.dispose()
    return sum(map(len, saved.values()))


@contextlib.contextmanager
def _copy(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open a copy, because opening a file alone may change it; None for an empty one."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file of records.")
    if not path.stat().st_size:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="viva-records-") as folder:
        copy = Path(folder, "records.db")
        for beside in FILES:
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{beside}", f"{copy}{beside}")
        if missing := _missing_bytes(copy):  # SQLite reads nothing at all of a file that is too short
            os.truncate(copy, copy.stat().st_size + missing)
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            yield connection


def _missing_bytes(path: Path) -> int:
    """Return by how much a file is shorter than its header says; see https://sqlite.org/fileformat.html, 1.3."""
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(b"SQLite format 3\0"):
        return 0
    size, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
    missing = (65536 if size == 1 else size) * pages - path.stat().st_size
    return missing if 0 < missing <= _LARGEST_END else 0


def _rows(connection: sqlite3.Connection, table: Table) -> Iterator[dict[str, Any] | None]:
    """Yield each row of a table by its number; None for one that cannot be read."""
    there = _columns(connection, table)
    if "id" not in there:
        return
    columns = ", ".join(f'"{name}"' for name in there)
    for number in _numbers(connection, table):
        try:
            row = connection.execute(f'SELECT {columns} FROM "{table.name}" WHERE id = ?', (number,)).fetchone()  # noqa: S608  # our own names
            plain = dict(zip(there, row, strict=True)) if row is not None else None
            if plain is not None and "score" in plain:
                unpack_score(plain["score"])
        except (sqlite3.Error, UsageError, UnicodeDecodeError):
            yield None
        else:
            if plain is not None:
                yield _typed(table, plain)


def _numbers(connection: sqlite3.Connection, table: Table) -> Iterator[int]:
    """Yield the numbers of all rows; after a place that cannot be read, all possible ones."""
    last = 0
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
        for (number,) in connection.execute(f'SELECT id FROM "{table.name}" ORDER BY id'):  # noqa: S608  # our own names
            if not isinstance(number, int) or number <= last:  # a damaged page may lead back to an earlier one
                break
            last = number
            yield number
        else:
            return
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
        end = connection.execute(f'SELECT max(id) FROM "{table.name}"').fetchone()[0]  # noqa: S608  # our own names
        yield from range(last + 1, min(end if isinstance(end, int) else 0, last + _LARGEST_GAP) + 1)


def _columns(connection: sqlite3.Connection, table: Table) -> list[str]:
    try:
        found = {row[1] for row in connection.execute(f'PRAGMA table_info("{table.name}")')}
    except (sqlite3.Error, UnicodeDecodeError):
        return []
    return [column.name for column in table.columns if column.name in found]


def _typed(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row as SQLAlchemy takes it: truth values are numbers in SQLite."""
    kinds = {column.name: column.type.python_type for column in table.columns}
    return {name: bool(value) if kinds[name] is bool and value is not None else value for name, value in row.items()}


def _has_parents(table: Table, row: dict[str, Any], saved: dict[str, set[int]]) -> bool:
    keys = ((column.name, key.column.table.name) for column in table.columns for key in column.foreign_keys)
    return all(row.get(name) is None or row[name] in saved.get(parent, set()) for name, parent in keys)
