"""Records to test with: in SQLite always, in PostgreSQL where the distribution's packages are, which CI installs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import students
from tests.support.postgres import postgres_url
from viva.plugins.records.store import Records


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'records.db'}"
        return
    import psycopg

    there = request.getfixturevalue("postgres_url")
    with psycopg.connect(there, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    yield there


@pytest.fixture
def records(url: str, tmp_path: Path) -> Iterator[Records]:
    with Records.open(url, tmp_path) as opened:
        yield opened


@pytest.fixture
def filled(records: Records) -> Records:
    """With every kind of row, of several students."""
    students.fill(records)
    return records


__all__ = ["postgres_url"]
