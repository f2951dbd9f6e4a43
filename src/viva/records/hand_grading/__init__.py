"""What markers say of written answers: kept action by action, taken back, and joined with the scores.

Nothing is changed: who corrects a mark appends the whole of it anew, and what counts is read from the latest rows.
"""

from viva.records.hand_grading.current_state import current_decisions, reviewed
from viva.records.hand_grading.decision_rows import Changed, append, history, of_contents, said_of, since, standing_rows
from viva.records.hand_grading.undoing import undo

__all__ = [
    "Changed",
    "append",
    "current_decisions",
    "history",
    "of_contents",
    "reviewed",
    "said_of",
    "since",
    "standing_rows",
    "undo",
]  # fmt: skip
