"""Append and read rows, in an order that is the same for every reader."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session

from viva.formats.escaping import REPLACEMENT
from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, MARK, SETTLED, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records.database import AT_ONCE, split_values, write_session
from viva.plugins.records.store import Records
from viva.plugins.records.tables import ReviewRow, now

_REASON_MISSING: Final = {
    APPEAL: "A request for another look at question {question} needs its text; write what is to be looked at.",
    SETTLED: "A decision on question {question} overrides the markers and needs a reason; write why.",
}


class Changed(UsageError):
    """Another marker has changed the same place since; nothing was written."""

    def __init__(self, rows: Sequence[Review]) -> None:
        who = ", ".join(dict.fromkeys(row.by for row in rows))
        super().__init__(
            f"This was changed in the meantime{f' by {who}' if who else ''}, and your change was not saved. Look at "
            "what is there now, then make your change again."
        )
        self.rows = tuple(rows)
        """The latest row of each place that was changed."""


def append(
    records: Records,
    assignment: str,
    action: str,
    judgements: Sequence[tuple[Place, Judgement]],
    reason: Reason,
    *,
    seen: Mapping[Place, int] = {},
) -> list[Review]:
    """Store all decisions of one action of a marker, or none; if the action is stored already, return its rows.

    Row numbers increase in the order in which transactions end, in PostgreSQL too, so that `since` misses none.

    Args:
        records: the records.
        assignment: its name.
        action: the client's unique name of the action, so that a request may be sent twice.
        judgements: the complete decisions and their places.
        reason: who decides, and why.
        seen: number of the latest row that the marker saw at a place, 0 for none; places that are not in it are not
            checked.

    Raises:
        Changed: the latest row of a place is not the one that was seen.
        UsageError: a settled decision or a request has no reason, or it cannot be written.
        ValueError: a place has a round that its kind does not have.
    """
    for place, _ in judgements:
        if (place.kind == MARK) != (place.round > 0):
            raise ValueError(f"{place}: marks have a round from 1, other kinds have 0")
        if place.kind in _REASON_MISSING and not reason.why.strip():
            raise UsageError(_REASON_MISSING[place.kind].format(question=place.question))
    with write_session(records.engine) as session:
        if stored := rows_of_action(session, assignment, action):
            return stored
        _check_seen(session, assignment, seen)
        return add_rows(session, assignment, action, judgements, reason)


def since(records: Records, assignment: str, last: int) -> list[Review]:
    """Return every row after the one with this number, in order."""
    with records.read() as session:
        return _read(session, _rows_of(assignment).where(ReviewRow.id > last))


def latest_rows(records: Records, assignment: str) -> list[Review]:
    """Return the latest row of each place, and every regrade request, in order."""
    chosen = or_(ReviewRow.id.in_(_last_ids(assignment)), ReviewRow.kind == APPEAL)
    with records.read() as session:
        return _read(session, _rows_of(assignment).where(chosen))


def history(records: Records, assignment: str, content_hash: str, question: str) -> list[Review]:
    """Return all rows about one answer, from the first to the last."""
    with records.read() as session:
        return rows_of_contents(session, assignment, [content_hash], ReviewRow.question == question)


def rows_about(records: Records, assignment: str, hashes: Collection[str]) -> list[Review]:
    """Return all rows about these contents, from the first to the last."""
    with records.read() as session:
        return rows_of_contents(session, assignment, hashes)


def rows_of_contents(
    session: Session, assignment: str, hashes: Collection[str], *conditions: ColumnElement[bool]
) -> list[Review]:
    """Return all rows about these contents that meet the conditions, from the first to the last."""
    found: list[Review] = []
    for part in split_values(sorted(set(hashes))):
        found += _read(session, _rows_of(assignment).where(ReviewRow.content_hash.in_(part), *conditions))
    return sorted(found, key=lambda row: row.id)


def rows_of_action(session: Session, assignment: str, action: str) -> list[Review]:
    """Return the rows of an action, in order."""
    return _read(session, _rows_of(assignment).where(ReviewRow.action == make_storable(action)))


def read_backwards(session: Session, assignment: str, by: str, round: int) -> Iterator[Review]:
    """Yield a marker's rows of a round, and settled ones, from the last to the first; read in batches as needed."""
    marks = and_(ReviewRow.kind == MARK, ReviewRow.round == round)
    chosen = _rows_of(assignment).where(ReviewRow.by == make_storable(by), or_(marks, ReviewRow.kind == SETTLED))
    newest_first = chosen.order_by(ReviewRow.id.desc()).limit(AT_ONCE)
    rows = session.scalars(newest_first).all()
    while rows:
        yield from map(_review, rows)
        rows = session.scalars(newest_first.where(ReviewRow.id < rows[-1].id)).all()


def add_rows(
    session: Session,
    assignment: str,
    action: str,
    judgements: Iterable[tuple[Place, Judgement]],
    reason: Reason,
    *,
    undoes: str = "",
) -> list[Review]:
    """Add the rows of an action in an open transaction."""
    at = now()
    rows = [
        ReviewRow(
            action=make_storable(action),
            assignment=assignment,
            content_hash=place.content_hash,
            question=place.question,
            kind=place.kind,
            round=place.round,
            items=list(judgement.items),
            adjust=judgement.adjust,
            comment=make_storable(judgement.comment),
            done=judgement.done,
            earned=judgement.earned,
            points=judgement.points,
            told=make_storable(judgement.told),
            undoes=undoes,
            by=make_storable(reason.by),
            why=make_storable(reason.why),
            at=at,
        )
        for place, judgement in judgements
    ]
    session.add_all(rows)
    session.flush()
    return [_review(row) for row in rows]


def make_storable(text: str) -> str:
    """Return text that both databases accept: without NUL and lone surrogates, which a browser can send."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", REPLACEMENT)


def _check_seen(session: Session, assignment: str, seen: Mapping[Place, int]) -> None:
    """Raise `Changed` if the latest row of a place is not the one that was seen."""
    latest: dict[Place, Review] = {}
    for part in split_values(sorted({place.content_hash for place in seen})):
        last = _last_ids(assignment).where(ReviewRow.content_hash.in_(part))
        latest.update((row.place, row) for row in _read(session, _rows_of(assignment).where(ReviewRow.id.in_(last))))
    changed = [place for place, number in seen.items() if number != (latest[place].id if place in latest else 0)]
    if changed:
        raise Changed([latest[place] for place in changed if place in latest])


def _rows_of(assignment: str) -> Select[ReviewRow]:
    return select(ReviewRow).where(ReviewRow.assignment == assignment)


def _last_ids(assignment: str) -> Select[int]:
    """Select the number of the latest row of each place."""
    place = (ReviewRow.content_hash, ReviewRow.question, ReviewRow.kind, ReviewRow.round)
    return select(func.max(ReviewRow.id)).where(ReviewRow.assignment == assignment).group_by(*place)


def _read(session: Session, query: Select[ReviewRow]) -> list[Review]:
    return [_review(row) for row in session.scalars(query.order_by(ReviewRow.id))]


def _review(row: ReviewRow) -> Review:
    judgement = Judgement(
        items=tuple(row.items),
        adjust=row.adjust,
        comment=row.comment,
        done=row.done,
        earned=row.earned,
        points=row.points,
        told=row.told,
    )
    place = Place(row.content_hash, row.question, row.kind, row.round)
    return Review(row.id, row.action, place, judgement, row.by, row.why, row.at, row.undoes)
