"""Delete a student's rows, and add one row that says so, without a name."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Text, delete, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from viva.model import Student
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.database import split_values, wipe, write_session
from viva.plugins.records.person import Person, find_person, names_pattern
from viva.plugins.records.store import Records
from viva.plugins.records.tables import (
    AttemptRow,
    Base,
    CallLogRow,
    Claim,
    DeletionRow,
    Override,
    ProposalRow,
    ProposedScore,
    ReviewRow,
    ScoreRow,
    StoredJson,
    hash_plain,
)

_WORDS: Final = {
    ProposedScore: "proposed score",
    ScoreRow: "score",
    CallLogRow: "call log",
    Override: "override",
    ReviewRow: "review",
    AttemptRow: "submission",
}
"""The tables that have rows about students, in an order in which rows can be deleted, and what people call a row."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is or was deleted, and what stays."""

    person: Person
    counts: dict[str, int]
    """How many rows, by what people call them."""
    mentions: tuple[str, ...] = ()
    """Where rows that stay still name the student."""
    not_wiped: str = ""
    """Why bytes may still be in the database's files; empty if none are."""


_Rows = dict[type[Base], list[int]]
"""The numbers of rows, by table."""


def preview_deletion(records: Records, name: str) -> Deletion:
    """Return what `delete_student` would delete, without a change. Raises what `find_person` raises."""
    with records.read() as session:
        person = find_person(session, name)
        return Deletion(person, _count(_find_rows(session, person)))


def delete_student(records: Records, name: str, reason: Reason) -> Deletion:
    """Delete every row of one student, in one transaction, and add a row that says how many.

    Args:
        records: the records.
        name: as for `find_person`.
        reason: who does it, and why; it must not name the student.

    Raises:
        UsageError: no one or several people have this name, the reason names the student, or it cannot be written.
    """
    with write_session(records.engine) as session:
        person = find_person(session, name)
        names = names_pattern(person.students)
        if names.search(reason.why) or names.search(reason.by):
            raise UsageError("The reason stays in the records and names the student; omit the name in --why.")
        rows = _find_rows(session, person)
        session.expunge_all()  # rows that are about to go
        for part in split_values(rows[AttemptRow]):
            session.execute(delete(Claim).where(Claim.attempt_id.in_(part)))
        for table in _WORDS:
            for part in split_values(rows[table]):
                session.execute(delete(table).where(table.id.in_(part)))  # type: ignore[attr-defined]  # all have one
        _leave_teams(session, person)
        session.add(DeletionRow(rows=_count(rows), by=reason.by, why=reason.why))
        session.flush()
        mentions = _find_mentions(session, person)
    return Deletion(person, _count(rows), tuple(mentions), wipe(records.engine))


def _count(rows: _Rows) -> dict[str, int]:
    return {_WORDS[table]: len(rows[table]) for table in reversed(_WORDS)}


def _find_rows(session: Session, person: Person) -> _Rows:
    """Return the rows that are only about this person."""
    own = [each.id for each in person.alone]
    scores = _select_in(session, ScoreRow, ScoreRow.attempt_id, own)
    proposed = _select_in(session, ProposedScore, ProposedScore.attempt_id, own)
    logs = {row.call_log_id for row in [*scores, *proposed]} - {None}
    for table, deleted in ((ScoreRow, scores), (ProposedScore, proposed)):
        users = _select_in(session, table, table.call_log_id, [*logs])
        logs -= {user.call_log_id for user in users if user not in deleted}
    return {
        AttemptRow: own,
        ScoreRow: [row.id for row in scores],
        ProposedScore: [row.id for row in proposed],
        CallLogRow: sorted(logs),
        Override: _rows_of_person_alone(session, person, Override, AttemptRow.name, Override.name),
        ReviewRow: _rows_of_person_alone(session, person, ReviewRow, AttemptRow.content_hash, ReviewRow.content_hash),
    }


def _select_in(session: Session, table: Any, column: InstrumentedAttribute[Any], values: Sequence[Any]) -> list[Any]:
    """Return the rows of a table whose column has one of the values."""
    return [row for part in split_values(values) for row in session.scalars(select(table).where(column.in_(part)))]


def _rows_of_person_alone(
    session: Session,
    person: Person,
    table: type[Override] | type[ReviewRow],
    of_attempt: InstrumentedAttribute[str],
    of_row: InstrumentedAttribute[str],
) -> list[int]:
    """Return rows about a name or content that only the person's attempts have, and none of others."""
    own = {each.id for each in person.alone}
    found: list[int] = []
    query = select(AttemptRow.assignment, of_attempt).distinct()
    values = {
        tuple(row) for part in split_values([*own]) for row in session.execute(query.where(AttemptRow.id.in_(part)))
    }
    for assignment, value in sorted(values):
        alike = select(AttemptRow.id).where(AttemptRow.assignment == assignment, of_attempt == value)
        if set(session.scalars(alike)) <= own:
            found += session.scalars(select(table.id).where(table.assignment == assignment, of_row == value))
    return found


def _leave_teams(session: Session, person: Person) -> None:
    """Remove the student from attempts of teams; the digest is computed again because it would reveal the student."""
    for each in person.shared:
        row = session.get_one(AttemptRow, each.id)
        without = AttemptRow.create(
            each.assignment, each.content_hash, replace(each.attempt, students=person.others(each.attempt))
        )
        row.students, row.digest = without.students, hash_plain([each.id, without.digest])


def _find_mentions(session: Session, person: Person) -> list[str]:
    """List columns of rows that stay and still contain a known name of the student."""
    aliases = [Student(each.attempt.name) for each in person.alone]
    names = names_pattern([*person.students, *aliases], parts=False)
    found = []
    for table in (AttemptRow, Override, ReviewRow, ScoreRow, ProposalRow, ProposedScore):
        columns = [c for c in table.__table__.columns if isinstance(c.type, Text | StoredJson)]
        for row in session.execute(select(table.id, *columns)):
            for column, value in zip(columns, row[1:], strict=True):
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                if names.search(text):
                    found.append(f"{table.__tablename__}, row {row[0]}: {column.name}")
    return found
