"""SQL that both databases have, under names of their own."""

from collections.abc import Callable

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_or(connection: Connection) -> Callable[[Table], sqlite.Insert | postgresql.Insert]:
    """Return the dialect's own INSERT, which can handle rows that exist already."""
    return sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
