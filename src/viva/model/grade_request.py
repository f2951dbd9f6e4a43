"""What is asked of one submission, and what comes back."""

from dataclasses import dataclass, field
from typing import Any

from viva.model.score import Entry, Score


@dataclass(slots=True)
class Wanted:
    """Which tests to ask and what to bring back."""

    only: list[str] | None = None
    visible_only: bool = False
    record: bool = False
    until_loss: bool = False
    """Stop after the first test that loses points: for whom it is enough to know that some are lost."""
    call_s: float | None = None
    """A limit for each call and each test instead of the assignment's and the test's own."""
    training: bool = True
    """Whether tests that train are asked; otherwise they are deferred."""
    key_record: bool = False
    """Bring back what the key was asked and answered (`Graded.key_recording`)."""
    call_log: bool = False
    """Bring back what the boxes were asked and what they replied (`Graded.call_log`)."""
    notebook: bool = False
    """Bring back the notebook that was run, with its outputs (`Graded.notebook`)."""

    def asks(self, entry: Entry) -> bool:
        """Whether a test is asked for; those that must pass before it are asked beside it."""
        if self.visible_only and entry.visibility != "visible":
            return False
        return self.only is None or not names_of(entry).isdisjoint(self.only)


@dataclass(slots=True)
class Graded:
    """A score and, if recorded, what was asked: [test, [[op, subject, arguments, outcome], …]]."""

    score: Score
    questions: list[Any]
    trained: dict[str, bool] = field(default_factory=dict)
    """Files of the checkpoints of this run, and whether each belongs to a training that was complete in the end."""
    key_recording: bytes = b""
    """What the key was asked, if that was wanted: `KeyRecording.from_plain` reads it."""
    call_log: bytes = b""
    """What the boxes were asked and replied, if that was wanted and not too large: `CallLog.from_bytes` reads it."""
    notebook: bytes = b""
    """The executed notebook, if that was wanted and one was run: an .ipynb of nbformat 4.5. What its cells have put out
    are claims of the student's program, made before any test had asked it anything."""
    changed: list[str] = field(default_factory=list)
    """Tests that ask something else than in the call log that was to answer: their entries say nothing."""
    remarks: list[str] = field(default_factory=list)
    """For staff: which trainings could not be kept or continued, and why; that it was graded a second time."""
    finished: bool = True
    """False where the examiner did not come to the end."""
    ended: bool = False
    """Whether the examiner ended in the middle: a fresh one may do better. One that hung had its time."""


def names_of(entry: Entry) -> set[str]:
    """How a person may call a test: by its function, its number, or in full."""
    return {entry.test_id, entry.test_id.split("::", 1)[-1], entry.number}
