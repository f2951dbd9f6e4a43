"""Print scores to a terminal: a table for a class, every test for one submission. Colour is never the only sign.

Every text is escaped for a terminal and given to rich as text, never as markup. Without a terminal there is no colour,
and an output that cannot hold a symbol gets the word alone.
"""

import codecs
import os
import sys
from collections import Counter, deque
from collections.abc import Container, Sequence
from pathlib import PurePath
from typing import IO, Final, Protocol

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from viva.formats import escaping
from viva.formats.decimal_points import column, total_in_words
from viva.formats.escaping import short_notes
from viva.model import Entry, Score, Status
from viva.model.counting import counted
from viva.model.totals import EXTRA_CREDIT, Totals

PLAIN_WIDTH: Final = 120
"""Columns where the output is not a terminal: a file or a pipe."""
NARROW: Final = 64
"""Below this many columns a test's name is on a line of its own."""
STAFF_LINES: Final = 40
READABLE: Final = "viva-readable"
"""The name of an error handler for encodings that lack some characters."""

_MOST_DIFFERENCES: Final = 8
"""Lines about the environment below the table of a class."""
_MOST_CHOICES: Final = 20
"""Lines about which file counts below the table of a class."""
_UNBROKEN: Final = "\ue000"
"""Replaces a space at which rich must not break a line (it breaks at U+00A0 as well)."""


class Bar(Protocol):
    """A progress bar that is being shown."""

    def advance(self, score: Score | None = None) -> None:
        """Count one more submission as done, with its score."""

    def tell(self, text: str) -> None:
        """Show a text next to the bar: the progress of the current submission."""

    def stop(self) -> None:
        """Remove the bar from the screen."""


def print_class(scores: Sequence[Score], *, file: IO[str] | None = None, width: int | None = None) -> None:
    """Print one row for each submission.

    Args:
        file: the output; standard output by default.
        width: in columns; the terminal's by default.
    """
    print_view(_ClassView(scores), file, width)


def print_score(
    score: Score,
    *,
    as_student: bool = False,
    only: Container[str] | None = None,
    file: IO[str] | None = None,
    width: int | None = None,
) -> None:
    """Print every test of one submission, with its messages.

    Args:
        as_student: leave out what a student does not see: hidden tests, and what only staff read.
        only: ids of the tests to show; the total still counts all tests. None shows all.
        file, width: as `print_class`.
    """
    print_view(_ScoreView(score, as_student=as_student, only=only), file, width)


LATEST: Final = 8
"""Rows of the latest scores above the progress bar."""


def progress_bar(total: int, console: Console | None = None) -> Bar:
    """Show on standard error the latest scores, the progress, the rate and the remaining time."""
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Task as RichTask

    class Rate(ProgressColumn):
        def render(self, task: RichTask) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (TextColumn("graded"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn(),
               TextColumn("{task.fields[text]}", markup=False))  # fmt: skip
    shown_on = console or Console(stderr=True)
    progress = Progress(*columns, console=shown_on)
    task = progress.add_task("graded", total=total, text="")
    latest: deque[Score] = deque(maxlen=LATEST)

    class Shown:
        def advance(self, score: Score | None = None) -> None:
            progress.update(task, advance=1, text="")
            if score is not None:
                latest.append(score)
                live.update(self._all())

        def tell(self, text: str) -> None:
            progress.update(task, text=escaping.line(text, characters=200))

        def stop(self) -> None:
            live.stop()

        def _all(self) -> RenderableType:
            return Group(_ClassView([*latest]).lay_out(shown_on.width), progress) if latest else progress

    live = Live(progress, console=shown_on, transient=True, refresh_per_second=4)
    live.start()
    return Shown()


class View(Protocol):
    """Content that is laid out for the available width when it is printed."""

    def lay_out(self, width: int) -> RenderableType:
        """Lay it out for this many columns."""


class _ClassView:
    """One row for each submission: score, points that are not graded yet, counts of outcomes. Numbers are aligned."""

    def __init__(self, scores: Sequence[Score]) -> None:
        self._scores = scores
        self._names = _without_common_folder([s.submission for s in scores])
        self._earned = column([s.earned for s in scores])
        self._points = column([s.totals.graded_points for s in scores])
        shown = column([s.still_open for s in scores])
        self._open = [text if score.still_open else "" for text, score in zip(shown, scores, strict=True)]

    def lay_out(self, width: int) -> RenderableType:
        rows = self._narrow() if width < NARROW else self._table()
        below = [*self._choices(), *_differences(self._scores)]
        return Group(rows, *below) if below else rows

    def _choices(self) -> list[Text]:
        """List the submissions in which names of files do not decide which one counts."""
        pairs = zip(self._names, self._scores, strict=True)
        lines = [f"  {escaping.line(name)}: {escaping.line(score.choice)}" for name, score in pairs if score.choice]
        more = len(lines) - _MOST_CHOICES
        return [
            *([Text("Which file counts:", style="bold")] if lines else []),
            *map(Text, lines[:_MOST_CHOICES]),
            *([Text(f"  and {more} more; report.csv has all of them")] if more > 0 else []),
        ]

    def _table(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("submission", overflow="fold", min_width=16)
        columns = {"score": self._earned, "of": self._points} | ({"pending": self._open} if any(self._open) else {})
        for heading in columns:
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("tests", overflow="fold")
        for row, score in enumerate(self._scores):
            numbers = [Text(texts[row]) for texts in columns.values()]
            table.add_row(Text(escaping.line(self._names[row])), *numbers, _tally(score))
        return table

    def _narrow(self) -> RenderableType:
        parts: list[RenderableType] = []
        for name, score in zip(self._names, self._scores, strict=True):
            parts.append(Text(escaping.line(name), style="bold", overflow="fold"))
            parts.append(Padding(Text(_total(score.entries)), (0, 0, 0, 2)))
            parts.append(Padding(_tally(score), (0, 0, 0, 2)))
        return Group(*parts)


def _differences(scores: Sequence[Score]) -> list[Text]:
    """List how the environment differs from what submissions were written for, the most frequent first."""
    counted = Counter(text for score in scores for text in score.environment)
    if not counted:
        return []
    lines = [
        f"  {count} of {len(scores)}: {escaping.line(text)}" for text, count in counted.most_common(_MOST_DIFFERENCES)
    ]
    more = len(counted) - _MOST_DIFFERENCES
    return [
        Text("Written for another environment:", style="bold"),
        *map(Text, lines),
        *([Text(f"  and {more} more")] if more > 0 else []),
    ]


class _ScoreView:
    """Every test of one submission; laid out for the available width when it is printed."""

    def __init__(self, score: Score, *, as_student: bool, only: Container[str] | None = None) -> None:
        self._score = score
        self._only = only
        self._as_student = as_student
        self._entries = [e for e in score.entries if e.visibility == "visible" or not as_student]
        self._points = dict(zip(self._entries, _points_column(self._entries), strict=True))
        self._shown_at: dict[str, str] = {}
        """Staff messages that were shown already, and where: one cause often affects many tests."""

    def lay_out(self, width: int) -> RenderableType:
        self._shown_at.clear()
        parts: list[RenderableType] = [Text(escaping.line(self._score.submission), style="bold")]
        notes = short_notes(self._score.notes) if self._as_student else self._score.notes
        parts += [Padding(Text(escaping.terminal(note)), (0, 0, 0, 2)) for note in notes]
        for entry in self._entries:
            if self._only is not None and entry.test_id not in self._only:
                continue
            parts += self._narrow(entry) if width < NARROW else [self._wide(entry)]
            parts += [Padding(text, (0, 0, 0, 4)) for text in self._messages(entry)]
        hidden = len(self._score.entries) - len(self._entries)
        if hidden:
            parts.append(Text(f"and {counted(hidden, 'hidden test')}"))
        parts.append(Text(_total(self._entries), style="bold"))
        if not self._as_student:
            parts.append(Text(_isolation(self._score), style="dim"))
        return Group(*parts)

    def _wide(self, entry: Entry) -> RenderableType:
        row = Table.grid(padding=(0, 2, 0, 0))
        row.add_column(width=_STATUS_WIDTH, no_wrap=True)
        row.add_column(justify="right", width=max(map(len, self._points.values())), no_wrap=True)
        row.add_column(width=min(max(len(e.number) for e in self._entries), 24), overflow="fold")
        row.add_column(overflow="fold")
        number = Text(escaping.line(entry.number, characters=40))
        row.add_row(_status(entry), Text(self._points[entry]), number, Text(_name(entry)))
        return row

    def _narrow(self, entry: Entry) -> list[RenderableType]:
        head = Text.assemble(_status(entry), f"  {self._points[entry].strip()}")
        return [
            head,
            Padding(Text(f"{escaping.line(entry.number, characters=40)} {_name(entry)}".strip()), (0, 0, 0, 2)),
        ]

    def _messages(self, entry: Entry) -> list[Text]:
        texts = [Text(escaping.terminal(entry.message))] if entry.message else []
        for case in entry.cases:
            if case.label and not case.message and case.status is not Status.PASSED:
                texts.append(Text(escaping.line(f"{case.label}: {case.status.word}")))
        if entry.staff_message and not self._as_student:
            texts.append(Text(f"for staff: {self._for_staff(entry)}", style="dim"))
        return texts

    def _for_staff(self, entry: Entry) -> str:
        text = escaping.terminal(entry.staff_message, lines=STAFF_LINES)
        if text in self._shown_at:
            return f"as for {self._shown_at[text]}"
        self._shown_at[text] = escaping.line(f"{entry.number} {entry.test_id.partition('::')[2]}".strip())
        return text


def _without_common_folder(paths: Sequence[str]) -> list[str]:
    """Return the part of each path that distinguishes it from the others."""
    if len(paths) < 2:
        return list(paths)
    try:
        common = os.path.commonpath([str(PurePath(p).parent) for p in paths])
    except ValueError:  # absolute and relative ones, or no folder at all
        return list(paths)
    return [os.path.relpath(p, common) if common else p for p in paths]


def print_view(view: View, file: IO[str] | None, width: int | None) -> None:
    """Print a view, laid out for the available width; arguments as of `print_class`."""
    stream = file or sys.stdout
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False, force_jupyter=False)
    if width is None and not stream.isatty():
        console.width = PLAIN_WIDTH
    with console.capture() as captured:
        console.print(view.lay_out(console.width))
    lines = "\n".join(line.rstrip() for line in captured.get().replace(_UNBROKEN, " ").splitlines())
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(lines.encode(encoding, READABLE).decode(encoding) + "\n")


def _readable(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: letters by escapes, so that names stay distinct, and any symbol by `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(ascii(c)[1:-1] if c.isalnum() else "?" for c in lacking), error.end


codecs.register_error(READABLE, _readable)


def _status(entry: Entry) -> Text:
    return Text(f"{entry.symbol} {entry.word}", style="" if entry.is_manual else entry.status.style)


_STATUS_WIDTH: Final = max(len(f"{status.symbol} {status.word}") for status in Status)


def _name(entry: Entry) -> str:
    extra = " (extra credit)" if EXTRA_CREDIT in entry.tags else ""
    seen = "" if entry.visibility == "visible" else f" ({entry.visibility.replace('_', ' ')})"
    return escaping.line(entry.name) + extra + seen


def _points_column(entries: Sequence[Entry]) -> list[str]:
    """Format earned and possible points as aligned columns: `3.5 /  4`, `open /  4`."""
    earned = [
        "open" if e.status.is_open else text
        for e, text in zip(entries, column([e.earned for e in entries]), strict=True)
    ]
    width = max(map(len, earned), default=0)
    points = column([e.points for e in entries])
    return [f"{won:>{width}} / {most}" for won, most in zip(earned, points, strict=True)]


def _total(entries: Sequence[Entry]) -> str:
    return total_in_words(Totals.add_up(entries))


def _isolation(score: Score) -> str:
    missing = f"; missing: {', '.join(score.isolation.missing)}" if score.isolation.missing else ""
    return escaping.line(f"isolation {score.isolation.tier}{missing}; {score.wall_s:.2f} s")


def _tally(score: Score) -> Text:
    """Count the outcomes of the tests: `✓ 12 passed  ✗ 2 failed`."""
    text = Text()
    for status in Status:
        count = sum(entry.status is status for entry in score.entries)
        if count:
            text.append("  " if text else "")
            item = f"{status.symbol} {count} {status.word}".replace(" ", _UNBROKEN)
            text.append(item, style=status.style)
    return text
