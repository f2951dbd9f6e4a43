"""Open the database of the records by its URL, and migrate its tables."""

import contextlib
import functools
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from viva.model.errors import UsageError
from viva.plugins.records.damaged_copy import keep_damaged

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

REVISION: Final = "0005"
"""The present revision of the tables: the last migration."""
BUSY_S: Final = 60.0
"""How long one grader waits for another that is writing."""
_WRITES: Final = "viva_writes"
_YOUNG_S: Final = 60.0
AT_ONCE: Final = 500
"""The most values in one statement."""
T = TypeVar("T")
_LOCK: Final = 0x76697661
"""The lock with which graders wait for each other while PostgreSQL's tables are made."""


def open_database(url: str | URL, folder: Path) -> Engine:
    """Open the database, and migrate its tables to this version.

    Args:
        url: in SQLAlchemy's form: `sqlite:///records.db`, `postgresql://user@host/name`.
        folder: the folder for relative paths of SQLite.

    Raises:
        UsageError: it cannot be opened, or a later version of viva has changed it; the text says what to do.
    """
    parsed = _read(url)
    placed = _with_path(parsed, folder)
    engine = create_engine(placed, connect_args=_connect_args(parsed))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "handle_error", functools.partial(_say_damaged, Path(str(placed.database))))
    try:
        _bring_up_to_date(engine)
    except SQLAlchemyError as error:
        engine.dispose()
        raise UsageError(f"The records at {shown(url)} cannot be opened: {sentence(error)}.") from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def _read(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise ArgumentError(f"records are kept in SQLite or PostgreSQL, not in {parsed.get_backend_name()}")
        return parsed
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        what = "such as sqlite:///records.db or postgresql://user@host/name"
        raise UsageError(f"`records: {shown(url)}` is not a URL of a database: {error}; expected one {what}.") from None


def _with_path(url: URL, folder: Path) -> URL:
    """Return the URL; make SQLite's file in the folder, for its owner alone because it holds names and grades."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return url
    path = folder / url.database
    _refuse_empty(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise UsageError(f"The records cannot be kept at {path}: {error.strerror}.") from None
    return url.set(database=str(path))


def _refuse_empty(path: Path) -> None:
    """Raise if the file lost its contents; one that another grader is just making is empty for a moment."""
    with contextlib.suppress(OSError):
        status = path.stat()
        if path.is_file() and not status.st_size and time.time() - status.st_mtime > _YOUNG_S:
            raise UsageError(
                f"The records at {path} are empty (0 bytes), and whatever they held is lost. Put a backup in their "
                "place, or delete the file to begin again."
            )


def _connect_args(url: URL) -> dict[str, object]:
    return {"timeout": BUSY_S} if url.get_backend_name() == "sqlite" else {"connect_timeout": 10}


def _set_up_sqlite(connection: "sqlite3.Connection", _: object) -> None:
    """Configure SQLite. WAL: readers do not wait for a writer. FULL: committed data survive a power cut.

    Deleted data are overwritten, because only a student's request deletes anything.
    """
    connection.isolation_level = None  # _begin_sqlite begins transactions
    try:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")
    except UnicodeDecodeError:  # in the message about a damaged name
        raise sqlite3.DatabaseError("database disk image is malformed") from None


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction; one that writes waits for other writers now, where it has nothing to lose yet."""
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _say_damaged(path: Path, context: ExceptionContext) -> None:
    """Raise a sentence where SQLite finds its file damaged, at whatever statement; a copy of the file is kept."""
    error = context.original_exception
    damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    if not damaged and "Could not decode to UTF-8" not in str(error):
        return
    kept = ""
    if path.is_file():
        with contextlib.suppress(OSError):
            kept = f" A copy is kept: {keep_damaged(path)}."
    raise UsageError(
        f"The records at {path} cannot be opened: {error}. Nothing was changed in them.{kept} Put a backup in their "
        "place; of those that grader.yaml names, `viva doctor --records` says what can be saved."
    ) from None


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that writes all of its changes, or none.

    Raises:
        UsageError: it could not be written.
    """
    try:
        with engine.execution_options(**{_WRITES: True}).begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        raise UsageError(f"The records cannot be written: {sentence(error)}; nothing of it was kept.") from error


def lock_until_end(connection: Connection, lock: int) -> None:
    """Wait until no other transaction holds this lock, and hold it until the end of this one.

    Writers of SQLite wait for each other anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})


def insert_or(connection: Connection) -> "Callable[[Table], sqlite.Insert | postgresql.Insert]":
    """Return the dialect's own INSERT, which can handle rows that exist already."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert

    from sqlalchemy.dialects import postgresql  # takes as long as a third of SQLAlchemy

    return postgresql.insert


def parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield slices that fit into one statement."""
    for start in range(0, len(values), AT_ONCE):
        yield values[start : start + AT_ONCE]


def wipe(engine: Engine) -> str:
    """Rewrite the tables, so that no byte of deleted rows is left in the database's files.

    Returns:
        Why that failed, as a sentence; else empty.
    """
    try:
        if engine.dialect.name == "sqlite":
            return _wipe_sqlite(engine)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in inspect(connection).get_table_names():
                connection.exec_driver_sql(f'VACUUM (FULL) "{table}"')
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = sentence(error) if isinstance(error, SQLAlchemyError) else str(error)
        return f"The rows are gone, and their bytes may still be in the database's files: {reason}."
    return ""


def _wipe_sqlite(engine: Engine) -> str:
    """Rewrite SQLite's file on a connection without a transaction, and empty the write-ahead log."""
    pooled = engine.raw_connection()
    try:
        connection = pooled.driver_connection
        assert isinstance(connection, sqlite3.Connection)  # SQLite has no other driver here
        connection.execute("VACUUM")
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        pooled.close()
    if busy:
        return "The rows are gone, and their bytes leave the file when the program that reads it now has ended."
    return ""


def _bring_up_to_date(engine: Engine) -> None:
    with engine.connect() as connection:
        if _revision(connection) == REVISION:
            return
    with writing(engine) as connection:
        lock_until_end(connection, _LOCK)
        if _revision(connection) != REVISION:  # another grader may have migrated it since
            _migrate(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", "viva.plugins.records:migrations")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise UsageError(
            f"The records were written by a later version of viva ({error}); install that one, or say another place."
        ) from None


def shown(url: str | URL) -> str:
    """Format a URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return str(url)


def sentence(error: SQLAlchemyError) -> str:
    """Return the first line of a database's error message."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
