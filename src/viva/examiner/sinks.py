"""Where the grading of one submission sends what it produces besides the score."""

from collections.abc import Callable
from dataclasses import dataclass

from viva.examiner.boxes.load import LoadReport
from viva.grading.training.checkpoints import Checkpoints
from viva.model import Entry
from viva.model.box_source import BoxInterceptor
from viva.replay.key_recording import KeyRecording


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
    checkpoints: Checkpoints | None = None
    """Where trainings are kept for a later run."""
    key_recording: KeyRecording | None = None
    """Records what the key is asked and answers."""
    interceptor: BoxInterceptor | None = None
    """Stands between the examiner and the boxes."""
