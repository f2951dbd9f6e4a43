"""Write grades into results in a background thread, so that no marker waits for a disk."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from viva.model.hand_grading import CurrentDecision
from viva.plugins.review.answer_sources import AnswerSource
from viva.plugins.review.written_answers import GradedSubmission

Grades = Callable[[], Mapping[str, CurrentDecision]]
"""Returns the grades of a submission that count at the time of the call, by question."""


class BackgroundWriter:
    """Passes grades to a source in one thread, in the order in which they were given."""

    def __init__(self, source: AnswerSource) -> None:
        self._source = source
        self._thread = ThreadPoolExecutor(1, "viva-review")
        self.failures: Mapping[str, str] = {}
        """Submissions whose results could not be updated, and why. The mapping is replaced, never changed in place,
        because pages read it from other threads."""

    def schedule(self, submissions: Iterable[GradedSubmission], grades: Grades) -> None:
        """Schedule the update of a submission under each of its names; return at once."""
        self._thread.submit(self._write, submissions, grades)

    def close(self) -> None:
        """Wait until every scheduled update is written."""
        self._thread.shutdown(wait=True)

    def _write(self, submissions: Iterable[GradedSubmission], grades: Grades) -> None:
        for submission in submissions:
            name = submission.attempt.name
            try:
                self._source.write_grades(submission, grades())
            except Exception as error:  # no caller can catch it: it is shown on the page and at the end
                self.failures = {**self.failures, name: str(error) or type(error).__name__}
            else:
                self.failures = {other: why for other, why in self.failures.items() if other != name}
