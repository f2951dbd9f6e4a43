"""Changes by a regrade: proposed first, then applied or discarded, all or some of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from viva.model import Score
from viva.records.conditions import Conditions
from viva.records.database import writing
from viva.records.database_tables import decisions, proposals, proposed
from viva.records.row_packing import pack_score, unpack_score
from viva.records.store import (
    REGRADED,
    NewScore,
    Reason,
    Records,
    StoredScore,
    add_call_log,
    add_score,
    current_numbers,
    now,
)

if TYPE_CHECKING:
    from viva.records.row_packing import StoredRow


@dataclass(frozen=True, slots=True)
class TestChange:
    """One test with a different result."""

    test_id: str
    number: str
    before: Fraction | None
    """Points; None where the test did not exist, or was not graded yet."""
    after: Fraction | None
    worth: tuple[Fraction | None, Fraction | None]
    """Its maximum before and after."""
    message: str
    """The reason: the new grading's message for staff."""


@dataclass(frozen=True, slots=True)
class Change:
    """One submission whose score a regrade would change."""

    id: int
    kept: StoredScore
    """The present score."""
    score: Score
    """The proposed score."""
    conditions: Conditions
    """Under which conditions the proposed score was made."""
    call_log_id: int | None

    @property
    def tests(self) -> list[TestChange]:
        """Return the tests that differ, in the order of the new score."""
        before = {e.test_id: e for e in self.kept.scored.score.entries}
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
    """A pending regrade."""

    id: int
    assignment: str
    made_with: str
    by: str
    why: str
    at: str
    changes: list[Change]
    """The changes that are not decided yet."""


def propose(
    records: Records,
    assignment: str,
    made_with: str,
    found: Iterable[tuple[StoredScore, Score, bytes]],
    reason: Reason,
    conditions: Callable[[Score], Conditions],
    *,
    same: Iterable[tuple[StoredScore, Score, bytes]] = (),
) -> int:
    """Store what a regrade would change, all of it or nothing; it does not count before `decide`.

    Args:
        records: the records.
        assignment: its name.
        made_with: digest of the present tests, key and data.
        found: the present score, the new one, and its call log.
        reason: who regraded, and why.
        conditions: returns the conditions under which one of the new scores was made.
        same: as `found`, where nothing changes: stored as graded with the present tests, unless another score counts
            by now.

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
                "conditions": conditions(score).to_json(),
                "call_log_id": add_call_log(connection, call_log) or kept.call_log_id,
            }
            connection.execute(insert(proposed).values(**values))
        current = set(current_numbers(connection, assignment))
        for kept, score, call_log in same:
            if kept.id in current:
                number = add_call_log(connection, call_log) or kept.call_log_id
                regraded = NewScore(kept.attempt_id, score, conditions(score), reason, REGRADED, number)
                _add_regraded(connection, regraded)
    return int(key[0])


def pending_proposal(records: Records, assignment: str) -> Proposal | None:
    """Return the latest proposal of an assignment, with the undecided changes whose old score still counts."""
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
        changes = [
            change for row in rows if row.old_score_id in current for change in _change(row, current[row.old_score_id])
        ]
    return Proposal(latest.id, assignment, latest.made_with, latest.by, latest.why, latest.at, changes)


def decide(
    records: Records,
    proposal: Proposal,
    reason: Reason,
    *,
    applied: bool,
    chosen: Callable[[Change], bool] = lambda _: True,
) -> list[Change]:
    """Apply or discard changes of a proposal, all of the chosen ones or none; the others stay pending.

    Args:
        records: the records.
        proposal: as `pending_proposal` returned it.
        reason: who decides, and why.
        applied: True makes the new scores count, False keeps the present ones.
        chosen: selects the changes to decide.

    Returns:
        The changes that were decided now, without those that another person has decided since.
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
                regraded = NewScore(
                    change.kept.attempt_id,
                    change.score,
                    change.conditions,
                    Reason(reason.by, reason.why or proposal.why),
                    REGRADED,
                    change.call_log_id,
                )
                _add_regraded(connection, regraded)
    return decided


def _add_regraded(connection: Connection, new: NewScore) -> None:
    """Make the new score the latest one, also if an earlier grading was made under the same conditions."""
    if add_score(connection, new) is None:
        add_score(connection, replace(new, once=False))


def _change(row: "StoredRow", kept: StoredScore) -> Iterator[Change]:
    """Yield a proposed change; nothing for one of an earlier viva, which stored no conditions."""
    conditions = Conditions.from_json(row.conditions)
    if conditions is not None:
        yield Change(row.id, kept, unpack_score(row.score), conditions, row.call_log_id)
