"""What markers say of written answers: kept action by action, taken back, and joined with the scores.

Nothing is changed: who corrects a mark appends the whole of it anew, and what counts is read from the latest rows.
"""

from viva.records.reviews.rows import Changed, append, history, of_contents, said_of, since, standing_rows
from viva.records.reviews.standing import reviewed, standing
from viva.records.reviews.undoing import undo

__all__ = [
    "Changed", "append", "history", "of_contents", "reviewed", "said_of", "since", "standing", "standing_rows", "undo",
]  # fmt: skip
