"""Turn a path into a Submission: regular files only, by descriptor, no link followed, hashed as read."""

from viva.submissions.discover import discover
from viva.submissions.open_submission import open_submission

__all__ = ["discover", "open_submission"]
