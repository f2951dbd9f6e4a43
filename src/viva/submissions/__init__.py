"""Turn a path into a Submission (regular files only, no link followed, hashed as read), and read what is in it."""

from viva.submissions.discover import discover
from viva.submissions.open_submission import open_submission
from viva.submissions.recognize import recognize_assignment

__all__ = ["discover", "open_submission", "recognize_assignment"]
