"""Decisions of markers about written answers: stored action by action, undone, and merged into scores.

Nothing is changed: a correction appends the complete decision again, and the latest rows count.
"""

from viva.plugins.records.hand_grading.current_state import apply_decisions, current_decisions
from viva.plugins.records.hand_grading.decision_rows import (
    Changed,
    append,
    history,
    latest_rows,
    rows_about,
    rows_of_contents,
    since,
)
from viva.plugins.records.hand_grading.undoing import undo

__all__ = ["Changed", "append", "apply_decisions", "current_decisions", "history", "latest_rows", "rows_about",
           "rows_of_contents", "since", "undo"]  # fmt: skip
