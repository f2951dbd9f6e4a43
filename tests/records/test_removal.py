"""A student's rows go in one transaction, in every byte, and no one else's do."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.support import prose, samples, students
from viva.model import Student
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.database_tables import METADATA, attempts, removals, scores
from viva.plugins.records.find_person import find_person
from viva.plugins.records.hand_grading import append
from viva.plugins.records.overrides import override
from viva.plugins.records.store import Records
from viva.plugins.records.student_removal import remove, would_remove

SECRET = b"0123456789abcdef"
WHY = Reason("grace", "asked for on Monday")
TABLES = ("attempts", "scores", "call_logs", "overrides", "reviews", "proposed", "decisions")


def rows(records: Records) -> dict[str, list[Any]]:
    with records.engine.connect() as connection:
        return {t.name: list(connection.execute(select(t).order_by(t.c.id))) for t in METADATA.sorted_tables}


def test_rows_of_one_student_go(filled: Records) -> None:
    before = rows(filled)
    removal = remove(filled, "ADA.L@example.org", WHY, SECRET)
    after = rows(filled)
    assert removal.unwiped == "" and removal.mentions == ()
    gone = {table: len(before[table]) - len(after[table]) for table in TABLES}
    extent = removal.counts
    assert gone == {
        "attempts": 2, "scores": 3, "call_logs": 2, "overrides": 1, "reviews": 4, "proposed": 2, "decisions": 1,
    }  # fmt: skip
    assert gone == {table: getattr(extent, table) for table in TABLES} and extent.shared == 1
    ids = {row.id for row in after["attempts"]}
    for table in ("scores", "call_logs", "overrides", "reviews", "proposed", "decisions", "proposals"):
        assert [row for row in before[table] if row in after[table]] == after[table], "what stays is as it was"
    (team,) = [row for row in after["attempts"] if row.team]
    assert json.loads(team.students) == [{"id": "m-4712", "name": "Bob Stone", "email": "bob.s@example.org",
                                          "section": "A", "also": {"canvas": "1002"}}]  # fmt: skip
    assert {row.attempt_id for row in after["scores"]} == ids
    with pytest.raises(UsageError, match="hold nothing of 'Ada Lovelace'"):
        would_remove(filled, "Ada Lovelace")


def test_row_about_the_removal(filled: Records) -> None:
    remove(filled, "m-4711", WHY, SECRET)
    (row,) = rows(filled)["removals"]
    assert (row.by, row.why) == ("grace", "asked for on Monday") and row.pseudonym.startswith("student-")
    assert json.loads(row.rows)["scores"] == 3
    assert not [name for name in students.NAMES[:6] if name.lower() in str(row).lower()]


def test_no_byte_names_the_student(tmp_path: Path) -> None:
    """Of who submitted alone: names, addresses, numbers, also in the log of what was written."""
    with Records.open("sqlite:///records.db", tmp_path) as records:
        students.fill(records)
        before = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        remove(records, "m-4713", WHY, SECRET)
        after = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    closed = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for name in (r"Cem \u00d6zkan", "m-4713", "cem.o@example.org", "özkancem_1003"):
        assert name.encode() in before
        assert name.encode() not in after and name.encode() not in closed


def test_reader_during_a_removal(tmp_path: Path) -> None:
    with Records.open("sqlite:///records.db", tmp_path) as records:
        students.fill(records)
        with Records.open("sqlite:///records.db", tmp_path) as other, other.engine.connect() as reading:
            reading.execute(select(attempts)).fetchone()
            raw = records.engine.raw_connection()
            assert raw.driver_connection is not None
            raw.driver_connection.execute("PRAGMA busy_timeout=50")
            raw.close()
            removal = remove(records, "m-4713", WHY, SECRET)
        assert "when the program that reads it now has ended" in removal.unwiped
        with pytest.raises(UsageError, match="hold nothing"):
            would_remove(records, "m-4713")


def test_call_log_of_others_stays(filled: Records) -> None:
    with filled.engine.begin() as connection:
        (ada, *_) = connection.execute(select(scores.c.call_log_id).order_by(scores.c.id)).scalars()
        last = connection.execute(select(scores.c.id).order_by(scores.c.id.desc()).limit(1)).scalar()
        connection.execute(scores.update().where(scores.c.id == last).values(call_log_id=ada))
    assert remove(filled, "m-4711", WHY, SECRET).counts.call_logs == 1
    assert ada in {row.id for row in rows(filled)["call_logs"]}


def test_preview_removes_nothing(filled: Records) -> None:
    before = rows(filled)
    assert would_remove(filled, "m-4711").counts.scores == 3
    with pytest.raises(UsageError, match="names the student"):
        remove(filled, "m-4711", Reason("grace", "ada has left"), SECRET)
    assert rows(filled) == before


def test_mentions_in_rows_that_stay(filled: Records) -> None:
    kept = students.keep(filled, students.handed_in("x", students.BOB), "Bob")
    override(filled, kept.scored.score, "x", "1", None, Reason("grace", "copied from Cem Özkan"))
    assert remove(filled, "m-4713", WHY, SECRET).mentions == (
        f"overrides, row {rows(filled)['overrides'][-1].id}: why",
    )


def test_decisions_by_a_shared_name_stay(filled: Records) -> None:
    students.keep(filled, students.handed_in("özkancem_1003", students.BOB, attempt=2), "Bob")
    assert remove(filled, "m-4713", WHY, SECRET).counts.overrides == 0


def test_decisions_about_shared_bytes_stay(filled: Records) -> None:
    """Until these go as well; and where they name the student, that is said."""
    (first, *_) = filled.current("small")
    theirs = [(students.handed_in("copied", students.BOB), first.scored.score.content_hash)]
    (number,) = filled.add_attempts("small", theirs)
    filled.add_score(number, first.scored.score, samples.made("m1"), WHY)
    removal = remove(filled, "m-4711", WHY, SECRET)
    (by_ada,) = [row for row in rows(filled)["reviews"] if row.kind == "appeal"]
    assert removal.counts.reviews == 0 and f"reviews, row {by_ada.id}: by" in removal.mentions
    assert remove(filled, "m-4712", WHY, SECRET).counts.reviews == 5, "with those of what the team handed in"
    assert [row.action for row in rows(filled)["reviews"]] == ["a5", "a7", "a8"]


def test_decisions_in_another_assignment_stay(filled: Records) -> None:
    append(filled, "large", "a1", [(prose.place("hash of özkancem_1003"), prose.said(1))], WHY)
    assert remove(filled, "m-4713", WHY, SECRET).counts.reviews == 3
    assert [row.assignment for row in rows(filled)["reviews"]].count("large") == 1


TWINS = (Student("k1", "Kim Lee", "k1@x.org"), Student("k2", "Kim Lee", "k2@x.org"))


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("m-4711", ("m-4711", "s9")),
        ("ada.l@EXAMPLE.org", ("m-4711", "s9")),
        ("s9", ("m-4711", "s9")),
        ("ada lovelace", ("m-4711", "s9")),
        ("CEM ÖZKAN", ("m-4713",)),
        ("özkancem_1003", ("m-4713",)),
        ("k1", ("k1",)),
    ],
)
def test_find_person(filled: Records, name: str, ids: tuple[str, ...]) -> None:
    """Ada was graded once more, before the list of the class was there: by Canvas's number."""
    students.keep(filled, students.handed_in("b", Student("s9", also={"canvas": "1001"})), "Ada")
    students.keep(filled, students.handed_in("c", TWINS[0]), "Kim")
    with filled.engine.connect() as connection:
        assert find_person(connection, name).ids == ids


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Kim Lee", "2 people are called 'Kim Lee'; give an id of: k1, k2"),
        ("submission_7", "2 people submitted 'submission_7'; give an id of: m-4711, m-4712"),
        ("Ada", "hold nothing of 'Ada'"),
        ("", "hold nothing of ''"),
    ],
)
def test_person_who_cannot_be_told(filled: Records, name: str, said: str) -> None:
    for twin in TWINS:
        students.keep(filled, students.handed_in(twin.id, twin), "Kim")
    with filled.engine.connect() as connection, pytest.raises(UsageError, match=said):
        find_person(connection, name)


def test_removal_by_the_name_of_a_submission(filled: Records) -> None:
    students.keep(filled, students.handed_in("found.py"), "somebody")
    assert remove(filled, "found.py", WHY, SECRET).counts.attempts == 1
    assert removals.name in rows(filled)
