"""An interceptor stands between the examiner and what it asks while it grades one submission."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from viva.compare.hint_recording import HintRecording
from viva.examiner.recorded_key.replayed_key import RecordedSeeds, ReplayedKey
from viva.model.box_source import BoxSource
from viva.model.seeds import Seeds
from viva.proxies.key import Key


@dataclass(frozen=True, slots=True)
class Answers:
    """Where a grading takes the right answers from."""

    key: Key | ReplayedKey
    seeds: Seeds | RecordedSeeds
    hints: HintRecording | None = None
    """Records the hints of comparisons, or gives recorded ones; None for the hints of the tests."""


class Interceptor:
    """Changes nothing; a plugin's class overrides what it needs (the hook `viva_interceptor`)."""

    def wrap_boxes(self, source: BoxSource, case_id: Callable[[], str]) -> BoxSource:
        """Return the source from which the examiner takes its boxes.

        Args:
            source: the source of real boxes, which the returned one may use.
            case_id: returns the case of the running test; an empty string while a box is loaded.
        """
        return source

    def wrap_answers(self, answers: Answers) -> Answers:
        """Return the key, the seeds and the hints that the tests get."""
        return answers

    def end(self, sought: Collection[str], answer_readers: Collection[str]) -> None:
        """Take note of what the tests have asked the submission, after the last one.

        Args:
            sought: the student's names that tests looked for.
            answer_readers: the cases that read an answer of the submission that is not code.
        """

    def output(self) -> bytes:
        """Return what the grading brings back (`Graded.interceptor_output`)."""
        return b""
