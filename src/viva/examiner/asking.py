"""What is asked of one submission, and who hears of it: the same for the tests of a course and for suites."""

from collections.abc import Callable
from dataclasses import dataclass

from viva.examiner.boxes.load import LoadReport
from viva.examiner.catalog import TestFunction
from viva.grading.training.checkpoints import Checkpoints
from viva.model import Entry
from viva.replay.call_log import Recording, Replaying
from viva.replay.key_recording import KeyRecording


@dataclass(frozen=True, slots=True)
class Asking:
    """One request to grade; a suite, which runs beside the submission and trains nothing we know of, passes over what
    only tests of a course have: `training` and all below it."""

    wanted: Callable[[TestFunction], bool]
    """Which test functions to ask (their prerequisites are asked as well)."""
    on_entry: Callable[[Entry], None]
    """Called with each entry as soon as it is known."""
    record: bool
    """Keep what was asked and answered, test by test."""
    until_loss: bool
    """Stop after the first test that loses points."""
    call_s: float | None
    """A limit for each call and each test instead of the assignment's and the test's own."""
    training: bool
    """Whether tests that train are asked; otherwise they are deferred."""
    on_progress: Callable[[str], None]
    """Called with a line whenever a test that trains says how far it is, or one waits for a GPU."""
    checkpoints: Checkpoints | None
    """Where trainings are kept for a later run; None where nothing is."""
    key_recording: KeyRecording | None
    """Where to write down what the key is asked and answers; None where nobody wants to know."""
    call_log: Recording | Replaying | None
    """Writes down what the boxes are asked and reply, or stands in their place; None for neither."""
    on_loaded: Callable[[LoadReport], None]
    """Called in the end with what the first load did, if anything was loaded."""
