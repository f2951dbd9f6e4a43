"""How many notebooks a submission holds: as many as its assignment has, a few more, or a whole folder of them."""

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from viva.model import Submission

MOST_NOTEBOOKS: Final = 4
"""A student may split the work over a few notebooks; more of them mean that a whole folder was submitted."""


def with_notebooks_counted(submission: Submission, expected: int) -> Submission:
    """Return the submission with a note if it holds more notebooks than asked for, and a problem if far more.

    Args:
        submission: a submission as it was opened.
        expected: how many notebooks the assignment has.
    """
    paths = sorted(file.path for file in submission.files if file.path.lower().endswith(".ipynb"))
    count = len(paths)
    if submission.problem or count <= max(1, expected):
        return submission
    if count <= max(MOST_NOTEBOOKS, expected):
        note = (
            f"{count} notebooks were found ({', '.join(paths)}), and all of them are used; "
            "if one is a left-over, submit without it."
        )
        return replace(submission, notes=(*submission.notes, note))
    shown = PurePosixPath(submission.name).name or submission.name
    problem = (
        f"{count} notebooks were found ({', '.join(paths[:3])} and {count - 3} more), and it cannot be told which "
        f"one is the submission: submit the one with your answers (or grade each by itself: {shown}/*.ipynb)."
    )
    return replace(submission, problem=problem)
