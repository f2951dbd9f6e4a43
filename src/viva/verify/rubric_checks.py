"""Checks that the rubric fits the tests: it grades every written question, for the points of its test."""

from collections.abc import Sequence

from viva.config.read_config import suggest
from viva.config.rubric import Question, Rubric
from viva.model import Entry, Score, Status
from viva.model.hand_grading import UNREADABLE


def rubric_complaints(rubric: Rubric, scores: Sequence[Score]) -> tuple[str, ...]:
    """Return what is wrong, a sentence each; nothing where an assignment has no rubric.

    Args:
        rubric: the assignment's.
        scores: of all submissions with an expected verdict; they show which questions are graded by hand.
    """
    if not rubric.questions:
        return ()
    graded_by_hand = {
        entry.rubric: entry
        for score in scores
        for entry in score.entries
        if entry.status is Status.NEEDS_REVIEW and entry.rubric and not entry.rubric.startswith(UNREADABLE)
    }
    numbers = [q.number for q in rubric.questions]
    without_question = [
        f"{graded_by_hand[number].test_id} is graded with the rubric's question {number}, and rubric.yaml has none"
        f"{suggest(number, numbers).rstrip('.')}"
        for number in sorted(set(graded_by_hand) - set(numbers))
    ]
    entries = [e for score in scores for e in score.entries]
    return (
        *without_question,
        *(c for q in rubric.questions for c in _complaints(q, graded_by_hand.get(q.number), entries)),
    )


def _complaints(question: Question, entry: Entry | None, entries: Sequence[Entry]) -> list[str]:
    found = []
    here = f"question {question.number} of rubric.yaml"
    if entry is None:
        if not any(e.status is Status.DEFERRED and e.number == question.number for e in entries):
            found.append(f"{here} is asked by no test that was run: expected a test that ends with needs_review")
    elif entry.points != question.points:
        found.append(f"{here} has {question.points} points, and {entry.test_id} is worth {entry.points}")
    tests = {name for e in entries if e.status is not Status.NEEDS_REVIEW for name in e.names}
    for name in question.evidence:
        if name not in tests:
            found.append(f"{here} names `{name}` as evidence, but there is no such test{_suggestion(name, tests)}")
    return found


def _suggestion(name: str, tests: set[str]) -> str:
    suggestion = suggest(name, sorted(tests))
    return suggestion if suggestion.startswith("; did you") else ""
