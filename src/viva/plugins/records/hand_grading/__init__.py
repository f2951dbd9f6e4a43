"""Decisions of markers about written answers: stored action by action, undone, and merged into scores.

Nothing is changed: a correction appends the complete decision again, and the latest rows count.
"""

from viva.plugins.records.hand_grading.current_state import current_decisions, reviewed
from viva.plugins.records.hand_grading.decision_rows import (
    Changed,
    append,
    history,
    latest_rows,
    of_contents,
    rows_about,
    since,
)
from viva.plugins.records.hand_grading.undoing import undo

__all__ = [
    "Changed",
    "append",
    "current_decisions",
    "history",
    "latest_rows",
    "of_contents",
    "reviewed",
    "rows_about",
    "since",
    "undo",
]  # fmt: skip
