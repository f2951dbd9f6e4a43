"""What a person sees while a class is graded, and the summary at the end."""

import contextlib
import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import click

from viva.cli.shared.error_text import short
from viva.formats import escaping
from viva.model import Score, Tier
from viva.model.counting import counted
from viva.pipeline.jobs import Job

if TYPE_CHECKING:  # imported only when there is something to show
    from viva.formats.terminal_table import Bar
    from viva.pipeline.grading_run import Summary
    from viva.pipeline.results_writer import ResultsWriter

TELL_EVERY_S: Final = 5.0
"""How often a line of one kind about a submission in progress is written to a log."""
LARGE: Final = 200
"""For a larger class the table leaves out what an earlier run graded."""
_NUMBER: Final = re.compile(r"\d[\d.e+-]*")
"""Lines that differ in numbers only are of one kind: epochs, one after the other."""
WIPE: Final = "\r\x1b[K"
"""Clears the line of a terminal."""


def progress_line(what: str, noun: str) -> Callable[[int, int], None]:
    """Return a function that shows on a terminal how much is done, in one line, and takes it away when all is done.

    Called with a total of 0, it takes the line away.
    """

    def show(done: int, total: int) -> None:
        show_state(f"{what}: {done} of {total} {noun}" if done < total else "")

    return show


def show_state(text: str) -> None:
    """Show on a terminal what is being done, in a line that the next state replaces; an empty text takes it away."""
    if sys.stderr.isatty():
        click.echo(f"{WIPE}{text}", err=True, nl=False)


def warn(text: str) -> None:
    """Write a line to standard error."""
    click.echo(f"viva: {text}", err=True)


class Progress:
    """Shows the progress of a run; a context manager for the progress bar."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._total = len(jobs)
        self._told: dict[tuple[str, str], float] = {}
        self._line_is_open = False
        self._bar: Bar | None = None
        self._summary: Summary | None = None
        self._writer: ResultsWriter | None = None

    def watch(self, summary: "Summary", writer: "ResultsWriter") -> None:
        """Set what an interruption reports: how many submissions have been graded."""
        self._summary, self._writer = summary, writer

    def __enter__(self) -> Self:
        if self._total > 1 and sys.stderr.isatty():
            from viva.formats.terminal_table import progress_bar

            self._bar = progress_bar(self._total)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._end_line()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            done = len(self._summary.scores) if self._summary is not None else 0
            where = "; what is written so far is valid" if self._writer is not None and self._writer.has_written else ""
            click.echo(f"\nviva: {done} of {self._total} submissions were graded{where}.", err=True)

    def advance(self, score: Score | None) -> None:
        """Count one more submission."""
        if self._bar is not None:
            self._bar.advance(score)

    def wait(self, count: int, grader: str) -> None:
        """Say that submissions are left that other graders of the same records have."""
        what = "a submission" if count == 1 else f"{count} submissions"
        warn(f"waiting for {what} that another grader is at ({grader}).")

    def tell(self, job: Job, text: str) -> None:
        """Show the progress of a slow test, in one line that the next one replaces; in a log, now and then.

        A terminal that is gone, or a log on a full disk, costs no submission its score.
        """
        with contextlib.suppress(OSError):
            self._tell(job, text)

    def _tell(self, job: Job, text: str) -> None:
        line = escaping.line(text, characters=200)
        if self._bar is not None:
            self._bar.tell(f"{job.path.name}: {line}")
            return
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"{WIPE}{line[:width]}", err=True, nl=False)
            self._line_is_open = True
            return
        kind = job.name, _NUMBER.sub("", line)
        if time.monotonic() - self._told.get(kind, -TELL_EVERY_S) >= TELL_EVERY_S:
            self._told[kind] = time.monotonic()
            warn(f"{job.name}: {line}")

    def _end_line(self) -> None:
        if self._line_is_open:
            click.echo(WIPE, err=True, nl=False)
            self._line_is_open = False


def show_summary(summary: "Summary", writer: "ResultsWriter", tier: Tier, *, as_student: bool) -> None:
    """Print the scores, where they were written, and what went wrong.

    Args:
        summary: the outcome of the run.
        writer: wrote the results.
        tier: the isolation that was used, for a run without any score that would name it.
        as_student: print exactly what students see.
    """
    from viva.formats.terminal_table import print_class, print_score

    shown = [(name, summary.scores[name]) for name in summary.names if name in summary.scores]
    scores = [score for _, score in shown]
    if len(summary.names) == 1 or as_student:
        for score in scores:
            print_score(score, as_student=as_student)
    else:
        many = len(scores) > LARGE and summary.cached
        print_class([score for name, score in shown if name not in summary.cached] if many else scores)
        tiers = {score.isolation.tier for score in scores} - {"none"} or {str(tier)}
        click.echo(f"isolation {', '.join(sorted(tiers))}")
        suites = {s.assignment: s.signature["suite"] for s in scores if "suite" in s.signature}
        for name, kind in suites.items():
            suite = f"{'a' if kind == 'unittest' else 'an'} {kind} suite"
            click.echo(f"{name}: {suite}, which shares its process with the graded code and can be forged by it")
    _show_files(summary, writer)
    for name, remark in summary.remarks:
        warn(f"{name}: {escaping.line(remark)}")
    for name, error in summary.errors.items():
        warn(f"{name}: {short(error)}")
    if summary.grader_errors:
        what = counted(summary.grader_errors, "test is", "tests are")
        warn(f"{what} not graded yet because something went wrong on the grader's side.")


def _show_files(summary: "Summary", writer: "ResultsWriter") -> None:
    names = [name for name in summary.names if name in summary.scores and name not in summary.errors]
    written = [path for name in names if (path := writer.path(name)) is not None]
    if len(summary.names) == 1 and written:
        click.echo(f"written: {written[0]}")
    elif written:
        click.echo(f"written: {counted(len(written), 'result')}, the first is {written[0]}")
    if writer.curves:
        more = f" and {len(writer.curves) - 1} more" if len(writer.curves) > 1 else ""
        click.echo(f"training curves: {writer.curves[0]}{more}")


def show_cached(summary: "Summary") -> None:
    """Print which submissions kept the score of an earlier run, how to grade them again, and which were."""
    for level, count in sorted(summary.weaker.items()):
        what = counted(count, "submission was", "submissions were")
        click.echo(f"{what} graded before with isolation {level}, weaker than now, and again")
    if summary.unchanged:
        what = counted(summary.unchanged, "submission was", "submissions were")
        click.echo(f"{what} graded before and not again (--again grades again)")
    for name, count in summary.by_other_tests.items():
        _show_kept(name, count, f"by earlier tests of {name}, or an earlier viva,")
    for name, count in summary.by_other_secret.items():
        how = f"with another course secret, so with other hidden inputs of {name} (set it as it was, if you can),"
        _show_kept(name, count, how)


def _show_kept(name: str, count: int, how: str) -> None:
    what = counted(count, "submission was", "submissions were")
    click.echo(f"{what} graded {how} and keep their scores: `viva regrade {name}` shows what a regrade would change")
