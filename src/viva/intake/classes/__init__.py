"""A whole class as a platform exports it becomes deliveries: who handed in what, when, and who did not."""

from viva.intake.classes.read import is_export, read_class
from viva.intake.classes.values import ClassRead, Unmatched

__all__ = ["ClassRead", "Unmatched", "is_export", "read_class"]
