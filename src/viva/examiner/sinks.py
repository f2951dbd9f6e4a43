"""Where the grading of one submission sends what it produces besides the score."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from viva.examiner.boxes.load import LoadReport
from viva.grading.training.checkpoints import Checkpoints
from viva.model import Entry
from viva.replay.call_log import BoxRecorder, BoxReplay
from viva.replay.key_recording import KeyRecording


def _one_after_another() -> Callable[[int], int]:
    """Return a function that counts from 0, whatever it is given."""
    numbers = itertools.count()
    return lambda _: next(numbers)


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
    next_group: Callable[[int], int] = field(default_factory=_one_after_another)
    """Given how many groups of tests that train there are, returns which is next; that number if none is left."""
    checkpoints: Checkpoints | None = None
    """Where trainings are kept for a later run."""
    key_recording: KeyRecording | None = None
    """Records what the key is asked and answers."""
    call_log: BoxRecorder | BoxReplay | None = None
    """Records what the boxes are asked and reply, or replies in their place."""
