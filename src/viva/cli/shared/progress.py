"""What a person sees while a class is graded, and what came of it."""

import shutil
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import click

from viva.cli.shared.error_text import short
from viva.formats import escaping, executed_file
from viva.formats.atomic_write import write_atomically
from viva.model import Entry, Score, Tier
from viva.model.errors import UsageError, VivaError
from viva.model.grade_request import Graded
from viva.pipeline.checkpoint_folder import folder_of, tidy
from viva.pipeline.curve_files import write_class_curves, write_curves
from viva.pipeline.local_pool import Job
from viva.pipeline.result_bytes import around_the_name, marked, result, says

if TYPE_CHECKING:  # imported when there is something to show
    from viva.formats.terminal_table import Bar
    from viva.pipeline.grading_run import Summary
    from viva.pipeline.results_writer import ResultsWriter

TELL_EVERY_S: Final = 5.0
"""How often a line about a submission under way is written where nobody watches a terminal: a log."""
LARGE: Final = 200
"""Of a larger class the table leaves out what was graded by an earlier run."""
_WIPE: Final = "\r\x1b[K"


def warn(text: str) -> None:
    """Write a line to standard error."""
    click.echo(f"viva: {text}", err=True)


class Progress:
    """Shows how far a run is; a context manager for the progress bar."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._total = len(jobs)
        self._told: dict[str, float] = {}
        self._line_is_open = False
        self._bar: Bar | None = None
        self._summary: Summary | None = None
        self._writer: ResultsWriter | None = None

    def watch(self, summary: "Summary", writer: "ResultsWriter") -> None:
        """Say at an interruption how far they have come."""
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

    def tell(self, job: Job, text: str) -> None:
        """Show how far a test is that takes long, in one line that the next one replaces; in a log, now and then."""
        line = escaping.line(text, characters=200)
        if self._bar is not None:
            self._bar.tell(f"{job.path.name}: {line}")
        elif sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            click.echo(f"{_WIPE}{line[:width]}", err=True, nl=False)
            self._line_is_open = True
        elif time.monotonic() - self._told.get(job.name, -TELL_EVERY_S) >= TELL_EVERY_S:
            self._told[job.name] = time.monotonic()
            warn(f"{job.name}: {line}")

    def _end_line(self) -> None:
        if self._line_is_open:
            click.echo(_WIPE, err=True, nl=False)
            self._line_is_open = False


def show_summary(summary: "Summary", writer: "ResultsWriter", tier: Tier, *, as_student: bool) -> None:
    """Print the scores, where they were written, and what went wrong.

    def _save_notebook(self, job: Job, graded: Graded) -> None:
        """The executed notebook beside the result; one of an earlier run goes, for it belongs to another result.

        Not where results are written into the submission itself: the next run would take it for the student's work.
        """
        path = self._targets[job.name].with_name(executed_file.FILE)
        if not self.keeps_notebooks or not graded.finished or path.resolve().is_relative_to(job.path.resolve()):
            return
        if graded.notebook:
            write_atomically(path, graded.notebook)
        else:
            with contextlib.suppress(OSError):  # it names the submission, so that nobody takes it for this one
                path.unlink()

    # --- called from the main thread

    def done(self, job: Job, graded: Graded | Exception, decided: "Decided | None" = None) -> None:
        """Keep and write a finished score; an error that concerns the whole course ends the run.

        Args:
            job: whose it is.
            graded: how it came out.
            decided: the score with what people decided; None where nobody keeps that.

        Raises:
            UsageError: the course is wrong: no other submission would fare better.
        """
        if isinstance(graded, UsageError):
            raise graded
        if isinstance(graded, Exception):
            self._errors[job.name] = graded
        else:
            score = self._scores[job.name] = graded.score if decided is None else decided.score
            self._remarks += [(job.name, remark) for remark in graded.remarks]
            if job.name in self._targets:
                try:
                    self._save(job, score, result(graded.score) if decided is None else marked(decided), complete=True)
                    self._save_notebook(job, graded)
                    if (folder := self.checkpoints(job)) is not None:
                        tidy(folder, graded, all_asked=self._all_asked)
                except VivaError as error:
                    self._errors[job.name] = error
        if self._bar is not None:
            self._bar.advance(None if isinstance(graded, Exception) else graded.score)

    def known(self, job: Job, decided: "Decided", *, changed: bool) -> None:
        """Take a score that was kept by an earlier run; its result is written where it is missing, or says another.

        Args:
            changed: whether a regrade or a person has changed the score since it was graded.
        """
        score = self._scores[job.name] = decided.score
        self._known.add(job.name)
        if job.name in self._targets and not says(self._targets[job.name], decided, changed=changed):
            self._save(job, score, marked(decided), complete=True)
        if self._bar is not None:
            self._bar.advance()

    def finish(self, *, as_student: bool) -> int:
        """Print what was found; the exit status of the command."""
        from viva.formats.terminal_table import print_class, print_score

        shown = [(name, self._scores[name]) for name in self._order if name in self._scores]
        scores = [score for _, score in shown]
        if len(self._order) == 1 or as_student:
            for score in scores:
                print_score(score, as_student=as_student)
        else:
            many = len(scores) > LARGE and self._known
            print_class([score for name, score in shown if name not in self._known] if many else scores)
            tiers = {score.isolation.tier for score in scores} - {"none"} or {str(self._tier)}
            click.echo(f"isolation {', '.join(sorted(tiers))}")
            suites = {s.assignment: s.signature["suite"] for s in scores if "suite" in s.signature}
            for name, kind in suites.items():
                suite = f"{'a' if kind == 'unittest' else 'an'} {kind} suite"
                click.echo(f"{name}: {suite}, which shares its process with the graded code and can be forged by it")
        self._draw_class(scores)
        self._say_where()
        for name, remark in self._remarks:
            click.echo(f"viva: {name}: {escaping.line(remark)}", err=True)
        for name, error in self._errors.items():
            click.echo(f"viva: {name}: {short(error)}", err=True)
        ours = [e for e in self._errors.values() if not isinstance(e, UsageError)]
        open_tests = sum(e.status.is_fault for s in scores for e in s.entries)
        if open_tests:
            what = "1 test is" if open_tests == 1 else f"{open_tests} tests are"
            click.echo(f"viva: {what} still open because something went wrong on the grader's side.", err=True)
        return 2 if ours or open_tests else (1 if self._errors else 0)

    def points_of(self) -> dict[str, Fraction]:
        """What the tests of each assignment add up to, as far as something of it was graded."""
        return {score.assignment: score.points for score in self._scores.values()}

    def _draw_class(self, scores: list[Score]) -> None:
        """The spread of the training curves, where several submissions went into a folder."""
        if self._output is None or len(self._order) < 2:
            return
        try:
            self._curves = write_class_curves(self._output, scores) or self._curves
        except UsageError as error:
            self._errors["the curves of the class"] = error

    def _say_where(self) -> None:
        written = [path for name, path in self._targets.items() if name in self._scores and name not in self._errors]
        if len(self._targets) == 1 and written:
            click.echo(f"written: {written[0]}")
        elif written:
            click.echo(f"written: {len(written)} results, the first is {written[0]}")
        if self._curves:
            more = f" and {len(self._curves) - 1} more" if len(self._curves) > 1 else ""
            click.echo(f"training curves: {self._curves[0]}{more}")


def _named(job: Job) -> Path:
    """What its result is called by: the submission's name in the class, else the path as it was given."""
    return Path(job.attempt.name) if job.attempt is not None else job.path


def target(output: Path, path: Path, count: int) -> Path:
    """Where the result of one submission goes: FILE.json for one, DIR/<path as given>/results.json for several.

    Raises:
        UsageError: a file was given for several submissions.
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
    if count := summary.grader_errors:
        what = "1 test is" if count == 1 else f"{count} tests are"
        warn(f"{what} still open because something went wrong on the grader's side.")


def _show_files(summary: "Summary", writer: "ResultsWriter") -> None:
    names = [name for name in summary.names if name in summary.scores and name not in summary.errors]
    written = [path for name in names if (path := writer.path(name)) is not None]
    if len(summary.names) == 1 and written:
        click.echo(f"written: {written[0]}")
    elif written:
        click.echo(f"written: {len(written)} results, the first is {written[0]}")
    if writer.curves:
        more = f" and {len(writer.curves) - 1} more" if len(writer.curves) > 1 else ""
        click.echo(f"training curves: {writer.curves[0]}{more}")


def show_cached(summary: "Summary") -> None:
    """Print which submissions kept the score of an earlier run, and what to do about it."""
    if summary.unchanged:
        what = "1 submission was" if summary.unchanged == 1 else f"{summary.unchanged} submissions were"
        click.echo(f"{what} graded before and not again (--again grades anew)")
    for name, count in summary.earlier.items():
        what = "1 submission was" if count == 1 else f"{count} submissions were"
        click.echo(
            f"{what} graded by earlier tests of {name}, or an earlier viva, and keep their scores: "
            f"`viva regrade {name}` shows what a regrade would change"
        )
