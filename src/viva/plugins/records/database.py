"""Open the database of the records by its URL, make its tables, and write in transactions."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select, text
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import Session

from viva.model.errors import UsageError
from viva.plugins.records.tables import SCHEMA_VERSION, Base, SchemaVersion

AT_ONCE: Final = 500
"""The most values in one statement."""
_BUSY_S: Final = 60.0
"""How long one grader waits for another that is writing."""
_WRITES: Final = "viva_writes"
_YOUNG_S: Final = 60.0
_LOCK: Final = 0x76697661
"""The lock with which all writers wait for each other in PostgreSQL, as they do in SQLite anyway."""
T = TypeVar("T")


def open_database(url: str | URL, folder: Path) -> Engine:
    """Open the database, and make its tables if it is empty.

    Args:
        url: in SQLAlchemy's form: `sqlite:///records.db`, `postgresql://user@host/name`.
        folder: the folder for relative paths of SQLite.

    Raises:
        UsageError: it cannot be opened, or has the tables of another version of viva; the text says what to do.
    """
    parsed = _parse_url(url)
    is_sqlite = parsed.get_backend_name() == "sqlite"
    if is_sqlite:
        parsed = _create_file(parsed, folder)
    engine = create_engine(parsed, connect_args={"timeout": _BUSY_S} if is_sqlite else {"connect_timeout": 10})
    if is_sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        event.listen(engine, "handle_error", _report_damaged_file)
    try:
        with engine.connect() as connection:
            is_ready = _has_tables(connection)
        if not is_ready:
            with write_session(engine) as session:
                _create_tables(session.connection())
    except SQLAlchemyError as error:
        engine.dispose()
        raise UsageError(f"The records at {hide_password(url)} cannot be opened: {sentence(error)}.") from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def _parse_url(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise ArgumentError(f"records are kept in SQLite or PostgreSQL, not in {parsed.get_backend_name()}")
        return parsed
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        what = "such as sqlite:///records.db or postgresql://user@host/name"
        raise UsageError(
            f"`records: {hide_password(url)}` is not a URL of a database: {error}; expected one {what}."
        ) from None


def _create_file(url: URL, folder: Path) -> URL:
    """Make SQLite's file in the folder, for its owner alone because it holds names and grades; return its full URL."""
    if not url.database or url.database == ":memory:":
        return url
    path = folder / url.database
    try:
        # A file that lost its contents is an error. One that another grader is just making is empty for a moment.
        if path.is_file() and not path.stat().st_size and time.time() - path.stat().st_mtime > _YOUNG_S:
            raise UsageError(
                f"The records at {path} are empty (0 bytes), and whatever they held is lost. Put a backup in their "
                "place, or delete the file to begin again."
            )
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise UsageError(f"The records cannot be kept at {path}: {error.strerror}.") from None
    return url.set(database=str(path))


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


def _report_damaged_file(context: ExceptionContext) -> None:
    """Raise a sentence where SQLite finds its file damaged, at whatever statement."""
    error = context.original_exception
    damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    if not damaged and "Could not decode to UTF-8" not in str(error):
        return
    path = context.engine.url.database if context.engine is not None else ""
    raise UsageError(
        f"The records at {path} are damaged: {error}. Put a backup in their place, or copy the file and save what can "
        f"still be read: `sqlite3 {path} .recover | sqlite3 new.db`."
    ) from None


def _has_tables(connection: Connection) -> bool:
    """Return whether the tables exist; False for an empty database.

    Raises:
        UsageError: there are tables of another version, or of something else.
    """
    tables = inspect(connection).get_table_names()
    if not tables:
        return False
    version = None
    if SchemaVersion.__tablename__ in tables:
        version = connection.execute(select(SchemaVersion.version)).scalar()
    if version != SCHEMA_VERSION:
        raise UsageError(
            "The database has tables of another version of viva, or of another program; use that version of viva, or "
            "choose another place: --records URL."
        )
    return True


def _create_tables(connection: Connection) -> None:
    if not _has_tables(connection):  # another grader may have made them since
        Base.metadata.create_all(connection)
        connection.execute(SchemaVersion.__table__.insert().values(version=SCHEMA_VERSION))  # type: ignore[attr-defined]  # declared as FromClause


@contextlib.contextmanager
def write_session(engine: Engine) -> Iterator[Session]:
    """Open a transaction that writes all of its changes, or none; it begins after those of all other writers ended.

    Raises:
        UsageError: it could not be written.
    """
    try:
        writer = engine.execution_options(**{_WRITES: True})
        with Session(writer, expire_on_commit=False) as session, session.begin():
            if engine.dialect.name == "postgresql":
                session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            yield session
    except SQLAlchemyError as error:
        raise UsageError(f"The records cannot be written: {sentence(error)}; nothing of it was kept.") from error


def split_values(values: Sequence[T]) -> Iterator[Sequence[T]]:
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
        return f"The rows are deleted, and their bytes may still be in the database's files: {reason}."
    return ""


def _wipe_sqlite(engine: Engine) -> str:
    """Rewrite SQLite's file on a connection without a transaction, and empty the write-ahead log."""
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)  # SQLite has no other driver here
        driver.execute("VACUUM")
        busy = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        return "The rows are deleted, and their bytes leave the file when the program that reads it now has ended."
    return ""


def hide_password(url: str | URL) -> str:
    """Return a URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return str(url)


def sentence(error: SQLAlchemyError) -> str:
    """Return the first line of a database's error message."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
