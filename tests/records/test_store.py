"""What is kept comes back as it was, once, whoever else is writing."""

import multiprocessing
import os
import sqlite3
import stat
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from tests.support import samples
from viva.model import Isolation
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.database import open_database
from viva.plugins.records.store import Records
from viva.plugins.records.tables import pack_score, unpack_score
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


@pytest.mark.parametrize(
    "change", ["UPDATE viva_schema SET version = 9999", "DROP TABLE viva_schema"], ids=["later", "of something else"]
)
def test_tables_of_another_version(url: str, tmp_path: Path, change: str) -> None:
    engine = open_database(url, tmp_path)
    with engine.begin() as connection:
        connection.execute(text(change))
    engine.dispose()
    with pytest.raises(UsageError, match="tables of another version of viva"):
        Records.open(url, tmp_path)


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


@pytest.mark.parametrize("damage", [lambda data: data[:-4], lambda _: b"", lambda _: zlib.compress(b"\x81\xa1a\x01")])
def test_damaged_score(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(UsageError, match="A row of the records is damaged"):
        unpack_score(damage(pack_score(samples.score())))


def test_emptied_file(tmp_path: Path) -> None:
    """It is not replaced by new tables, as if nothing had been lost."""
    (tmp_path / "records.db").touch()
    os.utime(tmp_path / "records.db", (0, 0))
    with pytest.raises(UsageError, match=r"are empty \(0 bytes\), and whatever they held is lost"):
        Records.open("sqlite:///records.db", tmp_path)
    assert not (tmp_path / "records.db").stat().st_size


@pytest.mark.parametrize("keep_bytes", [100, 4096, -4096], ids=["header", "first page", "all but the last page"])
def test_damaged_file(tmp_path: Path, keep_bytes: int) -> None:
    with Records.open("sqlite:///records.db", tmp_path) as records:
        keep(records)
    damaged = (tmp_path / "records.db").read_bytes()[:keep_bytes]
    (tmp_path / "records.db").write_bytes(damaged)
    with pytest.raises(UsageError, match=r"are damaged: .*sqlite3 .*records.db .recover"):
        Records.open("sqlite:///records.db", tmp_path).current("small")
    assert (tmp_path / "records.db").read_bytes() == damaged, "nothing was changed"
