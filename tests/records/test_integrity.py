"""Damaged records: a sentence and a copy, never a traceback, and whatever can be read is saved."""

import contextlib
import os
import random
import time
from pathlib import Path

import pytest

from tests.support import students
from tests.support.table_rows import Rows
from viva.model.errors import UsageError
from viva.plugins.records.integrity import check, save
from viva.plugins.records.store import Records

DAMAGED = 40
"""Files with bytes flipped."""


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Records with every kind of row, closed."""
    with Records.open("sqlite:///records.db", tmp_path) as records:
        students.fill(records)
    return tmp_path / "records.db"


def everything(path: Path) -> list[object]:
    with Records.open(f"sqlite:///{path}", Path()) as records:
        return [*records.current("small"), *records.history("m-4711")]


def test_sound_records(filled: Path) -> None:
    before = filled.read_bytes()
    found = check(filled)
    assert not found.problems and not found.lost
    assert all(found.readable[name] for name in ("attempts", "scores", "call_logs", "proposed", "reviews"))
    assert filled.read_bytes() == before
    target = filled.with_name("saved.db")
    assert save(filled, target) == sum(found.readable.values())
    assert everything(target) == everything(filled)
    with pytest.raises(UsageError, match="is there already"):
        save(filled, target)


def flipped(data: bytes, seed: int) -> bytes:
    """Some hundred bytes changed at one place, or at several."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.choice([1, 3, 10])):
        at = chance.randrange(100, len(data) - 200)
        changed[at : at + 100] = chance.randbytes(100)
    return bytes(changed)


@pytest.mark.long
def test_flipped_bytes(filled: Path, tmp_path: Path) -> None:
    """Reading gives rows or a sentence; the check counts, and what it saves can be opened."""
    original, lost = filled.read_bytes(), 0
    with Rows() as row:
        for seed in range(DAMAGED):
            with row(seed):
                path = tmp_path / f"{seed}.db"
                damaged = flipped(original, seed)
                path.write_bytes(damaged)
                with contextlib.suppress(UsageError):
                    everything(path)
                path.write_bytes(damaged)
                found = check(path)
                assert path.read_bytes() == damaged
                lost += bool(found.problems)
                target = tmp_path / f"{seed}-saved.db"
                assert save(path, target) <= sum(found.readable.values())
                everything(target)
    assert lost > DAMAGED / 4


def test_damaged_file_is_copied_once(filled: Path) -> None:
    data = bytearray(filled.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    filled.write_bytes(data)
    for _ in range(2):
        with pytest.raises(UsageError, match=r"malformed.*A copy is kept: .*records\.db\.damaged"):
            everything(filled)
    assert filled.with_name("records.db.damaged").read_bytes() == data
    assert check(filled).problems


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
def test_file_that_was_cut_off(filled: Path, share: float) -> None:
    data = filled.read_bytes()
    filled.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UsageError, match="cannot be opened"):
        everything(filled)
    filled.write_bytes(data[: int(len(data) * share)])
    found = check(filled)
    assert found.problems
    save(filled, filled.with_name("saved.db"))


def test_empty_file_is_not_new(filled: Path) -> None:
    filled.write_bytes(b"")
    os.utime(filled, (time.time() - 3600,) * 2)
    with pytest.raises(UsageError, match=r"are empty \(0 bytes\), and whatever they held is lost"):
        everything(filled)
    assert "is empty" in check(filled).problems[0] and filled.read_bytes() == b""


def test_file_that_is_no_database(filled: Path) -> None:
    filled.write_bytes(b"no database at all " * 1000)
    with pytest.raises(UsageError, match="file is not a database"):
        everything(filled)
    assert filled.read_bytes() == b"no database at all " * 1000
    assert check(filled).problems and save(filled, filled.with_name("saved.db")) == 0
