"""Export everything that the records hold about one student, as plain data, and nothing about anyone else."""

import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from sqlalchemy import Connection, select

from viva.formats.atomic_write import write_atomically
from viva.model import Attempt, Case, Entry, Score, Student
from viva.model.hand_grading import APPEAL, Review
from viva.model.plain import to_plain
from viva.plugins.records.database_tables import attempts, call_logs, decisions, overrides, proposals, proposed, scores
from viva.plugins.records.find_person import Person, PersonAttempt, find_person
from viva.plugins.records.hand_grading import of_contents
from viva.plugins.records.pseudonyms import Anonymiser
from viva.plugins.records.readable_log import readable
from viva.plugins.records.row_packing import attempt_from, attempt_to, unpack_score
from viva.plugins.records.store import Records

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRow, StoredRows

_HIDDEN = "a hidden test"


class Account(TypedDict):
    """Everything that the records hold about one student."""

    students: list[dict[str, object]]
    """The person: more than one where several class lists have the name."""
    attempts: list[dict[str, object]]


def account_of(records: Records, name: str, *, hidden: bool = True) -> Account:
    """Return what is known about one student. A team is shown as the student and the number of the others.

    Args:
        records: the records.
        name: as for `find_person`.
        hidden: include requests and findings of hidden tests; else these have only points.

    Raises:
        UsageError: no one or several people have this name.
    """
    with records.engine.connect() as connection:
        person = find_person(connection, name)
        found = [_attempt(connection, person, each, hidden=hidden) for each in person.attempts]
    return {"students": [asdict(student) for student in person.students], "attempts": found}


def _attempt(connection: Connection, person: Person, each: PersonAttempt, *, hidden: bool) -> dict[str, object]:
    columns = attempt_to(replace(each.attempt, students=()))
    unseen: set[str] = set()
    history = [_scored(connection, row, unseen, hidden=hidden) for row in connection.execute(_scores_of(each))]
    plain = {
        "assignment": each.assignment,
        **{key: value for key, value in columns.items() if key not in ("students", "also")},
        "also": dict(each.attempt.also),
        "content_hash": each.content_hash,
        "kept_at": each.at,
        "others_in_team": len(each.others),
        "scores": history,
        "overrides": [_plain(row, unseen, hidden=hidden) for row in connection.execute(_overrides_of(each))],
        "reviews": _reviews(connection, each, _same_bytes(connection, person, each), unseen if not hidden else ()),
        "regrades": [_regrade(row, hidden=hidden) for row in connection.execute(_regrades_of(each))],
    }
    return dict(_without(_others(each.others), plain)) if each.others else plain


def _others(students: Iterable[Student]) -> Anonymiser:
    """Return pseudonyms that differ in each file, so that files cannot be linked by them."""
    return Anonymiser(students, secrets.token_bytes(32))


def _scored(connection: Connection, row: "StoredRow", unseen: set[str], *, hidden: bool) -> dict[str, object]:
    score = unpack_score(row.score)
    tests = {e.test_id for e in score.entries if e.visibility != "visible"}
    unseen |= tests | {e.rubric for e in score.entries if e.visibility != "visible" and e.rubric}
    data = connection.execute(select(call_logs.c.data).where(call_logs.c.id == row.call_log_id)).scalar()
    return {
        "at": row.at,
        "by": row.by,
        "why": row.why,
        "kind": row.kind,
        "earned": row.earned,
        "points": row.points,
        "still_open": row.still_open,
        "score": to_plain(score if hidden else _without_hidden_tests(score)),
        "call_log": readable(bytes(data or b""), leave_out=frozenset() if hidden else tests),
    }


def _regrade(row: "StoredRow", *, hidden: bool) -> dict[str, object]:
    score = unpack_score(row.score)
    return {
        "proposed_at": row.at,
        "by": row.by,
        "why": row.why,
        "applied": row.applied,
        "decided_at": row.decided_at,
        "decided_by": row.decided_by,
        "decided_why": row.decided_why,
        "score": to_plain(score if hidden else _without_hidden_tests(score)),
    }


def _plain(row: "StoredRow", unseen: set[str], *, hidden: bool) -> dict[str, object]:
    test = row.test_id if hidden or row.test_id not in unseen else _HIDDEN
    return {"test": test, "earned": row.earned, "by": row.by, "why": row.why, "at": row.at}


def _reviews(
    connection: Connection, each: PersonAttempt, same_bytes: Sequence[Attempt], unseen: Collection[str]
) -> list[dict[str, object]]:
    """Return markers' decisions; if others submitted the same bytes, without requests that may be theirs, and names."""
    rows = of_contents(connection, each.assignment, [each.content_hash])
    shown = [_review(row, unseen) for row in rows if row.place.kind != APPEAL or not same_bytes]
    named = [student for other in same_bytes for student in other.students]
    return list(_without(_others(named), shown)) if named else shown


def _review(row: Review, unseen: Collection[str]) -> dict[str, object]:
    is_hidden = row.place.question in unseen
    judgement = (
        replace(row.judgement, items=(), adjust=Fraction(0), comment="", told="") if is_hidden else row.judgement
    )
    return {
        "question": _HIDDEN if is_hidden else row.place.question,
        "kind": row.place.kind,
        "round": row.place.round,
        **{name: str(value) if isinstance(value, Fraction) else value for name, value in asdict(judgement).items()},
        "by": row.by,
        "why": "" if is_hidden else row.why,
        "at": row.at,
        "takes_back": bool(row.undoes),
    }


def _without_hidden_tests(score: Score) -> Score:
    """Return a score without the requests and findings of hidden tests."""
    return replace(score, entries=tuple(e if e.visibility == "visible" else _hidden(e) for e in score.entries))


def _hidden(entry: Entry) -> Entry:
    only = Case("", entry.status, entry.earned, entry.points, "")
    return replace(entry, test_id=_HIDDEN, name=_HIDDEN, cases=(only,), tags=())


def _scores_of(each: PersonAttempt) -> "StoredRows":
    return select(scores).where(scores.c.attempt_id == each.id).order_by(scores.c.id)


def _overrides_of(each: PersonAttempt) -> "StoredRows":
    named = (overrides.c.assignment == each.assignment, overrides.c.name == each.attempt.name)
    return select(overrides).where(*named).order_by(overrides.c.id)


def _same_bytes(connection: Connection, person: Person, each: PersonAttempt) -> list[Attempt]:
    """Return the attempts of others, outside the person's teams, with the same bytes."""
    same = (attempts.c.assignment == each.assignment, attempts.c.content_hash == each.content_hash)
    columns = [column for column in attempts.c if column.name not in ("at", "digest")]
    rows = connection.execute(select(*columns).where(*same).order_by(attempts.c.id))
    theirs = {attempt.id for attempt in person.attempts}
    return [attempt_from(row) for row in rows if row.id not in theirs]


def _regrades_of(each: PersonAttempt) -> "StoredRows":
    decided = (
        decisions.c.applied,
        decisions.c.at.label("decided_at"),
        decisions.c.by.label("decided_by"),
        decisions.c.why.label("decided_why"),
    )
    joined = proposed.join(proposals, proposed.c.proposal_id == proposals.c.id)
    return (
        select(proposed.c.score, proposals.c.at, proposals.c.by, proposals.c.why, *decided)
        .select_from(joined.outerjoin(decisions, decisions.c.proposed_id == proposed.c.id))
        .where(proposed.c.attempt_id == each.id)
        .order_by(proposed.c.id)
    )


def _without(others: Anonymiser, plain: object) -> Any:
    """Replace the names of these students in plain data."""
    if isinstance(plain, str):
        return others.text(plain)
    if isinstance(plain, Mapping):
        return {others.text(key): _without(others, value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_without(others, value) for value in plain]
    return plain


def write_account(path: Path, account: Mapping[str, object]) -> None:
    """Write the file to hand over.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, to_json(account), mode=0o600)  # it may hold hidden tests


def to_json(account: Mapping[str, object]) -> bytes:
    """Return the file to hand over; characters that no file can hold are escaped."""
    return json.dumps(account, indent=2, default=str).encode("ascii") + b"\n"
