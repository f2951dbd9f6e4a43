"""Read a whole class as a platform exports it: who submitted what, when, and who did not submit."""

from viva.submissions.classes.class_export import ClassExport, Unmatched
from viva.submissions.classes.read_class import is_export, read_class

__all__ = ["ClassExport", "Unmatched", "is_export", "read_class"]
