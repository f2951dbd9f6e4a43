"""Remove a student's rows, and add one row that says so, without a name."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Column, ColumnElement, Connection, Row, Table, delete, insert, select, update

from viva.model import Student
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.database import parts, wipe, writing
from viva.plugins.records.database_tables import (
    attempts,
    call_logs,
    claims,
    decisions,
    overrides,
    proposals,
    proposed,
    removals,
    reviews,
    scores,
)
from viva.plugins.records.find_person import Person, find_person
from viva.plugins.records.pseudonyms import Anonymiser, pseudonym
from viva.plugins.records.row_packing import attempt_to
from viva.plugins.records.store import Records, now


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows of each table are removed."""

    attempts: int
    scores: int
    call_logs: int
    overrides: int
    reviews: int
    proposed: int
    decisions: int
    shared: int
    """Attempts that others submitted too: they stay, without the student."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What is or was removed, and what stays."""

    person: Person
    counts: RowCounts
    mentions: tuple[str, ...] = ()
    """Where rows that stay still name the student."""
    unwiped: str = ""
    """Why bytes may still be in the database's files; empty if none are."""


@dataclass(frozen=True, slots=True)
class _Rows:
    attempts: Sequence[int]
    scores: Sequence[int]
    call_logs: Sequence[int]
    overrides: Sequence[int]
    reviews: Sequence[int]
    proposed: Sequence[int]
    decisions: Sequence[int]


def would_remove(records: Records, name: str) -> Removal:
    """Return what `remove` would remove, without a change. Raises what `find_person` raises."""
    with records.engine.connect() as connection:
        person = find_person(connection, name)
        return Removal(person, _count_rows(_rows(connection, person), person))


def remove(records: Records, name: str, reason: Reason, secret: bytes) -> Removal:
    """Remove every row of one student, in one transaction, and add a row to `removals`.

    Args:
        records: the records.
        name: as for `find_person`.
        reason: who does it, and why; it must not name the student.
        secret: the course's secret, from which the pseudonym is derived.

    Raises:
        UsageError: no one or several people have this name, the reason names the student, or it cannot be written.
    """
    with writing(records.engine) as connection:
        person = find_person(connection, name)
        if any(Anonymiser(person.students, secret).finds(text) for text in (reason.why, reason.by)):
            raise UsageError("The reason stays in the records and names the student; say it without the name: --why.")
        rows = _rows(connection, person)
        counts = _count_rows(rows, person)
        for table, numbers in (
            (decisions, rows.decisions),
            (proposed, rows.proposed),
            (scores, rows.scores),
            (call_logs, rows.call_logs),
            (overrides, rows.overrides),
            (reviews, rows.reviews),
            (attempts, rows.attempts),
        ):
            for part in parts(numbers):
                connection.execute(delete(table).where(table.c.id.in_(part)))
        for part in parts(rows.attempts):
            connection.execute(delete(claims).where(claims.c.attempt_id.in_(part)))
        _leave_teams(connection, person)
        name_in_log = pseudonym(min(person.ids, default=name), secret)
        row = {
            "pseudonym": name_in_log,
            "rows": json.dumps(asdict(counts)),
            "by": reason.by,
            "why": reason.why,
            "at": now(),
        }
        connection.execute(insert(removals).values(**row))
        mentions = tuple(_mentions(connection, _whole_names_of(person)))
    return Removal(person, counts, mentions, wipe(records.engine))


def _rows(connection: Connection, person: Person) -> _Rows:
    """Return the rows that are only about this person."""
    own = [each.id for each in person.alone]
    scored = _ids(connection, scores, scores.c.attempt_id.in_, own)
    pending = _ids(connection, proposed, proposed.c.attempt_id.in_, own)
    log_ids = [
        number
        for table, numbers in ((scores, scored), (proposed, pending))
        for number in _ids(connection, table, table.c.id.in_, numbers, table.c.call_log_id)
        if number is not None
    ]
    of_others = {
        number
        for table, gone in ((scores, set(scored)), (proposed, set(pending)))
        for row in _select(connection, table, table.c.call_log_id.in_, log_ids, table.c.id, table.c.call_log_id)
        if row.id not in gone
        for number in [row.call_log_id]
    }
    return _Rows(
        own,
        scored,
        sorted(set(log_ids) - of_others),
        _of_person_alone(connection, person, overrides, attempts.c.name, overrides.c.name),
        _of_person_alone(connection, person, reviews, attempts.c.content_hash, reviews.c.content_hash),
        pending,
        _ids(connection, decisions, decisions.c.proposed_id.in_, pending),
    )


def _of_person_alone(
    connection: Connection, person: Person, table: Table, column: "Column[str]", same: "Column[str]"
) -> list[int]:
    """Return rows about a name or content that only the person's attempts have, and none of others."""
    gone = {each.id for each in person.alone}
    own = select(attempts.c.assignment, column).where(attempts.c.id.in_(gone)).distinct()
    found: list[int] = []
    for assignment, value in sorted(map(tuple, connection.execute(own))):
        alike = select(attempts.c.id).where(attempts.c.assignment == assignment, column == value)
        if set(connection.execute(alike).scalars()) <= gone:
            found += connection.execute(
                select(table.c.id).where(table.c.assignment == assignment, same == value)
            ).scalars()
    return found


def _leave_teams(connection: Connection, person: Person) -> None:
    """Remove the student from attempts of teams; the digest is recomputed because it would reveal the student."""
    for each in person.shared:
        row = attempt_to(replace(each.attempt, students=each.others))
        plain = json.dumps([each.id, each.assignment, each.content_hash, row], sort_keys=True)
        digest = hashlib.sha256(plain.encode()).hexdigest()
        values = {"students": row["students"], "digest": digest}
        connection.execute(update(attempts).where(attempts.c.id == each.id).values(**values))


def _mentions(connection: Connection, named: Anonymiser) -> Iterable[str]:
    """Yield columns of rows that stay and still contain a known name of the student."""
    for table, columns in (
        (attempts, ("name", "path", "students", "team", "also")),
        (overrides, ("name", "by", "why")),
        (reviews, ("comment", "told", "by", "why")),
        (scores, ("by", "why")),
        (proposals, ("by", "why")),
        (decisions, ("by", "why")),
    ):
        for row in connection.execute(select(table.c.id, *(table.c[name] for name in columns))):
            for name in columns:
                text = getattr(row, name)
                if named.finds(
                    json.dumps(json.loads(text), ensure_ascii=False) if name in ("students", "also") else text
                ):
                    yield f"{table.name}, row {row.id}: {name}"


def _whole_names_of(person: Person) -> Anonymiser:
    """Return what finds the person in rows of others: whole names, because others may share a part of one."""
    words = {word for s in person.students for word in (s.id, s.name, s.email, *s.also.values())}
    words |= {each.attempt.name for each in person.alone}
    return Anonymiser([Student(word) for word in words if word and not word.isdecimal()], b"")


def _count_rows(rows: _Rows, person: Person) -> RowCounts:
    return RowCounts(
        len(rows.attempts),
        len(rows.scores),
        len(rows.call_logs),
        len(rows.overrides),
        len(rows.reviews),
        len(rows.proposed),
        len(rows.decisions),
        len(person.shared),
    )


def _ids(
    connection: Connection,
    table: Table,
    chosen: Callable[[Sequence[int]], ColumnElement[bool]],
    numbers: Sequence[int],
    column: "Column[int] | None" = None,
) -> list[int]:
    wanted = table.c.id if column is None else column
    return [row[0] for row in _select(connection, table, chosen, numbers, wanted)]


def _select(
    connection: Connection,
    table: Table,
    chosen: Callable[[Sequence[int]], ColumnElement[bool]],
    numbers: Sequence[int],
    *columns: "Column[int]",
) -> "list[Row[*tuple[int, ...]]]":
    return [
        row
        for part in parts(numbers)
        for row in connection.execute(select(*columns).where(chosen(part)).order_by(table.c.id))
    ]
