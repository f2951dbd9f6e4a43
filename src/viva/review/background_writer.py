"""Write grades into results in a background thread, so that no marker waits for a disk."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from viva.model.hand_grading import Standing
from viva.review.answer_sources import Source
from viva.review.written_answers import HandedIn

Marks = Callable[[], Mapping[str, Standing]]
"""Returns the grades of a submission that count at the time of the call, by question."""


class Behind:
    """Passes grades to a source in one thread, in the order in which they were given."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._thread = ThreadPoolExecutor(1, "viva-review")
        self.untold: Mapping[str, str] = {}
        """Submissions whose results could not be updated, and why. The mapping is replaced, never changed in place,
        because pages read it from other threads."""

    def tell(self, whose: Iterable[HandedIn], marks: Marks) -> None:
        """Schedule the update of a submission under each of its names; return at once."""
        self._thread.submit(self._tell, whose, marks)

    def end(self) -> None:
        """Wait until every scheduled update is written."""
        self._thread.shutdown(wait=True)

    def _tell(self, whose: Iterable[HandedIn], marks: Marks) -> None:
        for handed_in in whose:
            name = handed_in.attempt.name
            try:
                self._source.tell(handed_in, marks())
            except Exception as error:  # no caller can catch it: it is shown on the page and at the end
                self.untold = {**self.untold, name: str(error) or type(error).__name__}
            else:
                self.untold = {other: why for other, why in self.untold.items() if other != name}
