"""What `viva.check` returns: a report that displays itself as a table in a notebook and as text everywhere else."""

import dataclasses
import io
from collections.abc import Container, Sequence
from fractions import Fraction
from typing import Final

from viva.formats.decimal_points import total_in_words
from viva.model import Entry, Score
from viva.model.totals import Totals
from viva.plugins.selfcheck.not_included import LeftOut, sentence

WIDTH: Final = 100
"""Columns of the text."""
HOW_TO_TRAIN: Final = "`viva.check(training=True)`"


class Report:
    """The outcome of one check of a live notebook."""

    def __init__(self, score: Score, left: Sequence[LeftOut], *, took_s: float, shown: Container[str]) -> None:
        """Keep the score and what was left out.

        Args:
            score: every test that was run; its notes are shown above the tests.
            left: what was not run.
            took_s: wall seconds of the check.
            shown: ids of the tests that are listed: those that the caller named.
        """
        self.score = score
        self.left = tuple(left)
        self.took_s = took_s
        self.entries: tuple[Entry, ...] = tuple(entry for entry in score.entries if entry.test_id in shown)
        """The tests that are listed."""

    @property
    def earned(self) -> Fraction:
        """Return the points earned in the listed tests."""
        return Totals.add_up(self.entries).earned

    @property
    def points(self) -> Fraction:
        """Return the points of the listed tests, pending ones included."""
        return Totals.add_up(self.entries).points

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on the notebook as a whole."""
        return self.score.notes

    @property
    def total(self) -> str:
        """Return the total as text: `7 of 7 points, 1 more pending`."""
        return total_in_words(Totals.add_up(self.entries))

    @property
    def not_run(self) -> str:
        """Return what was not run, and the points at stake."""
        return sentence(self.left, HOW_TO_TRAIN)

    @property
    def time(self) -> str:
        """Return how long the check took, and what it tested."""
        return f"Asked of the notebook as it is now, in {self.took_s:.2f} s; submit what also runs from top to bottom."

    def __str__(self) -> str:
        from viva.formats.terminal_table import print_score

        text = io.StringIO()
        print_score(dataclasses.replace(self.score, entries=self.entries), as_student=True, file=text, width=WIDTH)
        return f"{text.getvalue()}{self.not_run}\n{self.time}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from viva.plugins.selfcheck.report_html import page

        title = f"Check of {self.score.submission}: {self.total}"
        return page(title, self.entries, notes=self.notes, not_run=self.not_run, time=self.time)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return both forms for IPython; they say the same."""
        return {"text/plain": str(self), "text/html": self._repr_html_()}
