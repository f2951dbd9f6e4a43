"""A student's rows go in one transaction, in every byte, and no one else's do."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from tests.support import prose, samples, students
from viva.model import Student
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.hand_grading import append
from viva.plugins.records.overrides import override
from viva.plugins.records.person import find_person, names_pattern
from viva.plugins.records.store import Records
from viva.plugins.records.student_deletion import delete_student, preview_deletion
from viva.plugins.records.tables import AttemptRow, Base, ScoreRow

WHY = Reason("grace", "asked for on Monday")
TABLES = {"attempts": "submission", "scores": "score", "call_logs": "call log", "overrides": "override",
          "reviews": "review", "proposed": "proposed score"}  # fmt: skip


def rows(records: Records) -> dict[str, list[Any]]:
    with records.engine.connect() as connection:
        tables = [table for table in Base.metadata.sorted_tables if "id" in table.c]
        return {t.name: list(connection.execute(select(t).order_by(t.c.id))) for t in tables}


def test_rows_of_one_student_go(filled: Records) -> None:
    before = rows(filled)
    removal = delete_student(filled, "ADA.L@example.org", WHY)
    after = rows(filled)
    assert removal.not_wiped == "" and removal.mentions == ()
    gone = {table: len(before[table]) - len(after[table]) for table in TABLES}
    assert gone == {
        "attempts": 2, "scores": 3, "call_logs": 2, "overrides": 1, "reviews": 4, "proposed": 2,
    }  # fmt: skip
    assert gone == {table: removal.counts[word] for table, word in TABLES.items()}
    assert len(removal.person.shared) == 1
    ids = {row.id for row in after["attempts"]}
    for table in ("scores", "call_logs", "overrides", "reviews", "proposed", "proposals"):
        assert [row for row in before[table] if row in after[table]] == after[table], "what stays is as it was"
    (team,) = [row for row in after["attempts"] if row.team]
    assert team.students == [{"id": "m-4712", "name": "Bob Stone", "email": "bob.s@example.org",
                                          "section": "A", "also": {"canvas": "1002"}}]  # fmt: skip
    assert {row.attempt_id for row in after["scores"]} == ids
    with pytest.raises(UsageError, match="hold nothing of 'Ada Lovelace'"):
        preview_deletion(filled, "Ada Lovelace")


def test_row_about_the_removal(filled: Records) -> None:
    delete_student(filled, "m-4711", WHY)
    (row,) = rows(filled)["deletions"]
    assert (row.by, row.why) == ("grace", "asked for on Monday")
    assert row.rows["score"] == 3
    assert not [name for name in students.NAMES[:6] if name.lower() in str(row).lower()]


def test_no_byte_names_the_student(tmp_path: Path) -> None:
    """Of who submitted alone: names, addresses, numbers, also in the log of what was written."""
    with Records.open("sqlite:///records.db", tmp_path) as records:
        students.fill(records)
        before = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        delete_student(records, "m-4713", WHY)
        after = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    closed = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for name in (r"Cem \u00d6zkan", "m-4713", "cem.o@example.org", "özkancem_1003"):
        assert name.encode() in before
        assert name.encode() not in after and name.encode() not in closed


def test_reader_during_a_removal(tmp_path: Path) -> None:
    with Records.open("sqlite:///records.db", tmp_path) as records:
        students.fill(records)
        with Records.open("sqlite:///records.db", tmp_path) as other, other.engine.connect() as reading:
            reading.execute(select(AttemptRow)).fetchone()
            raw = records.engine.raw_connection()
            assert raw.driver_connection is not None
            raw.driver_connection.execute("PRAGMA busy_timeout=50")
            raw.close()
            removal = delete_student(records, "m-4713", WHY)
        assert "when the program that reads it now has ended" in removal.not_wiped
        with pytest.raises(UsageError, match="hold nothing"):
            preview_deletion(records, "m-4713")


def test_call_log_of_others_stays(filled: Records) -> None:
    with filled.engine.begin() as connection:
        (ada, *_) = connection.execute(select(ScoreRow.call_log_id).order_by(ScoreRow.id)).scalars()
        last = connection.execute(select(ScoreRow.id).order_by(ScoreRow.id.desc()).limit(1)).scalar()
        connection.execute(update(ScoreRow).where(ScoreRow.id == last).values(call_log_id=ada))
    assert delete_student(filled, "m-4711", WHY).counts["call log"] == 1
    assert ada in {row.id for row in rows(filled)["call_logs"]}


def test_preview_removes_nothing(filled: Records) -> None:
    before = rows(filled)
    assert preview_deletion(filled, "m-4711").counts["score"] == 3
    with pytest.raises(UsageError, match="names the student"):
        delete_student(filled, "m-4711", Reason("grace", "ada has left"))
    assert rows(filled) == before


def test_mentions_in_rows_that_stay(filled: Records) -> None:
    kept = students.keep(filled, students.handed_in("x", students.BOB), "Bob")
    override(filled, kept.scored.score, "x", "1", None, Reason("grace", "copied from Cem Özkan"))
    assert delete_student(filled, "m-4713", WHY).mentions == (
        f"overrides, row {rows(filled)['overrides'][-1].id}: why",
    )


def test_decisions_by_a_shared_name_stay(filled: Records) -> None:
    students.keep(filled, students.handed_in("özkancem_1003", students.BOB, attempt=2), "Bob")
    assert delete_student(filled, "m-4713", WHY).counts["override"] == 0


def test_decisions_about_shared_bytes_stay(filled: Records) -> None:
    """Until these go as well; and where they name the student, that is said."""
    (first, *_) = filled.current("small")
    theirs = [(students.handed_in("copied", students.BOB), first.scored.score.content_hash)]
    (number,) = filled.add_attempts("small", theirs)
    filled.add_score(number, first.scored.score, samples.made("m1"), WHY)
    removal = delete_student(filled, "m-4711", WHY)
    (by_ada,) = [row for row in rows(filled)["reviews"] if row.kind == "appeal"]
    assert removal.counts["review"] == 0 and f"reviews, row {by_ada.id}: by" in removal.mentions
    assert delete_student(filled, "m-4712", WHY).counts["review"] == 5, "with those of what the team handed in"
    assert [row.action for row in rows(filled)["reviews"]] == ["a5", "a7", "a8"]


def test_decisions_in_another_assignment_stay(filled: Records) -> None:
    append(filled, "large", "a1", [(prose.place("hash of özkancem_1003"), prose.said(1))], WHY)
    assert delete_student(filled, "m-4713", WHY).counts["review"] == 3
    assert [row.assignment for row in rows(filled)["reviews"]].count("large") == 1


TWINS = (Student("k1", "Kim Lee", "k1@x.org"), Student("k2", "Kim Lee", "k2@x.org"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("M-4711", "m-4711"),
        ("ada.l@EXAMPLE.org", "m-4711"),
        ("ada lovelace", "m-4711"),
        ("CEM ÖZKAN", "m-4713"),
        ("özkancem_1003", "m-4713"),
        ("k1", "k1"),
    ],
)
def test_find_person(filled: Records, name: str, found: str) -> None:
    for twin in TWINS:
        students.keep(filled, students.handed_in(twin.id, twin), "Kim")
    with filled.read() as session:
        assert find_person(session, name).id == found


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Kim Lee", "'Kim Lee' may mean 2 people; give an id of: k1, k2"),
        ("submission_7", "'submission_7' may mean 2 people; give an id of: m-4711, m-4712"),
        ("Ada", "hold nothing of 'Ada'"),
        ("", "hold nothing of ''"),
    ],
)
def test_person_who_cannot_be_told(filled: Records, name: str, said: str) -> None:
    for twin in TWINS:
        students.keep(filled, students.handed_in(twin.id, twin), "Kim")
    with filled.read() as session, pytest.raises(UsageError, match=said):
        find_person(session, name)


def test_removal_by_the_name_of_a_submission(filled: Records) -> None:
    students.keep(filled, students.handed_in("found.py"), "somebody")
    assert delete_student(filled, "found.py", WHY).counts["submission"] == 1
    assert len(rows(filled)["deletions"]) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("王小明", "作者：王小明和李雷"),
        ("Zoë Q", unicodedata.normalize("NFD", "by Zoë Q.")),
        ("Lovelace, Ada", "by Ada Lovelace"),
        ("Ada Lovelace", "LOVELACE, ADA"),
    ],
)
def test_names_in_a_text(name: str, text: str) -> None:
    assert names_pattern([Student("s1", name)], parts=False).search(text)
    assert not names_pattern([Student("s1", "Ann")], parts=False).search("Annette")
