"""What a regrade would change: proposed first, then applied or discarded, wholly or in part."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from viva.model import Score
from viva.records.database import writing
from viva.records.database_tables import decisions, proposals, proposed
from viva.records.row_packing import pack_score, unpack_score
from viva.records.store import REGRADED, Kept, Reason, Records, add_call_log, add_score, current_numbers, now


@dataclass(frozen=True, slots=True)
class TestChange:
    """One test that comes out otherwise."""

    test_id: str
    number: str
    before: Fraction | None
    """Points; None where the test was not there, or is open."""
    after: Fraction | None
    worth: tuple[Fraction | None, Fraction | None]
    """The most that it gave and gives."""
    message: str
    """Why, in the words of the new grading for staff."""


@dataclass(frozen=True, slots=True)
class Change:
    """One submission that a regrade would mark otherwise."""

    id: int
    kept: Kept
    """The score that it has."""
    score: Score
    """The score that it would have."""
    call_log_id: int | None

    @property
    def tests(self) -> list[TestChange]:
        """The tests that differ, in the order of the new score."""
        before = {e.test_id: e for e in self.kept.marked.score.entries}
        after = {e.test_id: e for e in self.score.entries}
        found = []
        for test_id in dict.fromkeys([*after, *before]):
            old, new = before.get(test_id), after.get(test_id)
            values = [None if e is None or e.status.is_open else e.earned for e in (old, new)]
            worth = [None if e is None else e.points for e in (old, new)]
            if values[0] != values[1] or worth[0] != worth[1]:
                shown = new or old
                message = new.staff_message or new.message if new is not None else "The test is not there any more."
                assert shown is not None  # the id is of one of the two
                found.append(TestChange(test_id, shown.number, values[0], values[1], (worth[0], worth[1]), message))
        return found


@dataclass(frozen=True, slots=True)
class Proposal:
    """A regrade that waits for a decision."""

    id: int
    assignment: str
    made_with: str
    by: str
    why: str
    at: str
    changes: list[Change]
    """What is not decided yet."""


def propose(
    records: Records,
    assignment: str,
    made_with: str,
    found: Iterable[tuple[Kept, Score, bytes]],
    reason: Reason,
    *,
    same: Iterable[tuple[Kept, Score, bytes]] = (),
    identity: Callable[[Kept], str | None] = lambda _: None,
) -> int:
    """Keep what a regrade would change; nothing of it counts before `decide`. All of it, or nothing if that goes wrong.

    Args:
        records: where it is kept.
        assignment: its name.
        made_with: digest of the tests, the key and the data as they are now.
        found: the score that there is, the one that there would be, and its call log.
        reason: who regraded, and why.
        same: as `found`, of which nothing changes: kept as graded by the tests as they are, unless another score
            counts by now.
        identity: what makes a score of `same` the same as one that grading would find; see `Records.add_score`.

    Returns:
        The proposal's number.
    """
    row = {"assignment": assignment, "made_with": made_with, "by": reason.by, "why": reason.why, "at": now()}
    with writing(records.engine) as connection:
        key = connection.execute(insert(proposals).values(**row)).inserted_primary_key
        assert key is not None  # a row was added
        for kept, score, call_log in found:
            values = {
                "proposal_id": key[0],
                "attempt_id": kept.attempt_id,
                "old_score_id": kept.id,
                "score": pack_score(score),
                "call_log_id": add_call_log(connection, call_log) or kept.call_log_id,
            }
            connection.execute(insert(proposed).values(**values))
        current = set(current_numbers(connection, assignment))
        for kept, score, call_log in same:
            if kept.id in current:
                number = add_call_log(connection, call_log) or kept.call_log_id
                _regraded(connection, kept, score, number, made_with, identity(kept), reason)
    return int(key[0])


def waiting(records: Records, assignment: str) -> Proposal | None:
    """The latest proposal of an assignment, with what is not decided and still concerns the score that counts."""
    query = select(proposals).where(proposals.c.assignment == assignment).order_by(proposals.c.id.desc()).limit(1)
    undecided = proposed.outerjoin(decisions, decisions.c.proposed_id == proposed.c.id)
    current = {kept.id: kept for kept in records.current(assignment)}
    with records.engine.connect() as connection:
        latest = connection.execute(query).one_or_none()
        if latest is None:
            return None
        rows = connection.execute(
            select(proposed)
            .select_from(undecided)
            .where(proposed.c.proposal_id == latest.id, decisions.c.id.is_(None))
            .order_by(proposed.c.id)
        )
        changes = [_change(row, current[row.old_score_id]) for row in rows if row.old_score_id in current]
    return Proposal(latest.id, assignment, latest.made_with, latest.by, latest.why, latest.at, changes)


def decide(
    records: Records,
    proposal: Proposal,
    reason: Reason,
    *,
    applied: bool,
    chosen: Callable[[Change], bool] = lambda _: True,
    identity: Callable[[Kept], str | None] = lambda _: None,
) -> list[Change]:
    """Apply or discard changes of a proposal; the others wait on. All of them, or none if something goes wrong.

    Args:
        records: where it is kept.
        proposal: as `waiting` returned it.
        reason: who decides, and why.
        applied: True makes the new scores count, False leaves those that there are.
        chosen: which changes this is about.
        identity: what makes the new score the same as one that grading would find; see `Records.add_score`.

    Returns:
        The changes that were decided now; one that somebody else has decided meanwhile is not among them.
    """
    decided = []
    with writing(records.engine) as connection:
        taken = set(connection.execute(select(decisions.c.proposed_id)).scalars())
        for change in filter(chosen, proposal.changes):
            if change.id in taken:
                continue
            row = {"proposed_id": change.id, "applied": applied, "by": reason.by, "why": reason.why, "at": now()}
            connection.execute(insert(decisions).values(**row))
            decided.append(change)
            if applied:
                why = Reason(reason.by, reason.why or proposal.why)
                number, name = change.call_log_id, identity(change.kept)
                _regraded(connection, change.kept, change.score, number, proposal.made_with, name, why)
    return decided


def _regraded(
    connection: Connection,
    kept: Kept,
    score: Score,
    call_log_id: int | None,
    made_with: str,
    identity: str | None,
    reason: Reason,
) -> None:
    """Make the new score the latest one; where an earlier grading has its identity, it goes without."""
    for name in (identity, None):
        added = add_score(
            connection,
            kept.attempt_id,
            pack_score(score),
            score,
            made_with=made_with,
            identity=name,
            reason=reason,
            kind=REGRADED,
            call_log_id=call_log_id,
        )
        if added is not None:
            return


def _change(row: Row[Any], kept: Kept) -> Change:
    return Change(row.id, kept, unpack_score(row.score), row.call_log_id)
