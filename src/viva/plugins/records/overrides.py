"""Points that a person set by hand, with author and reason: they override every grading until they are undone.

Decisions about prose come before them; both together are what people decided.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Self

from sqlalchemy import insert, select

from viva.formats.decimal_points import show
from viva.model import Case, Entry, Score, Status
from viva.model.errors import UsageError
from viva.model.hand_grading import SET_BY_HAND, CurrentDecision, Review
from viva.model.reason import Reason
from viva.plugins.records.database import parts, writing
from viva.plugins.records.database_tables import overrides
from viva.plugins.records.hand_grading import current_decisions, latest_rows, reviewed, rows_about
from viva.plugins.records.store import Records, now
from viva.plugins.records.stored_scores import CurrentScore, StoredScore, current_list, rows_of, stored_score_of

if TYPE_CHECKING:
    from viva.plugins.records.row_packing import StoredRow


@dataclass(frozen=True, slots=True)
class Override:
    """The points of one test of one submission, set by a person."""

    name: str
    """The name of the submission."""
    test_id: str
    earned: Fraction | None
    """None: the previous override was undone."""
    by: str
    why: str
    at: str


@dataclass(frozen=True, slots=True)
class ByHand:
    """What people decided about an assignment, read once."""

    overrides: Mapping[str, tuple[Override, ...]]
    """All overrides ever made, by the submission's name, from the first to the last."""
    marks: Mapping[str, Mapping[str, CurrentDecision]]
    """The current decisions about prose, by content and question."""

    @classmethod
    def of(cls, records: Records, assignment: str) -> Self:
        """Read the present decisions about an assignment."""
        of_name: dict[str, tuple[Override, ...]] = {}
        for each in all_overrides(records, assignment):
            of_name[each.name] = (*of_name.get(each.name, ()), each)
        return cls(of_name, _by_content(latest_rows(records, assignment)))

    @classmethod
    def about(cls, records: Records, assignment: str, names: Collection[str], hashes: Collection[str]) -> Self:
        """Read the present decisions about some submissions, and about some bytes, whoever submitted them."""
        of_name: dict[str, tuple[Override, ...]] = {}
        for each in all_overrides(records, assignment, names) if names else ():
            of_name[each.name] = (*of_name.get(each.name, ()), each)
        return cls(of_name, _by_content(rows_about(records, assignment, hashes)))

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
        """Apply the decisions about its prose to a score."""
        return reviewed(score, self.marks.get(score.content_hash, {}))

    def score(self, kept: StoredScore, before: str | None = None) -> Score:
        """Return its score with all decisions; with a moment, only overrides made before it count."""
        return overridden(self.marked(kept.scored.score), self.held(kept.scored.attempt.name, before))


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
        return reviewed(self.set_by_hand, self.marks)


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
    entry = _entry_of(score, test)
    if not reason.by or not reason.why:
        raise UsageError("An override needs who decided it and why: --by NAME --why REASON.")
    lowest = min(entry.earned, Fraction(0))  # a deduction that applies has earned less than zero
    if earned is not None and not lowest <= earned <= entry.points:
        raise UsageError(f"{entry.test_id} has {entry.points} points; {earned} cannot be given for it.")
    row = {
        "assignment": score.assignment,
        "name": name,
        "test_id": entry.test_id,
        "earned": None if earned is None else str(earned),
        "by": reason.by,
        "why": reason.why,
        "at": now(),
    }
    with writing(records.engine) as connection:
        connection.execute(insert(overrides).values(**row))
    return Override(name, entry.test_id, earned, reason.by, reason.why, row["at"] or "")


def decided(records: Records, assignment: str, by_hand: ByHand | None = None) -> Iterator[StoredScore]:
    """Yield the scores that count, as `Records.current` returns them, with what people decided.

    An override applies to the attempt that existed when it was made, and to later ones; a decision about prose applies
    to its bytes, whoever submitted them.

    Args:
        records: the records.
        assignment: its name.
        by_hand: what people decided, if it was read before.
    """
    by_hand = by_hand or ByHand.of(records, assignment)
    ends = {each.id: moment for each, moment in _until(records, assignment).items()}
    for row in rows_of(records.engine, [*ends]):
        kept = stored_score_of(row)
        yield replace(kept, scored=replace(kept.scored, score=by_hand.score(kept, ends[kept.id])))


def held_now(
    records: Records, assignment: str, by_hand: ByHand, name: str | None = None
) -> dict[int, dict[str, Override]]:
    """Return the overrides that hold for each attempt that counts, by the attempt's number, then by test.

    Args:
        records: the records.
        assignment: its name.
        by_hand: what people decided.
        name: of a submission; None for all.
    """
    found = _until(records, assignment, name)
    return {kept.attempt_id: by_hand.held(kept.name, ends) for kept, ends in found.items()}


def _until(records: Records, assignment: str, name: str | None = None) -> dict[CurrentScore, str | None]:
    """Return the scores that count, each with the moment from which overrides apply to the next attempt."""
    with records.engine.connect() as connection:
        current = current_list(connection, assignment, name)
    followed = [(one, after) for one, after in pairwise(current) if one.name == after.name]
    first = records.first_scored(assignment) if followed else {}
    ends = {one: first[after.attempt_id] for one, after in followed}
    return {one: ends.get(one) for one in current}


def all_overrides(records: Records, assignment: str, names: Collection[str] | None = None) -> list[Override]:
    """List all overrides ever made, from the first to the last; with names, those of these submissions."""
    query = select(overrides).where(overrides.c.assignment == assignment).order_by(overrides.c.id)
    with records.engine.connect() as connection:
        if names is None:
            return [_of_row(row) for row in connection.execute(query)]
        queries = [query.where(overrides.c.name.in_(part)) for part in parts(sorted(names))]
        return [_of_row(row) for each in queries for row in connection.execute(each)]


def _by_content(rows: Iterable[Review]) -> dict[str, dict[str, CurrentDecision]]:
    """Return the current decisions of these rows, by content and question."""
    marks: dict[str, dict[str, CurrentDecision]] = {}
    for (content_hash, question), mark in current_decisions(rows).items():
        marks.setdefault(content_hash, {})[question] = mark
    return marks


def overridden(score: Score, held: Mapping[str, Override]) -> Score:
    """Apply overrides to a score; those of tests that it does not have are ignored."""
    return replace(score, entries=tuple(_decided(e, held.get(e.test_id)) for e in score.entries)) if held else score


def _decided(entry: Entry, by_hand: Override | None) -> Entry:
    if by_hand is None or by_hand.earned is None:
        return entry
    earned = min(by_hand.earned, entry.points)  # the test may be worth less by now
    status = Status.of_points(earned, entry.points)
    message = f"{SET_BY_HAND} {show(earned)} of {show(entry.points)} points: {by_hand.why}"
    why = f"by {by_hand.by}, {by_hand.at} (was {entry.status}, {show(entry.earned)})"
    return replace(entry, status=status, earned=earned, cases=(Case("", status, earned, entry.points, message, why),))


def _entry_of(score: Score, test: str) -> Entry:
    found = [e for e in score.entries if test in e.names]
    if len(found) != 1:
        there = ", ".join(e.test_id.split("::", 1)[-1] for e in (found or score.entries))
        what = "several tests" if found else "no test"
        raise UsageError(f"{score.assignment} has {what} {test!r}; ask for one of: {there}.")
    return found[0]


def _of_row(row: "StoredRow") -> Override:
    earned = None if row.earned is None else Fraction(row.earned)
    return Override(row.name, row.test_id, earned, row.by, row.why, row.at)
