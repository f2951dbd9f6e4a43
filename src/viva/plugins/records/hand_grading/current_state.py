"""Compute the current decisions from the latest rows, and apply them to a score."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from viva.model import Case, Entry, Score, Status
from viva.model.hand_grading import FIRST, MARK, SECOND, SETTLED, CurrentDecision, Place, Review, noticed

DIFFERENT: Final = (
    "Two markers came to different points; nothing is lost, and the question stays open until they have agreed."
)


def current_decisions(latest: Iterable[Review]) -> dict[tuple[str, str], CurrentDecision]:
    """Return the current decision for each answer that has rows, by content and question.

    A settled decision counts. Else the first marker's judgement does, unless a second one gave other points. An answer
    that only a second marker has graded is pending, because no one else has read it yet.

    Args:
        latest: the latest row of each place; of several the one with the highest number is used.
    """
    rows: dict[Place, Review] = {}
    for row in sorted(latest, key=lambda row: row.id):
        rows[row.place] = row
    answers = dict.fromkeys((place.content_hash, place.question) for place in rows)
    return {answer: _decide(rows, *answer) for answer in answers}


def _decide(rows: Mapping[Place, Review], content_hash: str, question: str) -> CurrentDecision:
    def done(kind: str, round: int) -> Review | None:
        row = rows.get(Place(content_hash, question, kind, round))
        return row if row is not None and row.judgement.done else None

    settled, first, second = done(SETTLED, 0), done(MARK, FIRST), done(MARK, SECOND)
    if settled is not None:
        return CurrentDecision(settled.judgement, (settled.by,), settled.at)
    if first is None:
        return CurrentDecision(None)
    if second is None:
        return CurrentDecision(first.judgement, (first.by,), first.at)
    if first.judgement.earned != second.judgement.earned:
        return CurrentDecision(None, why_open=DIFFERENT)
    return CurrentDecision(first.judgement, tuple(dict.fromkeys((first.by, second.by))), max(first.at, second.at))


def apply_decisions(score: Score, marks: Mapping[str, CurrentDecision]) -> Score:
    """Return a score with decisions about prose.

    Args:
        score: as it was graded; tests that are pending for another reason than grading by hand stay unchanged.
        marks: the current decisions, by the rubric's question.
    """
    if not marks:
        return score
    return replace(score, entries=tuple(_apply_to_entry(e, marks.get(e.rubric)) for e in score.entries))


def _apply_to_entry(entry: Entry, decision: CurrentDecision | None) -> Entry:
    if decision is None or not entry.rubric or entry.status is not Status.NEEDS_REVIEW:
        return entry
    if decision.judgement is None:
        return _open(entry, decision.why_open) if decision.why_open and entry.cases else entry
    earned = min(decision.judgement.earned, entry.points)  # the test may be worth less by now
    status = Status.of_points(earned, entry.points)
    who = f"Graded by hand with {earned} of {entry.points} points by {' and '.join(decision.by)}, {decision.at}."
    return _graded_by_hand(entry, status, earned, decision.judgement.told, who)


def _open(entry: Entry, why: str) -> Entry:
    """Tell staff why it is still pending; students read that it is not graded yet."""
    first, *others = entry.cases
    return replace(entry, cases=(replace(first, staff_message=_before(why, first.staff_message)), *others))


def _graded_by_hand(entry: Entry, status: Status, earned: Fraction, message: str, staff: str = "") -> Entry:
    """Return the entry as graded by hand, with a message that is followed by what the test noticed."""
    wall_s = sum(case.wall_s for case in entry.cases)
    for_student, for_staff = _before(message, entry.message), _before(staff, entry.staff_message)
    only = Case("", status, earned, entry.points, for_student, for_staff, wall_s)
    return replace(entry, status=status, earned=earned, cases=(only,))


def _before(text: str, message: str) -> str:
    return "\n".join(part for part in (text, noticed(message)) if part)
