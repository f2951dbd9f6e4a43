"""Append and read rows, in an order that is the same for every reader."""

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Connection, and_, func, insert, or_, select

from viva.formats.escaping import REPLACEMENT
from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, MARK, SETTLED, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records.database import AT_ONCE, lock_until_end, parts, writing
from viva.plugins.records.database_tables import reviews
from viva.plugins.records.row_packing import points_from
from viva.plugins.records.store import Records, now

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRows

_COLUMNS: Final = [reviews.c[name] for name in (
    "id", "action", "content_hash", "question", "kind", "round",
    "items", "adjust", "comment", "done", "earned", "points", "told",
    "by", "why", "at", "undoes",
)]  # fmt: skip
"""What `_review` reads, in this order."""
_LOCK: Final = 0x76697662
"""The lock with which markers wait for each other in PostgreSQL."""
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
    with marker_transaction(records) as connection:
        if stored := of_action(connection, assignment, action):
            return stored
        check_seen(connection, assignment, seen)
        return add(connection, assignment, action, judgements, reason)


def since(records: Records, assignment: str, last: int) -> list[Review]:
    """Return every row after the one with this number, in order."""
    with records.engine.connect() as connection:
        return _read(connection, _of(assignment).where(reviews.c.id > last))


def latest_rows(records: Records, assignment: str) -> list[Review]:
    """Return the latest row of each place, and every regrade request, in order."""
    with records.engine.connect() as connection:
        asked = reviews.c.kind == APPEAL
        return _read(connection, _of(assignment).where(or_(reviews.c.id.in_(_last(assignment)), asked)))


def history(records: Records, assignment: str, content_hash: str, question: str) -> list[Review]:
    """Return all rows about one answer, from the first to the last."""
    with records.engine.connect() as connection:
        return of_contents(connection, assignment, [content_hash], reviews.c.question == question)


def rows_about(records: Records, assignment: str, hashes: Collection[str]) -> list[Review]:
    """Return all rows about these contents, from the first to the last."""
    with records.engine.connect() as connection:
        return of_contents(connection, assignment, hashes)


def of_contents(
    connection: Connection, assignment: str, hashes: Collection[str], *also: ColumnElement[bool]
) -> list[Review]:
    """Return all rows about these contents, from the first to the last; `also` are further conditions."""
    found = []
    for part in parts(sorted(set(hashes))):
        found += _read(connection, _of(assignment).where(reviews.c.content_hash.in_(part), *also))
    return sorted(found, key=lambda row: row.id)


@contextlib.contextmanager
def marker_transaction(records: Records) -> Iterator[Connection]:
    """Open a transaction that writes after those of all other markers have ended.

    Raises:
        UsageError: it could not be written.
    """
    with writing(records.engine) as connection:
        lock_until_end(connection, _LOCK)
        yield connection


def of_action(connection: Connection, assignment: str, action: str) -> list[Review]:
    """Return the rows of an action, in order."""
    return _read(connection, _of(assignment).where(reviews.c.action == storable(action)))


def backwards(connection: Connection, assignment: str, by: str, round: int) -> Iterator[Review]:
    """Yield a marker's rows of a round, and settled ones, from the last to the first; read in batches as needed."""
    marks = and_(reviews.c.kind == MARK, reviews.c.round == round)
    theirs = _of(assignment).where(reviews.c.by == storable(by), or_(marks, reviews.c.kind == SETTLED))
    newest_first = theirs.order_by(reviews.c.id.desc()).limit(AT_ONCE)
    rows = connection.execute(newest_first).all()
    while rows:
        yield from map(_review, rows)
        rows = connection.execute(newest_first.where(reviews.c.id < rows[-1].id)).all()


def check_seen(connection: Connection, assignment: str, seen: Mapping[Place, int]) -> None:
    """Raise `Changed` if the latest row of a place is not the one that was seen."""
    now_there: dict[Place, Review] = {}
    for part in parts(sorted({place.content_hash for place in seen})):
        latest = _last(assignment).where(reviews.c.content_hash.in_(part))
        now_there.update((row.place, row) for row in _read(connection, _of(assignment).where(reviews.c.id.in_(latest))))
    changed = [place for place, number in seen.items() if number != _number(now_there.get(place))]
    if changed:
        raise Changed([now_there[place] for place in changed if place in now_there])


def add(
    connection: Connection,
    assignment: str,
    action: str,
    judgements: Iterable[tuple[Place, Judgement]],
    reason: Reason,
    *,
    undoes: str = "",
) -> list[Review]:
    """Add the rows of an action in an open transaction that holds the markers' lock."""
    common = {"action": storable(action), "assignment": assignment, "undoes": undoes, "at": now()}
    who = {"by": storable(reason.by), "why": storable(reason.why)}
    if rows := [{**common, **who, **_columns(place, judgement)} for place, judgement in judgements]:
        connection.execute(insert(reviews), rows)
    return of_action(connection, assignment, action)


def storable(text: str) -> str:
    """Return text that both databases accept: without NUL and lone surrogates, which a browser can send."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", REPLACEMENT)


def _columns(place: Place, judgement: Judgement) -> dict[str, object]:
    return {
        "content_hash": place.content_hash,
        "question": place.question,
        "kind": place.kind,
        "round": place.round,
        "items": json.dumps(judgement.items),
        "adjust": str(judgement.adjust),
        "comment": storable(judgement.comment),
        "done": judgement.done,
        "earned": str(judgement.earned),
        "points": str(judgement.points),
        "told": storable(judgement.told),
    }


def _of(assignment: str) -> "StoredRows":
    return select(*_COLUMNS).where(reviews.c.assignment == assignment)


def _last(assignment: str) -> "StoredRows":
    """Select the number of the latest row of each place."""
    place = (reviews.c.content_hash, reviews.c.question, reviews.c.kind, reviews.c.round)
    return select(func.max(reviews.c.id)).where(reviews.c.assignment == assignment).group_by(*place)


def _number(row: Review | None) -> int:
    return 0 if row is None else row.id


def _read(connection: Connection, query: "StoredRows") -> list[Review]:
    return [_review(row) for row in connection.execute(query.order_by(reviews.c.id))]


def _review(row: Iterable[Any]) -> Review:
    """Return the review in a row of `_COLUMNS`; reading them by name would take five times as long."""
    number, action, hash_, question, kind, round_, *judged, by, why, at, undoes = row
    return Review(number, action, Place(hash_, question, kind, round_), _judgement(*judged), by, why, at, undoes)


@lru_cache(maxsize=1000)  # many answers get the same judgement
def _judgement(items: str, adjust: str, comment: str, done: bool, earned: str, points: str, told: str) -> Judgement:  # noqa: FBT001  # a column
    return Judgement(
        items=tuple(json.loads(items)),
        adjust=points_from(adjust),
        comment=comment,
        done=bool(done),
        earned=points_from(earned),
        points=points_from(points),
        told=told,
    )
