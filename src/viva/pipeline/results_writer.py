"""Write the result of each submission while its tests run, and the files with it: notebook and curves."""

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Final

from viva.formats import escaping
from viva.formats.atomic_write import write_atomically
from viva.model import Entry, Score
from viva.model.errors import UsageError
from viva.model.grade_request import Graded
from viva.pipeline import curve_files
from viva.pipeline.jobs import Job
from viva.pipeline.score_store import DecidedScore
from viva.submissions.notebook_cells import EXECUTED_FILE

WRITE_EVERY_S: Final = 1.0
"""How often a result is rewritten while its tests run; the first and the last state are always written."""
_ANY_NAME: Final = "the submission whose name goes here"


class ResultsWriter:
    """Writes the results of one run; used from several threads, one thread for each job at a time."""

    def __init__(
        self,
        jobs: Sequence[Job],
        output: Path | None,
        *,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Prepare; write nothing yet.

        Args:
            jobs: what is graded.
            output: FILE.json for one submission, a folder for several; None to write nothing.
            warn: called with a sentence about what could not be drawn.

        Raises:
            UsageError: a file was given for several submissions.
        """
        self._output, self._warn = output, warn
        self._targets = {job.name: target(output, job.result_path, len(jobs)) for job in jobs} if output else {}
        self._written_at: dict[str, float] = {}
        self._pending: dict[tuple[str, tuple[str, ...]], list[bytes]] = {}
        """The result before any test was asked, by assignment and tests: the same for all but the name."""
        self.curves: list[Path] = []
        """Files of curves that were written."""

    @property
    def writes_notebooks(self) -> bool:
        """Return whether executed notebooks are written, which needs a folder for each result."""
        return self._output is not None and self._output.suffix != ".json"

    @property
    def has_written(self) -> bool:
        """Return whether any result was written."""
        return bool(self._written_at)

    def path(self, job_name: str) -> Path | None:
        """Return where the result of a job is written; None if it is not."""
        return self._targets.get(job_name)

    def prepare(self) -> None:
        """Import what writes results, which takes as long as a small submission."""
        if self._targets:
            import viva.formats.results_json  # noqa: F401  # imported while there is time

    def start(self, job: Job, pending: tuple[Entry, ...]) -> None:
        """Write a valid result before the first question, so that there is one whatever happens."""
        if job.name not in self._targets:
            return
        kind = (job.assignment.name, tuple(entry.test_id for entry in pending))
        if kind not in self._pending:
            self._pending[kind] = _around_the_name(job, pending)
        name = json.dumps(escaping.line(job.name), ensure_ascii=False).encode("utf-8")
        write_atomically(self._targets[job.name], name.join(self._pending[kind]), durable=False)
        self._written_at[job.name] = time.monotonic()

    def entry(self, job: Job, entries: Callable[[], tuple[Entry, ...]]) -> None:
        """Rewrite the result after a test, but not more often than is useful.

        An error is left to `finish`, which writes the last state: the disk may have space again by then.
        """
        if job.name not in self._targets or time.monotonic() - self._written_at[job.name] <= WRITE_EVERY_S:
            return
        score = Score(job.name, "", job.assignment.name, job.assignment.version, entries())
        with contextlib.suppress(UsageError):
            write_atomically(self._targets[job.name], _result(score, complete=False), durable=False)
        self._written_at[job.name] = time.monotonic()

    def finish(self, job: Job, graded: Graded, decided: DecidedScore | None, *, durable: bool = True) -> None:
        """Write a finished score with its notebook and curves.

        Args:
            job: whose score it is.
            graded: the score as it was graded.
            decided: the score with what people decided; None where no one keeps that.
            durable: whether the result has to survive a power cut; not if the records have the score.

        Raises:
            VivaError: something cannot be written.
        """
        if job.name not in self._targets:
            return
        score = graded.score if decided is None else decided.score
        data = _result(graded.score) if decided is None else _with_decisions(decided)
        self._save(job, score, data, durable=durable)
        self._save_notebook(job, graded)

    def restore(self, job: Job, decided: DecidedScore, *, changed: bool) -> None:
        """Write a score of an earlier run where its result is missing, or says another score.

        Args:
            job: whose score it is.
            decided: the score with what people decided.
            changed: whether a regrade or a person has changed the score since it was graded.

        Raises:
            VivaError: it cannot be written.
        """
        if job.name in self._targets and not _says(self._targets[job.name], decided, changed=changed):
            self._save(job, decided.score, _with_decisions(decided))

    def class_curves(self, scores: Sequence[Score]) -> None:
        """Write the spread of the training curves, where several submissions went into a folder.

        Raises:
            UsageError: it cannot be written.
        """
        if self._output is not None and len(self._targets) > 1:
            self.curves = curve_files.write_class_curves(self._output, scores, self._warn) or self.curves

    def _save(self, job: Job, score: Score, data: bytes, *, durable: bool = True) -> None:
        write_atomically(self._targets[job.name], data, durable=durable)
        self._written_at[job.name] = time.monotonic()
        if drawn := curve_files.write_curves(self._targets[job.name], score, self._warn):
            self.curves.append(drawn)

    def _save_notebook(self, job: Job, graded: Graded) -> None:
        """Write the executed notebook next to the result, and remove that of an earlier run, which has another result.

        This is not done if results are written into the submission itself: the next run would take the notebook for the
        student's work.
        """
        path = self._targets[job.name].with_name(EXECUTED_FILE)
        if not self.writes_notebooks or not graded.finished or path.resolve().is_relative_to(job.path.resolve()):
            return
        if graded.notebook:
            write_atomically(path, graded.notebook)
        else:
            with contextlib.suppress(OSError):  # it names its submission, so it is not mistaken for this one
                path.unlink()


def write_result(path: Path, score: Score) -> None:
    """Write the result of one submission.

    Raises:
        UsageError: it cannot be written.
    """
    write_atomically(path, _result(score))


def target(output: Path, path: Path, count: int) -> Path:
    """Return where the result of one submission goes: FILE.json, or DIR/<path as given>/results.json.

    Args:
        output: what the user gave.
        path: the submission's path, or its name in the class.
        count: how many submissions are graded.

    Raises:
        UsageError: a file was given for several submissions.
    """
    if output.suffix == ".json":
        if count > 1:
            raise UsageError(f"-o {output} is one file, but there are {count} submissions: give a folder.")
        return output
    parts = [("_" if part == ".." else part) for part in PurePath(path).parts if part not in ("/", ".")]
    return output.joinpath(*parts, "results.json")


def _around_the_name(job: Job, pending: tuple[Entry, ...]) -> list[bytes]:
    """Return the result of a submission that was not asked anything yet, split where its name is."""
    score = Score(_ANY_NAME, "", job.assignment.name, job.assignment.version, pending)
    parts = _result(score, complete=False).split(f'"{_ANY_NAME}"'.encode())
    assert len(parts) == 2  # no text of a course is this name
    return parts


def _result(score: Score, *, complete: bool = True) -> bytes:
    """Return a result as it was graded."""
    from viva.formats.results_json import to_json  # a tenth of a second, while the examiners start

    return to_json(score, complete=complete)


def _with_decisions(decided: DecidedScore) -> bytes:
    """Return a result with what people decided, as `viva review` of a folder writes it, so that it can change it."""
    from viva.formats.hand_graded_results import with_decisions
    from viva.formats.results_json import results_of, to_bytes

    return to_bytes(with_decisions(results_of(decided.set_by_hand), decided.marks))


def _says(path: Path, decided: DecidedScore, *, changed: bool) -> bool:
    """Return whether a file holds the result of the score: all of it if this may have changed, else its points."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    if changed:
        return data == _with_decisions(decided)
    score = decided.set_by_hand
    marks = (f'"content_hash": "{score.content_hash}"', f'"earned": "{score.earned}"', '"complete": true')
    return all(mark.encode() in data for mark in marks)
