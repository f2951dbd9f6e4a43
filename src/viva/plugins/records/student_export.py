"""Export everything that the records hold about one student, as plain data, and nothing about anyone else."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypedDict

from sqlalchemy import select
from sqlalchemy.orm import Session

import viva.sandbox.guest.transport.wire as wire
from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.model import Attempt, Case, Entry, Score
from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, Review
from viva.model.plain import to_plain
from viva.model.score import test_of
from viva.plugins.records.call_log import CallLog, Exchange
from viva.plugins.records.call_log.call_log import DIGEST
from viva.plugins.records.hand_grading import rows_of_contents
from viva.plugins.records.person import Person, PersonAttempt, find_person, names_pattern
from viva.plugins.records.store import Records
from viva.plugins.records.tables import AttemptRow, CallLogRow, Override, ProposedScore, ScoreRow, unpack_score

MAX_LOG_BYTES: Final = 256 << 10
"""The most bytes of a stored call log; a larger one is replaced by a line that says so."""
_MAX_SHOWN_CHARACTERS: Final = 1000
"""Of a request, and of an answer."""
_HIDDEN: Final = "a hidden test"
_OTHER: Final = "another student"


class StudentExport(TypedDict):
    """Everything that the records hold about one student."""

    students: list[dict[str, object]]
    """The person: more than one where several class lists have the name."""
    attempts: list[dict[str, object]]


def export_student(records: Records, name: str, *, hidden: bool = True) -> StudentExport:
    """Return what is known about one student. A team is shown as the student and the number of the others.

    Args:
        records: the records.
        name: as for `find_person`.
        hidden: include requests and findings of hidden tests; else these have only points.

    Raises:
        UsageError: no one or several people have this name.
    """
    with records.read() as session:
        person = find_person(session, name)
        attempts = [_export_attempt(session, person, each, hidden=hidden) for each in person.attempts]
    return {"students": [asdict(student) for student in person.students], "attempts": attempts}


def _export_attempt(session: Session, person: Person, each: PersonAttempt, *, hidden: bool) -> dict[str, object]:
    scores = session.scalars(select(ScoreRow).where(ScoreRow.attempt_id == each.id).order_by(ScoreRow.id)).all()
    unpacked = [unpack_score(row.packed) for row in scores]
    secret = set() if hidden else _hidden_names(unpacked)
    of_name = (Override.assignment == each.assignment, Override.name == each.attempt.name)
    overrides = session.scalars(select(Override).where(*of_name).order_by(Override.id))
    proposed = select(ProposedScore).where(ProposedScore.attempt_id == each.id).order_by(ProposedScore.id)
    others = person.others(each.attempt)
    plain = {
        "assignment": each.assignment,
        **to_plain(replace(each.attempt, students=(), submitted_at=None)),
        "submitted_at": each.attempt.submitted_at,
        "content_hash": each.content_hash,
        "kept_at": each.at,
        "others_in_team": len(others),
        "scores": [_export_score(session, row, score, secret) for row, score in zip(scores, unpacked, strict=True)],
        "overrides": [_export_override(row, secret) for row in overrides],
        "reviews": _export_reviews(session, person, each, secret),
        "regrades": [_export_regrade(row, hidden=hidden) for row in session.scalars(proposed)],
    }
    del plain["students"]
    return dict(_without_names(names_pattern(others), plain))


def _hidden_names(scores: Sequence[Score]) -> set[str]:
    """Return the tests and questions that students do not see."""
    unseen = [entry for score in scores for entry in score.entries if entry.visibility != "visible"]
    return {entry.test_id for entry in unseen} | {entry.rubric for entry in unseen if entry.rubric}


def _export_score(session: Session, row: ScoreRow, score: Score, secret: Collection[str]) -> dict[str, object]:
    call_log = session.scalar(select(CallLogRow.data).where(CallLogRow.id == row.call_log_id))
    return {
        "at": row.at,
        "by": row.by,
        "why": row.why,
        "kind": row.kind,
        "earned": str(score.earned),
        "points": str(score.points),
        "still_open": str(score.still_open),
        "score": to_plain(_without_hidden_tests(score) if secret else score),
        "call_log": format_call_log(call_log or b"", leave_out=secret),
    }


def _export_regrade(row: ProposedScore, *, hidden: bool) -> dict[str, object]:
    score = unpack_score(row.packed)
    return {
        "proposed_at": row.proposal.at,
        "by": row.proposal.by,
        "why": row.proposal.why,
        "applied": row.applied,
        "decided_at": row.decided_at,
        "decided_by": row.decided_by,
        "decided_why": row.decided_why,
        "score": to_plain(score if hidden else _without_hidden_tests(score)),
    }


def _export_override(row: Override, secret: Collection[str]) -> dict[str, object]:
    test = _HIDDEN if row.test_id in secret else row.test_id
    earned = None if row.earned is None else str(row.earned)
    return {"test": test, "earned": earned, "by": row.by, "why": row.why, "at": row.at}


def _export_reviews(session: Session, person: Person, each: PersonAttempt, secret: Collection[str]) -> object:
    """Return markers' decisions; if others submitted the same bytes, without requests that may be theirs, and names."""
    rows = rows_of_contents(session, each.assignment, [each.content_hash])
    same_bytes = _attempts_with_same_bytes(session, person, each)
    plain = [_export_review(row, secret) for row in rows if row.place.kind != APPEAL or not same_bytes]
    return _without_names(names_pattern(student for other in same_bytes for student in other.students), plain)


def _export_review(row: Review, secret: Collection[str]) -> dict[str, object]:
    judgement, question, why = row.judgement, row.place.question, row.why
    if question in secret:
        judgement = replace(judgement, items=(), adjust=Fraction(0), comment="", told="")
        question, why = _HIDDEN, ""
    return {
        "question": question,
        "kind": row.place.kind,
        "round": row.place.round,
        **to_plain(judgement),
        "by": row.by,
        "why": why,
        "at": row.at,
        "takes_back": bool(row.undoes),
    }


def _without_hidden_tests(score: Score) -> Score:
    """Return a score without the requests and findings of hidden tests."""
    return replace(score, entries=tuple(e if e.visibility == "visible" else _hide(e) for e in score.entries))


def _hide(entry: Entry) -> Entry:
    only = Case("", entry.status, entry.earned, entry.points, "")
    return replace(entry, test_id=_HIDDEN, name=_HIDDEN, cases=(only,), tags=())


def _attempts_with_same_bytes(session: Session, person: Person, each: PersonAttempt) -> list[Attempt]:
    """Return the attempts of others, outside the person's teams, with the same bytes."""
    same = (AttemptRow.assignment == each.assignment, AttemptRow.content_hash == each.content_hash)
    own = {attempt.id for attempt in person.attempts}
    return [row.attempt for row in session.scalars(select(AttemptRow).where(*same)) if row.id not in own]


def _without_names(names: re.Pattern[str], plain: object) -> Any:
    """Replace names in plain data."""
    if isinstance(plain, str):
        return names.sub(_OTHER, plain)
    if isinstance(plain, Mapping):
        return {names.sub(_OTHER, key): _without_names(names, value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_without_names(names, value) for value in plain]
    return plain


def format_call_log(data: bytes, *, leave_out: Collection[str] = ()) -> list[str]:
    """Return requests and answers, one line for each request.

    Args:
        data: as `CallLog.to_bytes` returns it; may be empty.
        leave_out: ids of tests whose requests are secret.
    """
    if not data:
        return []
    if len(data) > MAX_LOG_BYTES:
        return [f"left out: a call log of {len(data):,} bytes"]
    try:
        call_log = CallLog.from_bytes(data)
    except UsageError as error:
        return [str(error)]
    lines = []
    for number, load in enumerate(call_log.loads, 1):
        lines += [f"loading, box {number}: {_format_exchange(exchange)}" for exchange in load]
    for case, exchanges in call_log.cases.items():
        if test_of(case) not in leave_out:
            lines += [f"{escaping.line(case)}: {_format_exchange(exchange)}" for exchange in exchanges]
    return lines


def _format_exchange(exchange: Exchange) -> str:
    asked = _read_message(exchange.question)
    if isinstance(asked, dict):
        op = asked.pop("op", "?")
        fields = ", ".join(f"{name}={value!r}" for name, value in asked.items())
        asked = f"{op}({fields})"
    answered = f"{exchange.ending}: {exchange.why}" if exchange.ending else repr(_read_message(exchange.reply))
    return " → ".join(escaping.terminal(str(part), characters=_MAX_SHOWN_CHARACTERS) for part in (asked, answered))


def _read_message(message: bytes) -> object:
    if message.startswith(DIGEST):
        return "a long question, of which the digest is kept"
    try:
        return wire.load(message)
    except wire.WireError:
        return "what cannot be read"


def write_export(path: Path, exported: StudentExport) -> None:
    """Write the file to hand over.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, to_json(exported), mode=0o600)  # it may hold hidden tests


def to_json(exported: StudentExport) -> bytes:
    """Return the file to hand over; characters that no file can hold are escaped."""
    return json.dumps(exported, indent=2, default=str).encode("ascii") + b"\n"
