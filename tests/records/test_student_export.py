"""What a student is given: all of theirs, nothing of others, in a file that any program reads."""

import json
import re
from typing import Any

from tests.support import prose, samples, students
from viva.model.hand_grading import SETTLED
from viva.plugins.records.hand_grading import append
from viva.plugins.records.store import Records
from viva.plugins.records.student_export import MAX_LOG_BYTES, export_student, format_call_log, to_json


def attempts_of(records: Records, name: str, *, hidden: bool = True) -> Any:
    return export_student(records, name, hidden=hidden)["attempts"]


def test_everything_of_one_student(filled: Records) -> None:
    text = to_json(export_student(filled, "m-4711")).decode("ascii")
    told = json.loads(text)
    assert told["students"][0]["email"] == "ada.l@example.org"
    first, second, team = told["attempts"]
    assert [len(each["scores"]) for each in (first, second, team)] == [2, 1, 1]
    assert [score["kind"] for score in first["scores"]] == ["graded", "regraded"]
    assert second["overrides"] == [
        {"test": "test_it.py::test_1", "earned": "3", "by": "grace", "why": "Ada argued well",
         "at": second["overrides"][0]["at"]}
    ]  # fmt: skip
    assert [each["regrades"][0]["applied"] for each in (first, second)] == [True, None]
    assert first["scores"][0]["score"]["entries"][1]["written"] == "I, Ada Lovelace, think so."
    assert first["scores"][0]["call_log"] == [
        r"loading, box 1: put(data=b'# by Ada Lovelace\ndef f():\n    return 1\n', path='solution.py') → {'ok': True}",
        "test_it.py::test_1: call(args=[1], name='f') → {'value': 'Ada Lovelace says 1'}",
    ]
    assert (first["others_in_team"], team["others_in_team"]) == (0, 1)
    text = re.sub(r"\d\d:\d\d:\d\d\.\d+", "", text)  # times may hold any digits
    for name in ("Bob", "Stone", "m-4712", "bob.s", "1002", "Cem", "zkan", "m-4713"):
        assert name not in text
    assert team["name"] == "submission_7" and "wrote 3, expected 4" in text


def test_grades_of_prose(filled: Records) -> None:
    first, second, team = (attempt["reviews"] for attempt in attempts_of(filled, "m-4711"))
    assert [(row["kind"], row["round"], row["earned"], row["by"]) for row in first] == [
        ("mark", 1, "3", "grace"), ("mark", 2, "1", "alan"),
        ("appeal", 0, "0", "Ada Lovelace"), ("settled", 0, "4", "grace"),
    ]  # fmt: skip
    assert (first[0]["items"], first[0]["comment"]) == (["why"], "Well said, Ada.")
    assert first[3]["why"] == "Ada is right"
    assert second == [] and team[0]["comment"] == "another student, again?" and "Stone" not in str(team)
    (cem,) = [attempt["reviews"] for attempt in attempts_of(filled, "m-4713")]
    assert [row["comment"] for row in cem] == ["", "Thank you, Cem.", ""]
    assert [row["takes_back"] for row in cem] == [False, False, True]


def test_same_bytes_of_another_student(filled: Records) -> None:
    (first, *_) = filled.current("small")
    for attempt in (students.handed_in("bobs", students.BOB), students.handed_in("nobodys")):
        filled.add_attempts("small", [(attempt, first.scored.score.content_hash)])
    for name, index in (("m-4712", -1), ("nobodys", 0)):
        told = attempts_of(filled, name)[index]["reviews"]
        assert [row["kind"] for row in told] == ["mark", "mark", "settled"]
        assert told[0]["comment"] == told[0]["told"].split("\n")[1] and "Ada" not in str(told)


def test_prose_in_hidden_tests(records: Records) -> None:
    for name, visibility in (("secret", "hidden"), ("open", "visible")):
        attempt = students.handed_in(name, students.CEM)
        graded = prose.score(name, prose.entry(visibility=visibility), content_hash=name)
        (number,) = records.add_attempts("small", [(attempt, name)])
        records.add_score(number, graded, samples.made(), students.BY)
        settled = (prose.place(name, kind=SETTLED), prose.said(3, comment="Of the mask."))
        append(records, "small", name, [settled], prose.WHY)
    hidden, visible = (attempt["reviews"][0] for attempt in attempts_of(records, "m-4713", hidden=False))
    assert (hidden["earned"], hidden["points"], hidden["by"]) == ("3", "4", "grace")
    assert hidden["question"] == "a hidden test"
    assert (hidden["items"], hidden["comment"], hidden["told"], hidden["why"]) == ([], "", "", "")
    assert visible["comment"] == "Of the mask." and visible["question"] == "2.1"


def test_without_hidden_tests(filled: Records) -> None:
    everything, told = (to_json(export_student(filled, "m-4711", hidden=hidden)).decode() for hidden in (True, False))
    for word in ("test_it.py::test_2", "Test 2."):
        assert word in everything and word not in told
    entry = json.loads(told)["attempts"][0]["scores"][0]["score"]["entries"][1]
    assert (entry["earned"], entry["points"], entry["name"]) == ("1", "4", "a hidden test")
    assert "Ada Lovelace says 1" in told, "the visible test's questions are there"
    assert format_call_log(students.call_log("Ada"), leave_out={"test_it.py::test_1"})[1:] == []


def test_unreadable_call_log() -> None:
    assert format_call_log(b"") == []
    assert format_call_log(b"nonsense") == [
        "A call log cannot be read: it is damaged, or another version of viva has written it."
    ]
    assert format_call_log(b"x" * (MAX_LOG_BYTES + 1)) == ["left out: a call log of 262,145 bytes"]
