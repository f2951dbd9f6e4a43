"""Jobs: the submissions of one run, and the observer of their grading."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, final

from viva.config import Assignment, Course
from viva.model import Attempt, Entry, Submission
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import Graded, GradeOptions
from viva.submissions import open_submission


@final
@dataclass(frozen=True, slots=True)
class Job:
    """One submission to grade: where it is, and which assignment it is for."""

    path: Path
    name: str
    assignment: Assignment
    submission: Submission | None = None
    """Its bytes, if they have been read already (to recognise the assignment)."""
    options: GradeOptions | None = None
    """The options of this submission; None for the pool's options."""
    may_hold_notebook: bool = True
    """Whether notebooks may be in it, if its bytes have not been read: their shell is then loaded for all."""
    content_hash: str = ""
    """The hash of its bytes, if they were read when the class was listed."""
    attempt: Attempt | None = None
    """Who submitted it and when, if that is known."""
    interceptor_input: Callable[[], bytes] = bytes
    """Fetches what the interceptor of the options is given for this submission."""

    @property
    def result_path(self) -> Path:
        """Return the path of the result in the folder of results: the submission's name in the class, else its path."""
        return Path(self.attempt.name) if self.attempt is not None else self.path

    def read(self, course: Course) -> Submission:
        """Return the submission; read it now if it has not been read before.

        Raises:
            GraderError: it has been removed since the class was listed, which does not stop the others.
        """
        if self.submission is not None:
            return self.submission
        try:
            return open_submission(self.path, self.name, withheld=course.withheld)
        except UsageError as error:
            raise GraderError(f"it cannot be read any more: {error}") from error


def _nothing(*_: object) -> None:
    """Do nothing."""


class Postponed(Exception):
    """The outcome of a job that another grader has at the moment, or has just graded."""


def always(_: Job) -> bool:
    """Let every job start."""
    return True


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Called while jobs are graded. Calls come from several threads, one thread for each job at a time."""

    while_waiting: Callable[[], None] = _nothing
    """Called once, when examiners start on this machine: they load their libraries meanwhile."""
    may_start: Callable[[Job], bool] = always
    """Asked before a job is started; one that may not start is postponed."""
    on_start: Callable[[Job, tuple[Entry, ...]], None] = _nothing
    """Called before a submission is asked anything, with every entry still pending."""
    on_entry: Callable[[Job, Callable[[], tuple[Entry, ...]]], None] = _nothing
    """Called after each entry, with a function that returns all entries as they are then."""
    on_progress: Callable[[Job, str], None] = _nothing
    """Called with a line while a test takes long."""


GradedJob = tuple[Job, Graded | Exception]
"""A job and its score, or the error that prevented one."""
GradedJobs = Generator[GradedJob, None, None]
"""The jobs of one run with their scores, as they come back. To close it ends what is still under way."""
Batches = Generator[list[GradedJob], None, None]
"""The same, in lists of what came back at about the same time."""

GATHER_S: Final = 0.25
"""How long a score waits for others, with which it is stored."""


def one_by_one(batches: Batches) -> GradedJobs:
    """Yield what is in the batches; to close it closes them."""
    with closing(batches):
        for batch in batches:
            yield from batch


class Pool(Protocol):
    """Grades jobs: on this machine, or on a cluster."""

    def run(self, jobs: Sequence[Job]) -> GradedJobs:
        """Grade the jobs in any order; each comes back exactly once.

        Yields:
            The job and its score, or the usage or grader error that prevented one; `Postponed` if it may not start.
        """
        ...

    def in_batches(self, jobs: Sequence[Job]) -> Batches:
        """Grade the jobs as `run` does; yield lists, so that many scores are stored at once."""
        ...
