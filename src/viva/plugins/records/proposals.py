"""Changes by a regrade: proposed first, then applied or discarded, all or some of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self, final

from sqlalchemy import Connection, Engine, insert, select

from viva.model import Score
from viva.model.reason import Reason
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.database import parts, writing
from viva.plugins.records.database_tables import decisions, proposals, proposed
from viva.plugins.records.row_packing import pack_score, unpack_score
from viva.plugins.records.store import (
    REGRADED,
    NewScore,
    Records,
    add_call_log,
    add_score,
    now,
)
from viva.plugins.records.stored_scores import StoredScore, current_numbers, rows_of, stored_score_of

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRow


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
    changes: "Changes"
    """The changes that are not decided yet."""


@final
class Changes(Collection[Change]):
    """Changes that are read whenever they are iterated over, a part at a time: each holds two whole scores."""

    def __init__(self, engine: Engine, numbers: Sequence[int]) -> None:
        self._engine, self._numbers = engine, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Change]:
        for part in parts(self._numbers):
            with self._engine.connect() as connection:
                rows = connection.execute(select(proposed).where(proposed.c.id.in_(part)).order_by(proposed.c.id)).all()
            kept = {row.id: row for row in rows_of(self._engine, [row.old_score_id for row in rows])}
            for row in rows:
                if row.old_score_id in kept:
                    yield _change(row, stored_score_of(kept[row.old_score_id]))

    def __contains__(self, change: object) -> bool:
        return isinstance(change, Change) and change.id in self._numbers


@dataclass(frozen=True, slots=True)
class NewGrading:
    """What a regrade made of one score that counted when it began."""

    old_score_id: int
    attempt_id: int
    score: bytes
    """The new score, packed."""
    conditions: Conditions
    """Under which it was made."""
    call_log_id: int | None
    """The call log of the score that counted."""
    call_log: bytes
    """The new one; empty if nothing was asked again."""
    differs: bool
    """Whether anything but the times is different."""

    @classmethod
    def of(
        cls, kept: StoredScore, score: Score, conditions: Conditions, *, differs: bool, call_log: bytes = b""
    ) -> Self:
        """Return the grading that takes the place of a stored score."""
        packed = pack_score(score)
        return cls(kept.id, kept.attempt_id, packed, conditions, kept.call_log_id, call_log, differs)


def propose(records: Records, assignment: str, made_with: str, gradings: Iterable[NewGrading], reason: Reason) -> int:
    """Store what a regrade would change, all of it or nothing; it does not count before `decide`.

    Args:
        records: the records.
        assignment: its name.
        made_with: digest of the present tests, key and data.
        gradings: one that differs is proposed; one that does not is stored as graded with the present tests, unless
            another score counts by now.
        reason: who regraded, and why.

    Returns:
        The proposal's number.
    """
    row = {"assignment": assignment, "made_with": made_with, "by": reason.by, "why": reason.why, "at": now()}
    with writing(records.engine) as connection:
        key = connection.execute(insert(proposals).values(**row)).inserted_primary_key
        assert key is not None  # a row was added
        current = {*current_numbers(connection, assignment)}
        for new in gradings:
            if not new.differs and new.old_score_id not in current:
                continue
            number = add_call_log(connection, new.call_log) or new.call_log_id
            if not new.differs:
                score = unpack_score(new.score)
                _add_regraded(connection, NewScore(new.attempt_id, score, new.conditions, reason, REGRADED, number))
                continue
            values = {
                "proposal_id": key[0],
                "attempt_id": new.attempt_id,
                "old_score_id": new.old_score_id,
                "score": new.score,
                "conditions": new.conditions.to_json(),
                "call_log_id": number,
            }
            connection.execute(insert(proposed), values)
    return int(key[0])


def pending_proposal(records: Records, assignment: str) -> Proposal | None:
    """Return the latest proposal of an assignment, with the undecided changes whose old score still counts."""
    query = select(proposals).where(proposals.c.assignment == assignment).order_by(proposals.c.id.desc()).limit(1)
    undecided = proposed.outerjoin(decisions, decisions.c.proposed_id == proposed.c.id)
    with records.engine.connect() as connection:
        current = {*current_numbers(connection, assignment)}
        latest = connection.execute(query).one_or_none()
        if latest is None:
            return None
        rows = connection.execute(
            select(proposed.c.id, proposed.c.old_score_id)
            .select_from(undecided)
            .where(
                proposed.c.proposal_id == latest.id,
                decisions.c.id.is_(None),
                proposed.c.conditions.is_not(None),  # an earlier viva stored none
            )
            .order_by(proposed.c.id)
        )
        changes = Changes(records.engine, [row.id for row in rows if row.old_score_id in current])
    return Proposal(latest.id, assignment, latest.made_with, latest.by, latest.why, latest.at, changes)


def decide(
    records: Records,
    proposal: Proposal,
    reason: Reason,
    *,
    applied: bool,
    chosen: Callable[[Change], bool] = lambda _: True,
) -> list[str]:
    """Apply or discard changes of a proposal, all of the chosen ones or none; the others stay pending.

    Args:
        records: the records.
        proposal: as `pending_proposal` returned it.
        reason: who decides, and why.
        applied: True makes the new scores count, False keeps the present ones.
        chosen: selects the changes to decide.

    Returns:
        The submissions whose changes were decided now, without those that another person has decided since.
    """
    decided = []
    with writing(records.engine) as connection:
        taken = set(connection.execute(select(decisions.c.proposed_id)).scalars())
        for change in filter(chosen, proposal.changes):
            if change.id in taken:
                continue
            row = {"proposed_id": change.id, "applied": applied, "by": reason.by, "why": reason.why, "at": now()}
            connection.execute(insert(decisions), row)
            decided.append(change.kept.scored.attempt.name)
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


def _change(row: "StoredRow", kept: StoredScore) -> Change:
    conditions = Conditions.from_json(row.conditions)
    assert conditions is not None, "only such rows are read"
    return Change(row.id, kept, unpack_score(row.score), conditions, row.call_log_id)
