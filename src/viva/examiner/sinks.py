"""Where the grading of one submission sends what it produces besides the score."""

from collections.abc import Callable
from dataclasses import dataclass

from viva.examiner.boxes.load import LoadReport
from viva.examiner.interceptor import Interceptor
from viva.model import Entry


def _ignore(_: object) -> None:
    """Discard the value."""


@dataclass(slots=True, kw_only=True)
class Sinks:
    """What a grading reports while it runs; an adapter of an existing suite uses `on_entry` alone."""

    on_entry: Callable[[Entry], None] = _ignore
    """Called with each entry as soon as it is known."""
    on_progress: Callable[[str], None] = _ignore
    """Called with a line whenever a training test reports how far it is, or a test waits for a GPU."""
    on_loaded: Callable[[LoadReport], None] = _ignore
    """Called at the end with the report of the first load, if anything was loaded."""
    interceptor: Interceptor | None = None
    """Stands between the examiner and what it asks."""
