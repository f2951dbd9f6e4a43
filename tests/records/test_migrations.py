"""Records that an earlier version wrote are brought to the present form, with every row as it was."""

import os
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, inspect, select, text

from tests.support import prose, students
from viva.model.reason import Reason
from viva.plugins.records.database import REVISION, open_database
from viva.plugins.records.database_tables import METADATA
from viva.plugins.records.hand_grading import append, latest_rows
from viva.plugins.records.store import Records
from viva.plugins.records.student_removal import remove

pytestmark = pytest.mark.long

LATER = {"0001": {"removals", "reviews"}, "0002": {"reviews"}, "0003": set[str](), "0004": set[str]()}
"""Tables that were not there yet."""
ADDED = {"conditions"}
"""Columns that were not there yet."""
OLD = [table for table in METADATA.sorted_tables if table.name not in LATER["0001"]]


def old_form(url: str, revision: str) -> None:
    """What a viva of that revision made."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    config = Config()
    config.set_main_option("script_location", "viva.plugins.records:migrations")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        there = set(inspect(connection).get_table_names()) - {"alembic_version"}
        assert there == {table.name for table in METADATA.sorted_tables} - LATER[revision]
    engine.dispose()


def rows(url: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of the first tables, without the columns that were added later."""
    engine = open_database(url, folder)
    with engine.connect() as connection:
        tables = {table.name: list(connection.execute(select(table).order_by(table.c.id))) for table in OLD}
    engine.dispose()
    return {
        name: [{column: value for column, value in row._mapping.items() if column not in ADDED} for row in table]
        for name, table in tables.items()
    }


@pytest.mark.parametrize("revision", LATER)
def test_rows_of_earlier_forms_are_kept(url: str, tmp_path: Path, revision: str) -> None:
    """The rows are copied from records of today, whose other tables are those of the first form."""
    with Records.open("sqlite:///model.db", tmp_path) as model:
        students.fill(model)
    written = rows("sqlite:///model.db", tmp_path)
    assert all(written.values())
    old_form(url, revision)
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        for table in OLD:
            connection.execute(table.insert(), written[table.name])
        if engine.dialect.name == "postgresql":
            for table in OLD:
                last = f"(SELECT max(id) FROM {table.name})"
                connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {last})"))
    engine.dispose()

    assert rows(url, tmp_path) == written
    with Records.open(url, tmp_path) as records:
        assert all(kept.conditions is None for kept in records.current("small"))
        with records.engine.connect() as connection:
            assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == REVISION == "0005"
        place = prose.place("hash of lovelaceada_1001")
        said = append(records, "small", "a1", [(place, prose.said(3))], Reason("grace"))
        assert latest_rows(records, "small") == said
        assert remove(records, "m-4711", Reason("grace"), os.urandom(16)).counts.scores == 3
        assert [kept.scored.score.earned for kept in records.current("small")] == [5, 2]
        assert latest_rows(records, "small") == []
