"""A report as HTML for a notebook: a table with headings, without scripts or colors, and with escaped text only.

The colours are those of the notebook around it, dark or light. Every status has a word next to its symbol.
"""

from collections.abc import Iterable
from typing import Final

from viva.formats.decimal_points import worth_in_words
from viva.formats.escaping import html, line
from viva.model import Entry

_CELL: Final = "text-align: left; vertical-align: top; padding: 0.3em 0.8em 0.3em 0; border-top: 1px solid currentColor"
_BLOCK: Final = "white-space: pre-wrap; margin: 0.3em 0 0 0; font-family: monospace; background: none; color: inherit"
_HEADINGS: Final = ("Result", "Points", "Question", "Test and feedback")


def page(title: str, entries: Iterable[Entry], *, notes: Iterable[str], not_run: str, time: str) -> str:
    """Return the report as one element.

    Args:
        title: what was checked, and the total.
        entries: the tests that are listed.
        notes: what concerns the notebook as a whole.
        not_run: what was not run, and the points at stake.
        time: how long it took.
    """
    title = html(line(title))
    items = "".join(f'<li><span style="white-space: pre-wrap">{html(note)}</span></li>' for note in notes)
    head = "".join(f'<th scope="col" style="{_CELL}; border-top: 0">{text}</th>' for text in _HEADINGS)
    return (
        f'<section role="region" aria-label="{title}" style="color: inherit; background: none">'
        f'<table style="border-collapse: collapse; color: inherit; background: none">'
        f'<caption style="caption-side: top; text-align: left; font-weight: bold; color: inherit">{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, entries))}</tbody></table>"
        f"<p>{html(not_run)}</p>"
        + (f'<p>Please note:</p><ul aria-label="Notes">{items}</ul>' if items else "")
        + f"<p>{html(time)}</p></section>"
    )


def _row(entry: Entry) -> str:
    symbol, word = entry.status.symbol, entry.status.word
    message = f'<pre style="{_BLOCK}">{html(entry.message)}</pre>' if entry.message else ""
    cells = (
        f'<th scope="row" style="{_CELL}; white-space: nowrap"><span aria-hidden="true">{symbol}</span> {word}</th>',
        f'<td style="{_CELL}; white-space: nowrap">{html(worth_in_words(entry))}</td>',
        f'<td style="{_CELL}">{html(line(entry.number, characters=40))}</td>',
        f'<td style="{_CELL}">{html(line(entry.name))}{message}</td>',
    )
    return f"<tr>{''.join(cells)}</tr>"
