"""What is kept comes back as it was, once, whoever else is writing."""

import multiprocessing
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from tests.support import samples
from viva.model import Isolation
from viva.model.errors import UsageError
from viva.records import Records
from viva.records.database import REVISION, open_database
from viva.records.database_tables import METADATA, claims
from viva.records.row_packing import pack_score, unpack_score
from viva.records.store import Reason
from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS

BY = Reason("grace", "the first grading")


def keep(records: Records, name: str = "ada", *earned: int, once: bool = False, **made: Any) -> int | None:
    (number,) = records.add_attempts("small", [(samples.attempt(name), "00")])
    given = samples.score(name, *earned)
    return records.add_score(number, given, samples.made(**made), BY, call_log=b"said", once=once)


def test_a_score_comes_back_as_it_was(records: Records) -> None:
    keep(records)
    (kept,) = records.current("small")
    assert (kept.scored.attempt, kept.scored.score) == (samples.attempt(), samples.score())
    assert (kept.by, kept.why, kept.kind, kept.made_with) == ("grace", "the first grading", "graded", "m")
    assert abs((datetime.now(UTC) - kept.at).total_seconds()) < 60
    assert records.call_log(kept.call_log_id) == b"said"
    assert records.assignments() == ["small"]


def test_the_latest_score_counts_and_every_one_is_kept(records: Records) -> None:
    for earned in (1, 4, 2):
        keep(records, "ada", earned, earned)
    keep(records, "bob", 3, 3)
    assert [kept.scored.score.earned for kept in records.current("small")] == [4, 6]
    for called in ("id-ada", "ADA@example.org", "Ada", "ada"):
        assert [kept.scored.score.earned for kept in records.history(called)] == [2, 8, 4]
    assert records.history("ad") == records.current("other") == []


@pytest.mark.parametrize(
    ("handed_in", "standing"),
    [
        ([(1, 0, "00"), (2, 9, "01")], [1, 2]),
        ([(2, 9, "01"), (1, 0, "00")], [2, 1]),
        ([(1, 0, "00"), (1, 9, "01")], [1, 2]),
        ([(1, 9, "00"), (1, 0, "01")], [2, 1]),
        ([(1, 0, "00"), (1, 0, "01")], [2]),
        ([(1, None, "00"), (1, 0, "00")], [2]),
        ([(1, 0, "00"), (1, None, "01")], [2]),
        ([(1, None, "00"), (2, None, "00")], [1, 2]),
    ],
    ids=["numbers", "numbers, graded in another order", "times", "times, in another order", "handed in anew",
         "time learned later", "time forgotten", "nothing but numbers"],
)  # fmt: skip
def test_attempts_do_not_hide_each_other(
    records: Records, handed_in: list[tuple[int, int | None, str]], standing: list[int]
) -> None:
    """What counts of one name, by the order in which it was graded; a changed folder is not a second attempt."""
    for points, (attempt, hours, content_hash) in enumerate(handed_in, 1):
        moment = None if hours is None else samples.MOMENT + timedelta(hours=hours)
        attempt = replace(samples.attempt(number=attempt), submitted_at=moment)
        (number,) = records.add_attempts("small", [(attempt, content_hash)])
        records.add_score(number, samples.score("ada", points, 0), samples.made(), BY)
    keep(records, "bob", 4, 4)
    *attempts, bob = records.current("small")
    assert [kept.scored.score.earned for kept in attempts] == standing
    assert bob.scored.attempt.name == "bob"


def test_the_same_grading_is_kept_once(records: Records) -> None:
    first = keep(records, once=True)
    assert keep(records, "ada", 4, 4, once=True) is None
    assert [kept.id for kept in records.current("small")] == [first]
    assert keep(records, "ada", 4, 4, once=True, whole=False) is not None, "it was broken off"
    assert keep(records, "ada", 4, 4, once=True, tier="T0") is not None, "another isolation"
    last = keep(records, "ada", 4, 4, once=False)
    assert [kept.id for kept in records.current("small")] == [last]


def test_conditions_come_back_as_they_were(records: Records) -> None:
    made = {"only": ("1", "test_2"), "isolation": Isolation("T2", missing=(OPTIONAL_LAYERS["cgroup"],)), "gpu": True}
    keep(records, **made)
    assert [kept.conditions for kept in records.current("small")] == [samples.made(**made)]


def test_a_attempt_is_kept_once_and_anew_when_anything_of_it_differs(records: Records) -> None:
    one, other, again = samples.attempt(), samples.attempt(number=2), samples.attempt()
    first, second, third = records.add_attempts("small", [(one, "00"), (other, "00"), (again, "00")])
    assert first == third != second
    assert records.add_attempts("small", [(again, "00"), (one, "01")])[0] == first
    (changed,) = records.add_attempts("small", [(one, "01")])
    (elsewhere,) = records.add_attempts("other", [(one, "00")])
    assert len({first, second, changed, elsewhere}) == 4


@given(st.text(st.characters(codec=None)))
def test_any_text_of_a_student_is_kept(text_of_student: str) -> None:
    """Lone surrogates and NUL among them, which databases do not take as text."""
    given_score = samples.with_message(samples.score(), text_of_student)
    assert unpack_score(pack_score(given_score)) == given_score


def _write(url: str, folder: str, writer: int) -> None:
    with Records.open(url, Path(folder)) as records:
        for n in range(20):
            keep(records, f"s{n}", once=True)
            keep(records, f"own {writer} {n}", once=True)


@pytest.mark.long
def test_several_graders_write_at_once(url: str, tmp_path: Path) -> None:
    """Also its tables are made once, whoever comes first."""
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(url, str(tmp_path), w)) for w in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Records.open(url, tmp_path) as records:
        names = [kept.scored.attempt.name for kept in records.current("small")]
        assert len(names) == len(set(names)) == 20 + 3 * 20
        assert sum(len(records.history(f"s{n}")) for n in range(20)) == 20


def test_the_migrations_make_the_tables_that_the_code_means(url: str, tmp_path: Path) -> None:
    engine = open_database(url, tmp_path)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), [METADATA, claims.metadata]) == []  # type: ignore[arg-type]  # alembic takes several
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == REVISION
    engine.dispose()


def test_records_of_a_later_version_are_left_alone(url: str, tmp_path: Path) -> None:
    engine = open_database(url, tmp_path)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(UsageError, match="later version of viva"):
        Records.open(url, tmp_path)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()


def test_the_file_is_its_owners_alone_and_lies_beside_the_course(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        Records.open("sqlite:///records.db", tmp_path).close()
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "records.db").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("records.db", "is not a URL of a database"),
        ("mysql://root@localhost/x", "SQLite or PostgreSQL"),
        ("nonsense://x", "is not a URL of a database"),
        ("sqlite:///nowhere/records.db", "cannot be kept at"),
        (
            "postgresql://viva:sesame@localhost:1/records",
            r"viva:\*\*\*@localhost:1/records cannot be opened",
        ),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_sentence(wrong: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        Records.open(wrong, tmp_path)
    assert "sesame" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_said_in_a_sentence(tmp_path: Path) -> None:
    notes = b"these are notes, not records" * 100
    (tmp_path / "records.db").write_bytes(notes)
    with pytest.raises(UsageError, match="file is not a database"):
        Records.open("sqlite:///records.db", tmp_path)
    assert (tmp_path / "records.db").read_bytes() == notes


def test_records_that_cannot_be_written_say_so(records: Records, url: str) -> None:
    if url.startswith("postgresql"):
        pytest.skip("a file is what is locked here")
    import sqlite3

    records.add_attempts("small", [(samples.attempt(), "00")])
    other = sqlite3.connect(url.removeprefix("sqlite:///"))
    other.execute("BEGIN IMMEDIATE")
    with records.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout=50")
    with pytest.raises(UsageError, match="database is locked"):
        records.add_attempts("small", [(samples.attempt("bob"), "00")])
    other.rollback()
    assert other.execute("SELECT COUNT(*) FROM attempts").fetchone() == (1,), "nothing of it was kept"
    other.close()
