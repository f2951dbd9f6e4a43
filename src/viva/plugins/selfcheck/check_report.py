"""What `viva.check` returns: a report that displays itself as a table in a notebook and as text everywhere else.

The table has no scripts or colors, and contains escaped text only. Its colors are those of the notebook around it, dark
or light. Every status has a word next to its symbol.
"""

import dataclasses
import io
from collections.abc import Container, Sequence
from fractions import Fraction
from typing import Final

from viva.formats.decimal_points import total_in_words, worth_in_words
from viva.formats.escaping import html, line
from viva.model import Entry, Score
from viva.model.totals import Totals
from viva.plugins.selfcheck.not_included import LeftOut, write_sentence

WIDTH: Final = 100
"""Columns of the text."""
HOW_TO_TRAIN: Final = "`viva.check(training=True)`"
_CELL: Final = "text-align: left; vertical-align: top; padding: 0.3em 0.8em 0.3em 0; border-top: 1px solid currentColor"
_BLOCK: Final = "white-space: pre-wrap; margin: 0.3em 0 0 0; font-family: monospace; background: none; color: inherit"
_HEADINGS: Final = ("Result", "Points", "Question", "Test and feedback")


class Report:
    """The outcome of one check of a live notebook."""

    def __init__(self, score: Score, left_out: Sequence[LeftOut], *, took_s: float, shown: Container[str]) -> None:
        """Keep the score and what was left out.

        Args:
            score: every test that was run; its notes are shown above the tests.
            left_out: what was not run.
            took_s: wall seconds of the check.
            shown: ids of the tests that are listed: those that the caller named.
        """
        self.score = score
        self.entries: tuple[Entry, ...] = tuple(entry for entry in score.entries if entry.test_id in shown)
        """The tests that are listed."""
        self.notes = score.notes
        """The notes on the notebook as a whole."""
        totals = Totals.add_up(self.entries)
        self.earned: Fraction = totals.earned
        """The points earned in the listed tests."""
        self.points: Fraction = totals.points
        """The points of the listed tests, pending ones included."""
        self.total = total_in_words(totals)
        """The total as text: `7 of 7 points, 1 more pending`."""
        self.not_run = write_sentence(left_out, HOW_TO_TRAIN)
        """What was not run, and the points at stake."""
        self.time = f"Asked of the notebook as it is now, in {took_s:.2f} s; submit what also runs from top to bottom."

    def __str__(self) -> str:
        from viva.formats.terminal_table import print_score

        text = io.StringIO()
        print_score(dataclasses.replace(self.score, entries=self.entries), as_student=True, file=text, width=WIDTH)
        return f"{text.getvalue()}{self.not_run}\n{self.time}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = html(line(f"Check of {self.score.submission}: {self.total}"))
        items = "".join(f'<li><span style="white-space: pre-wrap">{html(note)}</span></li>' for note in self.notes)
        notes = f'<p>Please note:</p><ul aria-label="Notes">{items}</ul>' if items else ""
        head = "".join(f'<th scope="col" style="{_CELL}; border-top: 0">{text}</th>' for text in _HEADINGS)
        return (
            f'<section role="region" aria-label="{title}" style="color: inherit; background: none">'
            f'<table style="border-collapse: collapse; color: inherit; background: none">'
            f'<caption style="caption-side: top; text-align: left; font-weight: bold; color: inherit">{title}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_write_row, self.entries))}</tbody></table>"
            f"<p>{html(self.not_run)}</p>{notes}<p>{html(self.time)}</p></section>"
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return both forms for IPython; they say the same."""
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def _write_row(entry: Entry) -> str:
    symbol, word = entry.status.symbol, entry.status.word
    message = f'<pre style="{_BLOCK}">{html(entry.message)}</pre>' if entry.message else ""
    return (
        f'<tr><th scope="row" style="{_CELL}; white-space: nowrap"><span aria-hidden="true">{symbol}</span> {word}</th>'
        f'<td style="{_CELL}; white-space: nowrap">{html(worth_in_words(entry))}</td>'
        f'<td style="{_CELL}">{html(line(entry.number, characters=40))}</td>'
        f'<td style="{_CELL}">{html(line(entry.name))}{message}</td></tr>'
    )
