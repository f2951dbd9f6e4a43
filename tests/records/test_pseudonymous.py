"""A copy without names: every row is there, and no text of any row names anybody."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

import viva.sandbox.guest.transport.wire as wire
from tests.support import students
from viva.gradebook.pseudonyms import pseudonym
from viva.model import Student
from viva.model.errors import UsageError
from viva.model.plain import score_to_plain
from viva.records import Records
from viva.records.anonymised_copy import anonymised_copy
from viva.records.database_tables import METADATA
from viva.records.hand_grading import latest_rows, undo
from viva.records.overrides import ByHand, decided
from viva.records.row_packing import unpack_score
from viva.records.store import Reason
from viva.replay.call_log import CallLog

SECRET = b"0123456789abcdef"


@pytest.fixture
def filled(records: Records) -> Records:
    students.fill(records)
    return records


def unpacked(records: Records) -> dict[str, list[str]]:
    """Every row of every table as text, with what is packed in it unpacked."""
    found = {}
    with records.engine.connect() as connection:
        for table in METADATA.sorted_tables:
            found[table.name] = [_readable(table.name, row) for row in connection.execute(select(table))]
    return found


def _readable(table: str, row: Any) -> str:
    values = [value for value in row if not isinstance(value, bytes)]
    text = f"{values} {[json.loads(v) for v in values if isinstance(v, str) and v[:1] in ('[', '{')]}"
    if table in ("scores", "proposed"):
        text += str(score_to_plain(unpack_score(row.score)))
    if table == "call_logs":
        made = CallLog.from_bytes(row.data)
        for exchange in [*(e for load in made.loads for e in load), *(e for c in made.cases.values() for e in c)]:
            text += str(wire.load(exchange.question)) + str(wire.load(exchange.reply))
    return text


def test_no_name_is_left_in_any_row(filled: Records, tmp_path: Path) -> None:
    before = unpacked(filled)
    assert anonymised_copy(filled, tmp_path / "copy.db", SECRET) == 3
    assert unpacked(filled) == before, "the records are as they were"
    with Records.open("sqlite:///copy.db", tmp_path) as copy:
        after = unpacked(copy)
        counted = {kept.scored.attempt.students[0].id: kept.scored.score.earned for kept in decided(copy, "small")}
        by_hand = ByHand.of(copy, "small")
        touched = [kept for kept in copy.current("small") if kept.scored.attempt.name in by_hand.overrides]
        assert len(touched) == 2 == len(by_hand.overrides), "overrides are of submissions that are there"
        written = {kept.scored.score.content_hash for kept in copy.current("small")}
        assert len(by_hand.marks) == 3 and set(by_hand.marks) <= written, "marks are of contents that are there"
        last = latest_rows(copy, "small")[-1]
        (back,) = undo(copy, "small", "one more", Reason(last.by), 1)
        assert last.undoes and back.place != last.place, "what was taken back is known there too"
    assert {name: len(rows) for name, rows in after.items()} == {name: len(rows) for name, rows in before.items()}
    assert counted[pseudonym("m-4713", SECRET)] == 3, "scores and overrides of the same student, as before"
    whole, once = (" ".join(row for rows in rows_of.values() for row in rows) for rows_of in (after, before))
    for name in (*students.NAMES, "grace", "1001", "/class", "hash of"):
        # A number is a name only if it is not a part of a hash or of a time.
        alone = rf"(?<![0-9a-f]){name}(?![0-9a-f])" if name.isdecimal() else re.escape(name)
        assert re.search(alone, once, re.IGNORECASE)
        assert not re.search(alone, whole, re.IGNORECASE), name
    assert "wrote 3, expected 4" in whole and "def f():" in whole and " says 1" in whole, "the rest is there"
    raw = (tmp_path / "copy.db").read_bytes()
    assert not [name for name in students.NAMES if name.encode() in raw]
    assert sorted(path.name for path in tmp_path.iterdir() if "copy" in path.name) == ["copy.db"]
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0


def test_the_same_people_have_the_same_names_in_every_copy(filled: Records, tmp_path: Path) -> None:
    for name, secret in (("one", SECRET), ("two", SECRET), ("three", b"another secret of 16")):
        anonymised_copy(filled, tmp_path / name, secret)
    read = []
    for name in ("one", "two", "three"):
        with Records.open(f"sqlite:///{name}", tmp_path) as copy:
            read.append(unpacked(copy)["attempts"])
    assert read[0] == read[1] != read[2]


def test_a_student_who_is_called_as_a_status_breaks_nothing(records: Records, tmp_path: Path) -> None:
    students.keep(records, students.handed_in("passed", Student("passed", "Call Partial")), "Passed")
    assert anonymised_copy(records, tmp_path / "copy.db", SECRET) == 1
    with Records.open("sqlite:///copy.db", tmp_path) as copy:
        (kept,) = copy.current("small")
    assert [entry.status for entry in kept.scored.score.entries] == ["passed", "partial"]


def test_nothing_is_written_over(filled: Records, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        anonymised_copy(filled, tmp_path / "copy.db", SECRET)
    with pytest.raises(UsageError, match="cannot be kept at"):
        anonymised_copy(filled, tmp_path / "nowhere" / "copy.db", SECRET)
    assert (tmp_path / "copy.db").read_text() == "mine"
