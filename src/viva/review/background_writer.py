"""What counts is handed on to where results lie, behind the pages: no marker waits for a disk."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from viva.model.hand_grading import Standing
from viva.review.answer_sources import Source
from viva.review.written_answers import HandedIn

Marks = Callable[[], Mapping[str, Standing]]
"""What counts of a submission's prose, at the moment in which it is asked for."""


class Behind:
    """Tells a source what counts, in a thread of its own, in the order in which it was said."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._thread = ThreadPoolExecutor(1, "viva-review")
        self.untold: Mapping[str, str] = {}
        """Submissions whose results could not be brought up to date, and why; replaced and never changed, since pages
        read it meanwhile."""

    def tell(self, whose: Iterable[HandedIn], marks: Marks) -> None:
        """Hand on what counts of a submission, under each of its names; returns at once."""
        self._thread.submit(self._tell, whose, marks)

    def end(self) -> None:
        """Wait until all of it is handed on."""
        self._thread.shutdown(wait=True)

    def _tell(self, whose: Iterable[HandedIn], marks: Marks) -> None:
        for handed_in in whose:
            name = handed_in.attempt.name
            try:
                self._source.tell(handed_in, marks())
            except Exception as error:  # nobody waits for it: it is said on the page and at the end; the mark is kept
                self.untold = {**self.untold, name: str(error) or type(error).__name__}
            else:
                self.untold = {other: why for other, why in self.untold.items() if other != name}
