"""Points that a person set by hand, with author and reason: they override every grading until they are undone.

Decisions about prose come before them; both together are what people decided.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Self

from sqlalchemy import select

from viva.formats.decimal_points import show
from viva.model import Case, Entry, Score, Status
from viva.model.errors import UsageError
from viva.model.hand_grading import SET_BY_HAND, CurrentDecision, Review
from viva.model.reason import Reason
from viva.plugins.records.database import write_session
from viva.plugins.records.hand_grading import apply_decisions, current_decisions, latest_rows, rows_about
from viva.plugins.records.store import Records, StoredScore
from viva.plugins.records.tables import Override


@dataclass(frozen=True, slots=True)
class ByHand:
    """What people decided about an assignment, read once."""

    overrides: Mapping[str, Sequence[Override]]
    """All overrides ever made, by the submission's name, from the first to the last."""
    marks: Mapping[str, Mapping[str, CurrentDecision]]
    """The current decisions about prose, by content and question."""

    @classmethod
    def read(cls, records: Records, assignment: str) -> Self:
        """Read the present decisions about an assignment."""
        return cls._create(list_overrides(records, assignment), latest_rows(records, assignment))

    @classmethod
    def read_about(cls, records: Records, assignment: str, names: Collection[str], hashes: Collection[str]) -> Self:
        """Read the present decisions about a few submissions, and about some bytes, whoever submitted them."""
        rows = rows_about(records, assignment, hashes)
        return cls._create(list_overrides(records, assignment, names), rows)

    @classmethod
    def _create(cls, overrides: Iterable[Override], rows: Iterable[Review]) -> Self:
        by_name: dict[str, list[Override]] = {}
        for each in overrides:
            by_name.setdefault(each.name, []).append(each)
        marks: dict[str, dict[str, CurrentDecision]] = {}
        for (content_hash, question), mark in current_decisions(rows).items():
            marks.setdefault(content_hash, {})[question] = mark
        return cls(by_name, marks)

    def touches(self, kept: StoredScore) -> bool:
        """Return whether there was ever a decision about it."""
        return kept.scored.attempt.name in self.overrides or kept.scored.score.content_hash in self.marks

    def held(self, name: str, before: str | None = None) -> dict[str, Override]:
        """Return the overrides of a submission that hold, by test; with a moment those that were made before it."""
        held: dict[str, Override] = {}
        for each in self.overrides.get(name, ()):
            if before is not None and each.at >= before:
                continue
            if each.earned is None:
                held.pop(each.test_id, None)
            else:
                held[each.test_id] = each
        return held

    def marked(self, score: Score) -> Score:
        """Return a score with the decisions about its prose."""
        return apply_decisions(score, self.marks.get(score.content_hash, {}))

    def score(self, kept: StoredScore, before: str | None = None) -> Score:
        """Return its score with all decisions; with a moment, only overrides made before it count."""
        return apply_overrides(self.marked(kept.scored.score), self.held(kept.scored.attempt.name, before))


@dataclass(frozen=True, slots=True)
class DecidedScore:
    """A score with what people decided, which keeps decisions about prose separate from what was graded."""

    set_by_hand: Score
    """With overrides; prose is as it was graded."""
    marks: Mapping[str, CurrentDecision]
    """The current decisions about its prose, by the rubric's question."""

    @property
    def score(self) -> Score:
        """Return the score with all decisions."""
        return apply_decisions(self.set_by_hand, self.marks)


def override(records: Records, score: Score, name: str, test: str, earned: Fraction | None, reason: Reason) -> Override:
    """Set the points of a test by hand, or undo that.

    Args:
        records: the records.
        score: the submission's score, which has the test.
        name: of the submission.
        test: the test's number, function or id.
        earned: its points; None undoes the override.
        reason: who decided, and why; both are required.

    Raises:
        UsageError: there is no such test, it has fewer points, or author or reason is missing.
    """
    entry = _find_entry(score, test)
    if not reason.by or not reason.why:
        raise UsageError("An override needs who decided it and why: --by NAME --why REASON.")
    lowest = min(entry.earned, Fraction(0))  # a deduction that applies has earned less than zero
    if earned is not None and not lowest <= earned <= entry.points:
        raise UsageError(f"{entry.test_id} has {entry.points} points; {earned} cannot be given for it.")
    row = Override(
        assignment=score.assignment,
        name=name,
        test_id=entry.test_id,
        earned=earned,
        by=reason.by,
        why=reason.why,
    )
    with write_session(records.engine) as session:
        session.add(row)
    return row


def decided(records: Records, assignment: str, by_hand: ByHand | None = None) -> Iterator[StoredScore]:
    """Yield the scores that count, as `Records.current` returns them, with what people decided.

    An override applies to the attempt that existed when it was made, and to later ones; a decision about prose applies
    to its bytes, whoever submitted them.

    Args:
        records: the records.
        assignment: its name.
        by_hand: what people decided, if it was read before.
    """
    by_hand = by_hand or ByHand.read(records, assignment)
    ends = ends_of_attempts(records, assignment)
    for kept in records.each_current(assignment):
        score = by_hand.score(kept, ends.get(kept.attempt_id))
        yield replace(kept, scored=replace(kept.scored, score=score))


def ends_of_attempts(records: Records, assignment: str, name: str | None = None) -> dict[int, str]:
    """Return the moment from which overrides apply only to the next attempt, for each attempt that has a next one.

    Args:
        records: the records.
        assignment: its name.
        name: of a submission; None for all.
    """
    current = records.list_current(assignment, name)
    followed = [(one, after) for one, after in pairwise(current) if one.name == after.name]
    if not followed:
        return {}
    first = records.first_scored(assignment)
    return {one.attempt_id: first[after.attempt_id] for one, after in followed}


def list_overrides(records: Records, assignment: str, names: Collection[str] | None = None) -> list[Override]:
    """List all overrides ever made, from the first to the last; with names, those of a few submissions."""
    query = select(Override).where(Override.assignment == assignment).order_by(Override.id)
    if names is not None:
        query = query.where(Override.name.in_(names))
    with records.read() as session:
        return [*session.scalars(query)]


def apply_overrides(score: Score, held: Mapping[str, Override]) -> Score:
    """Return a score with overrides; those of tests that it does not have are ignored."""
    if not held:
        return score
    return replace(score, entries=tuple(_override_entry(e, held.get(e.test_id)) for e in score.entries))


def _override_entry(entry: Entry, by_hand: Override | None) -> Entry:
    if by_hand is None or by_hand.earned is None:
        return entry
    earned = min(by_hand.earned, entry.points)  # the test may be worth less by now
    status = Status.of_points(earned, entry.points)
    message = f"{SET_BY_HAND} {show(earned)} of {show(entry.points)} points: {by_hand.why}"
    why = f"by {by_hand.by}, {by_hand.at} (was {entry.status}, {show(entry.earned)})"
    return replace(entry, status=status, earned=earned, cases=(Case("", status, earned, entry.points, message, why),))


def _find_entry(score: Score, test: str) -> Entry:
    found = [e for e in score.entries if test in e.names]
    if len(found) != 1:
        there = ", ".join(e.test_id.split("::", 1)[-1] for e in (found or score.entries))
        what = "several tests" if found else "no test"
        raise UsageError(f"{score.assignment} has {what} {test!r}; ask for one of: {there}.")
    return found[0]
