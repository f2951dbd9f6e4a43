"""A small class in the records: Ada alone, Bob with Ada in a team, Cem alone; everything that rows can hold."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import viva.sandbox.guest.transport.wire as wire
from tests.support import prose, samples
from viva.model import Attempt, Score, Student
from viva.model.hand_grading import APPEAL, SECOND, SETTLED
from viva.model.reason import Reason
from viva.plugins.records.call_log import CallLog, Exchange, question_of
from viva.plugins.records.hand_grading import append, undo
from viva.plugins.records.overrides import override
from viva.plugins.records.proposals import NewGrading, decide, pending_proposal, propose
from viva.plugins.records.store import Records, StoredScore

ADA = Student("m-4711", "Ada Lovelace", "ada.l@example.org", "A", {"canvas": "1001", "login": "alovelace"})
BOB = Student("m-4712", "Bob Stone", "bob.s@example.org", "A", {"canvas": "1002"})
CEM = Student("m-4713", "Cem Özkan", "cem.o@example.org", "B", {"canvas": "1003"})
BY = Reason("grace", "the first grading")
NAMES = ("Ada", "Lovelace", "lovelaceada", "m-4711", "ada.l@", "alovelace", "Bob", "Stone", "m-4712",
         "bob.s@", "Cem", "Özkan", "özkancem", "m-4713", "cem.o@", "Rocket")  # fmt: skip


def call_log(who: str) -> bytes:
    """The program of someone, who has signed it, and what it answered."""
    made = CallLog()
    code = f"# by {who}\ndef f():\n    return 1\n".encode()
    put = question_of("put", {"path": "solution.py", "data": code})
    asked = question_of("call", {"name": "f", "args": [1]})
    made.loads = [[Exchange(put, _message({"ok": True}))]]
    made.cases["test_it.py::test_1"] = [Exchange(asked, _message({"value": f"{who} says 1"}))]
    return made.to_bytes()


def keep(records: Records, attempt: Attempt, who: str, *, transcribed: bool = True) -> StoredScore:
    """A graded submission whose messages name the student."""
    (number,) = records.add_attempts("small", [(attempt, f"hash of {attempt.name}")])
    score = graded(attempt, who)
    said = call_log(who) if transcribed else b""
    made = records.add_score(number, score, samples.made("m1"), BY, call_log=said)
    (kept,) = [kept for kept in records.current("small") if kept.id == made]
    return kept


def graded(attempt: Attempt, who: str, *earned: int) -> Score:
    """A score whose texts name someone."""
    plain = samples.score(str(attempt.path), *earned, content_hash=f"hash of {attempt.name}")
    score = samples.with_message(plain, f"{who} wrote 3, expected 4")
    last = replace(score.entries[1], written=f"I, {who}, think so.", visibility="hidden")
    return replace(score, entries=(score.entries[0], last), notes=(f"{attempt.name}: cell 3 was not run",))


def handed_in(name: str, *students: Student, team: str = "", attempt: int = 1) -> Attempt:
    path = Path("/class") / name
    return Attempt(name, path, students, samples.MOMENT, True, attempt, team, "canvas", {"submission": "9"})


def fill(records: Records) -> None:
    """Two attempts of Ada's, one of them regraded and changed by hand; the team's; Cem's."""
    first = keep(records, handed_in("lovelaceada_1001", ADA), "Ada Lovelace")
    second = keep(records, handed_in("lovelaceada_1001-attempt-2", ADA, attempt=2), "Ada Lovelace")
    keep(records, handed_in("submission_7", ADA, BOB, team="Team Rocket"), "Bob Stone")
    cem = keep(records, handed_in("özkancem_1003", CEM), "Cem Özkan")
    attempt = second.scored.attempt
    override(records, second.scored.score, attempt.name, "1", Fraction(3), Reason("grace", "Ada argued well"))
    override(records, cem.scored.score, cem.scored.attempt.name, "1", Fraction(2), Reason("grace", "seen"))
    made = samples.made("m2")
    found = [
        NewGrading(kept, graded(kept.scored.attempt, "Ada", 1, 1), made, differs=True) for kept in (first, second, cem)
    ]
    propose(records, "small", found, Reason("grace", "other points"))
    proposal = pending_proposal(records, "small")
    assert proposal is not None
    decide(records, proposal, BY, applied=True, chosen=lambda change: change.kept.id in (first.id, cem.id))
    mark(records)


def mark(records: Records) -> None:
    """Ada's prose by two markers who differ, then settled on request; Cem's, and a word that was taken back."""
    ada, cem = ("hash of lovelaceada_1001", "hash of özkancem_1003")
    grace, alan = Reason("grace"), Reason("alan")
    append(records, "small", "a1", [(prose.place(ada), prose.said(3, comment="Well said, Ada."))], grace)
    append(records, "small", "a2", [(prose.place(ada, round=SECOND), prose.said(1))], alan)
    asked = Reason("Ada Lovelace", "I, Ada, meant the other one.")
    append(records, "small", "a3", [(prose.place(ada, kind=APPEAL), prose.said(0, done=False))], asked)
    append(
        records,
        "small",
        "a4",
        [(prose.place(ada, kind=SETTLED), prose.said(4))],
        Reason("grace", "Ada is right"),
    )
    append(records, "small", "a5", [(prose.place(cem), prose.said(2))], grace)
    append(
        records,
        "small",
        "a6",
        [(prose.place("hash of submission_7"), prose.said(2, comment="Stone, again?"))],
        grace,
    )
    append(records, "small", "a7", [(prose.place(cem), prose.said(3, comment="Thank you, Cem."))], grace)
    undo(records, "small", "a8", grace, 1)


def _message(value: object) -> bytes:
    return b"".join(bytes(part) for part in wire.dump(value))
