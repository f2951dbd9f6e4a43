"""Changes by a regrade: proposed first, then applied or discarded, all or some of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from viva.model import Entry, Score
from viva.model.reason import Reason
from viva.plugins.records.conditions import Conditions
from viva.plugins.records.database import split_values, write_session
from viva.plugins.records.store import NewScore, Records, StoredScore, add_call_log, add_score
from viva.plugins.records.tables import (
    REGRADED,
    ProposalRow,
    ProposedScore,
    ScoreRow,
    conditions_of,
    now,
    pack_score,
    unpack_score,
)


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
        changes = []
        for test_id in dict.fromkeys([*after, *before]):
            change = _compare_entries(test_id, before.get(test_id), after.get(test_id))
            if change.before != change.after or change.worth[0] != change.worth[1]:
                changes.append(change)
        return changes


def _compare_entries(test_id: str, old: Entry | None, new: Entry | None) -> TestChange:
    known = new or old
    assert known is not None  # the id is of one of the two
    message = "The test does not exist any more."
    if new is not None:
        message = new.staff_message or new.message
    worth = (_worth(old), _worth(new))
    return TestChange(test_id, known.number, _earned(old), _earned(new), worth, message)


def _earned(entry: Entry | None) -> Fraction | None:
    if entry is None or entry.status.is_open:
        return None
    return entry.earned


def _worth(entry: Entry | None) -> Fraction | None:
    return None if entry is None else entry.points


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pending regrade."""

    id: int
    why: str
    changes: "Changes"
    """The changes that are not decided yet."""


@final
class Changes(Collection[Change]):
    """Changes that are read whenever they are iterated over, a part at a time: each holds two whole scores."""

    def __init__(self, records: Records, numbers: Sequence[int]) -> None:
        self._records, self._numbers = records, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Change]:
        for part in split_values(self._numbers):
            query = select(ProposedScore).where(ProposedScore.id.in_(part)).order_by(ProposedScore.id)
            with self._records.read() as session:
                rows = session.scalars(query).all()
            for row in rows:
                for kept in self._records.stored([row.old_score_id]):
                    yield Change(row.id, kept, unpack_score(row.packed), conditions_of(row), row.call_log_id)

    def __contains__(self, change: object) -> bool:
        return isinstance(change, Change) and change.id in self._numbers


@dataclass(frozen=True, slots=True)
class NewGrading:
    """What a regrade made of one score that counted when it began."""

    kept: StoredScore
    """The score that counted."""
    score: Score
    """The new score."""
    conditions: Conditions
    """Under which it was made."""
    differs: bool
    """Whether anything but the times is different."""
    call_log: bytes = b""
    """The new call log; empty if nothing was asked again."""


def propose(records: Records, assignment: str, gradings: Iterable[NewGrading], reason: Reason) -> None:
    """Store what a regrade would change; it does not count before `decide`, and is not shown before it is complete.

    Args:
        records: the records.
        assignment: its name.
        gradings: one that differs is proposed; one that does not is stored as graded with the present tests, unless
            another score counts by now.
        reason: who regraded, and why.
    """
    with write_session(records.engine) as session:
        proposal = ProposalRow(assignment=assignment, by=reason.by, why=reason.why)
        session.add(proposal)
    for new in gradings:
        with write_session(records.engine) as session:
            _add_grading(session, proposal.id, new, reason)
    with write_session(records.engine) as session:
        session.get_one(ProposalRow, proposal.id).complete = True


def _add_grading(session: Session, proposal_id: int, new: NewGrading, reason: Reason) -> None:
    kept = new.kept
    if not new.differs:
        last = session.scalar(select(func.max(ScoreRow.id)).where(ScoreRow.attempt_id == kept.attempt_id))
        if last == kept.id:
            call_log_id = add_call_log(session, new.call_log) or kept.call_log_id
            score = NewScore(kept.attempt_id, new.score, new.conditions, reason, call_log_id, REGRADED)
            _add_regraded(session, score)
        return
    row = ProposedScore(
        proposal_id=proposal_id,
        attempt_id=kept.attempt_id,
        old_score_id=kept.id,
        packed=pack_score(new.score),
        conditions=new.conditions.to_json(),
        call_log_id=add_call_log(session, new.call_log) or kept.call_log_id,
    )
    session.add(row)


def pending_proposal(records: Records, assignment: str) -> Proposal | None:
    """Return the latest proposal of an assignment, with the undecided changes whose old score still counts."""
    complete = select(ProposalRow).where(ProposalRow.assignment == assignment, ProposalRow.complete)
    current = {each.id for each in records.list_current(assignment)}
    with records.read() as session:
        latest = session.scalars(complete.order_by(ProposalRow.id.desc()).limit(1)).one_or_none()
        if latest is None:
            return None
        undecided = select(ProposedScore.id, ProposedScore.old_score_id).where(
            ProposedScore.proposal_id == latest.id, ProposedScore.applied.is_(None)
        )
        rows = session.execute(undecided.order_by(ProposedScore.id)).all()
    numbers = [number for number, old_score_id in rows if old_score_id in current]
    return Proposal(latest.id, latest.why, Changes(records, numbers))


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
    with write_session(records.engine) as session:
        for change in filter(chosen, proposal.changes):
            row = session.get(ProposedScore, change.id)
            if row is None or row.applied is not None:
                continue
            row.applied, row.decided_by, row.decided_why, row.decided_at = applied, reason.by, reason.why, now()
            decided.append(change.kept.scored.attempt.name)
            if applied:
                why = Reason(reason.by, reason.why or proposal.why)
                attempt_id, call_log_id = change.kept.attempt_id, change.call_log_id
                new = NewScore(attempt_id, change.score, change.conditions, why, call_log_id, REGRADED)
                _add_regraded(session, new)
            session.flush()
    return decided


def _add_regraded(session: Session, new: NewScore) -> None:
    """Make the new score the latest one, also if an earlier grading was made under the same conditions."""
    if add_score(session, new) is None:
        add_score(session, replace(new, once=False))
