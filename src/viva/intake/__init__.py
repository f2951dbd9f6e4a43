"""A path becomes a Submission: regular files only, by descriptor, no link followed, hashed as read."""

from viva.intake.discover import discover
from viva.intake.opening import open_submission

__all__ = ["discover", "open_submission"]
