"""A whole class as a platform exports it becomes submissions: who handed in what, when, and who did not."""

from viva.submissions.classes.class_export import ClassRead, Unmatched
from viva.submissions.classes.read_class import is_export, read_class

__all__ = ["ClassRead", "Unmatched", "is_export", "read_class"]
