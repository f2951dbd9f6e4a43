"""The files that were graded, for pages that show them; a submission that has changed since is not shown."""

from collections.abc import Callable, Container
from fnmatch import fnmatch
from typing import Final

from viva.config import Assignment
from viva.model import File, Submission
from viva.model.attempt import ScoredAttempt
from viva.model.errors import UsageError
from viva.submissions import open_submission

GONE: Final = "The submission is not where it was graded."
CHANGED: Final = "The submission has changed since it was graded."


def graded_files(
    graded: ScoredAttempt, withheld: Callable[[], Container[tuple[int, int]]] = frozenset
) -> tuple[Submission | None, str]:
    """Return the submission that a score belongs to, or None and a sentence that says why it cannot be shown.

    Args:
        graded: the submission with its score.
        withheld: as for `open_submission`.
    """
    try:
        submission = open_submission(graded.attempt.path, graded.score.submission, withheld=withheld)
    except UsageError:
        return None, GONE
    if submission.content_hash != graded.score.content_hash:
        return None, CHANGED
    return submission, ""


def notebook_of(submission: Submission, assignment: Assignment) -> File | None:
    """Return the notebook that the assignment asks for; None if there is none outside of archives."""
    pattern = assignment.submission.notebook or "*.ipynb"
    found = [file for file in submission.files if file.path.lower().endswith(".ipynb")]
    wanted = [file for file in found if fnmatch(file.path.rpartition("/")[2], pattern)]
    return next(iter(wanted or found), None)
