"""What is kept comes back as it was, once, whoever else is writing."""

import multiprocessing
import os
import sqlite3
import stat
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from tests.support import samples
from viva.model import Case, Entry, Isolation, Status
from viva.model.errors import UsageError
from viva.model.plain import to_plain
from viva.model.reason import Reason
from viva.plugins.records.database import REVISION, open_database
from viva.plugins.records.database_tables import METADATA, claims
from viva.plugins.records.row_packing import pack_score, unpack_score
from viva.plugins.records.store import Records
from viva.plugins.records.written_entries import unpack_written
from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS

BY = Reason("grace", "the first grading")


def keep(records: Records, name: str = "ada", *earned: int, once: bool = False, **made: Any) -> int | None:
    (number,) = records.add_attempts("small", [(samples.attempt(name), "00")])
    given = samples.score(name, *earned)
    return records.add_score(number, given, samples.made(**made), BY, call_log=b"said", once=once)


def test_score_comes_back(records: Records) -> None:
    keep(records)
    (kept,) = records.current("small")
    assert (kept.scored.attempt, kept.scored.score) == (samples.attempt(), samples.score())
    assert (kept.by, kept.why, kept.kind, kept.made_with) == ("grace", "the first grading", "graded", "m")
    assert abs((datetime.now(UTC) - kept.at).total_seconds()) < 60
    assert records.call_log(kept.call_log_id) == b"said"
    assert records.assignments() == ["small"]


def test_latest_score_counts(records: Records) -> None:
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
    for points, (attempt_number, hours, content_hash) in enumerate(handed_in, 1):
        moment = None if hours is None else samples.MOMENT + timedelta(hours=hours)
        attempt = replace(samples.attempt(number=attempt_number), submitted_at=moment)
        (number,) = records.add_attempts("small", [(attempt, content_hash)])
        records.add_score(number, samples.score("ada", points, 0), samples.made(), BY)
    keep(records, "bob", 4, 4)
    *attempts, bob = records.current("small")
    assert [kept.scored.score.earned for kept in attempts] == standing
    assert bob.scored.attempt.name == "bob"


def test_same_grading_is_kept_once(records: Records) -> None:
    first = keep(records, once=True)
    assert keep(records, "ada", 4, 4, once=True) is None
    assert [kept.id for kept in records.current("small")] == [first]
    assert keep(records, "ada", 4, 4, once=True, whole=False) is not None, "it was broken off"
    assert keep(records, "ada", 4, 4, once=True, tier="T0") is not None, "another isolation"
    last = keep(records, "ada", 4, 4, once=False)
    assert [kept.id for kept in records.current("small")] == [last]


def test_conditions_come_back(records: Records) -> None:
    isolation = Isolation("T2", missing=(OPTIONAL_LAYERS["cgroup"],))
    conditions: dict[str, Any] = {"only": ("1", "test_2"), "isolation": isolation, "gpu": True}
    keep(records, **conditions)
    assert [kept.conditions for kept in records.current("small")] == [samples.made(**conditions)]


def test_attempt_is_kept_once(records: Records) -> None:
    one, other, again = samples.attempt(), samples.attempt(number=2), samples.attempt()
    first, second, third = records.add_attempts("small", [(one, "00"), (other, "00"), (again, "00")])
    assert first == third != second
    assert records.add_attempts("small", [(again, "00"), (one, "01")])[0] == first
    (changed,) = records.add_attempts("small", [(one, "01")])
    (elsewhere,) = records.add_attempts("other", [(one, "00")])
    assert len({first, second, changed, elsewhere}) == 4


@given(st.text(st.characters(codec=None)))
def test_any_text_is_kept(text_of_student: str) -> None:
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


def test_migrations_make_the_tables(url: str, tmp_path: Path) -> None:
    engine = open_database(url, tmp_path)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), [METADATA, claims.metadata]) == []  # type: ignore[arg-type]  # alembic takes several
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == REVISION
    engine.dispose()


def test_records_of_a_later_version(url: str, tmp_path: Path) -> None:
    engine = open_database(url, tmp_path)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(UsageError, match="later version of viva"):
        Records.open(url, tmp_path)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()


def test_file_is_private(tmp_path: Path) -> None:
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
        ("postgresql://viva:sesame@localhost:1/records", r"viva:\*\*\*@localhost:1/records cannot be opened"),
    ],
)
def test_records_that_cannot_be_opened(wrong: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        Records.open(wrong, tmp_path)
    assert "sesame" not in str(caught.value) and "\n" not in str(caught.value)


def test_records_that_cannot_be_written(records: Records, url: str) -> None:
    if url.startswith("postgresql"):
        pytest.skip("a file is what is locked here")
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


# --- what is unpacked for markers


TEXTS = st.text(st.characters(codec=None), max_size=20)
"""Of students: lone surrogates among them."""
POINTS = st.fractions(0, 9, max_denominator=4)
CASES = st.builds(Case, TEXTS, st.sampled_from(Status), POINTS, POINTS, TEXTS, TEXTS, st.floats(0, 9))
ENTRIES = st.builds(
    Entry, st.text(max_size=5), TEXTS, st.just("1"), st.just("visible"), st.sampled_from(Status), POINTS, POINTS,
    st.lists(CASES, max_size=3).map(tuple), written=TEXTS, rubric=st.sampled_from(["", "", "2.1", "é 3"]),
)  # fmt: skip


@given(st.lists(ENTRIES, max_size=6))
def test_entries_for_markers(entries: list[Entry]) -> None:
    packed = pack_score(replace(samples.score(), entries=tuple(entries)))
    whole = unpack_score(packed)
    by_hand = [e for e in whole.entries if e.rubric and e.status is Status.NEEDS_REVIEW]
    assert unpack_written(packed) == (whole.content_hash, [to_plain(entry) for entry in by_hand])


@pytest.mark.parametrize("damage", [lambda data: data[:-4], lambda _: b"", lambda _: zlib.compress(b"\x81\xa1a\x01")])
def test_damaged_score(damage: Callable[[bytes], bytes]) -> None:
    written = Entry("t", "n", "1", "visible", Status.NEEDS_REVIEW, Fraction(0), Fraction(1), (), rubric="2.1")
    packed = pack_score(replace(samples.score(), entries=(written,)))
    with pytest.raises(UsageError, match="A row of the records is damaged"):
        unpack_written(damage(packed))
