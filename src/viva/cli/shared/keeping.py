"""What commands that keep scores share: the records' place, who does it and why."""

import contextlib
import getpass
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from viva.config import Course
from viva.model.errors import UsageError

if TYPE_CHECKING:
    from viva.cli.shared.progress import Progress
    from viva.model.grade_request import Graded, Wanted
    from viva.pipeline.local_pool import Job
    from viva.records import Records
    from viva.records.overrides import Decided
    from viva.records.store import Reason


MARKS: Final = "review.db"
"""Marks of prose beside the results that they are about."""


class MissingLibrary(UsageError):
    """An extra of viva is not installed."""


def _missing(error: ImportError) -> MissingLibrary:
    return MissingLibrary(f"that needs the module `{error.name}`: pip install 'viva[records]'.")


def records_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--records URL`."""
    return click.option(
        "--records", "records_url", metavar="URL",
        help="Where scores are kept (default: `records` of grader.yaml): sqlite:///FILE or postgresql://USER@HOST/NAME.",
    )(function)  # fmt: skip


def reason_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--by NAME` and `--why REASON`."""
    function = click.option("--why", default="", metavar="REASON", help="Why; kept beside the score.")(function)
    return click.option("--by", default="", metavar="NAME", help="Who does this (default: your login name).")(function)


def reason_of(by: str, why: str) -> "Reason":
    """Who and why, as it is kept."""
    from viva.records.store import Reason

    return Reason(by or login_name(), why)


def open_records(course: Course, url: str | None) -> "Records":
    """The records of a course.

    Raises:
        UsageError: nobody says where they are, what they need is not installed, or they cannot be opened.
    """
    return records_at(records_place(course, url), course.root)


def records_place(course: Course, url: str | None) -> str:
    """Where a course keeps its scores.

    Raises:
        UsageError: nobody says it.
    """
    place = url or course.records
    if place is None:
        raise UsageError(
            f"{course.root / 'grader.yaml'} does not say where scores are kept; write `records: sqlite:///records.db` "
            "into it, or say --records URL."
        )
    return place


def records_at(place: str, root: Path) -> "Records":
    """The records at a URL; a relative file lies in the course's folder."""
    try:
        from viva.records import Records
    except ImportError as error:
        raise _missing(error) from None
    return Records.open(place, root)


def marks_beside(folder: Path) -> "Records":
    """The records in a folder of results, in which a course that keeps no scores keeps its marks of prose."""
    try:
        from sqlalchemy.engine import URL

        from viva.records import Records
    except ImportError as error:
        raise _missing(error) from None
    return Records.open(URL.create("sqlite", database=str(folder / MARKS)), Path())


@contextlib.contextmanager
def records_for(course: Course, url: str | None, *, off: bool) -> "Iterator[Records | None]":
    """The records that grading adds to; None where nothing is kept.

    What grader.yaml asks for and is not installed is said, and grading goes on; what was asked for by hand is an error.
    """
    place = url or course.records
    if off or place is None:
        yield None
        return
    try:
        records = records_at(place, course.root)
    except MissingLibrary as error:
        if url:
            raise
        click.echo(f"viva: scores are not kept: {error}", err=True)
        yield None
        return
    with records:
        yield records


class MarksBeside:
    """Knows what `viva review` of a folder of results has kept in it, while its submissions are graded anew."""

    def __init__(self, records: "Records") -> None:
        self._records = records

    def keep(self, job: "Job", graded: "Graded | Exception") -> "Decided | None":
        """The score, if there is one, with the marks of its bytes."""
        from viva.records.overrides import ByHand, Decided

        if isinstance(graded, Exception):
            return None
        score = graded.score
        people = ByHand.about(self._records, job.assignment.name, "", score.content_hash)
        return Decided(score, people.marks.get(score.content_hash, {}))


@contextlib.contextmanager
def marks_in(output: Path | None, *, off: bool) -> Iterator[MarksBeside | None]:
    """The marks in the folder that results are written to; None where there are none.

    Raises:
        UsageError: they cannot be read.
    """
    if off or output is None or not (output / MARKS).is_file():
        yield None
        return
    with marks_beside(output) as records:
        yield MarksBeside(records)


class Keeping:
    """Keeps the scores of one `viva grade`, and says in the end what it did not grade."""

    def __init__(
        self,
        records: "Records",
        course: Course,
        secret: bytes,
        wanted: "Wanted",
        reason: "Reason",
        *,
        gpu: bool,
        again: bool,
    ) -> None:
        from viva.pipeline.score_cache import ScoreCache

        self._keeper = ScoreCache(records, course.root, secret, wanted, reason, gpu=gpu)
        self._again = again
        self._unchanged = 0
        self._earlier: Counter[str] = Counter()

    def left(self, jobs: "list[Job]", progress: "Progress") -> "list[Job]":
        """What is to be graded; the scores of the others are told to the progress."""
        found = self._keeper.sort(jobs, again=self._again)
        for job, score, changed in self._keeper.scores(found):
            progress.known(job, score, changed=changed)
        self._unchanged = len(found.kept)
        self._earlier = Counter(job.assignment.name for job, _ in found.earlier)
        return found.to_grade

    def keep(self, job: "Job", graded: "Graded | Exception") -> "Decided | None":
        """Keep the score, if there is one; returns it with what people decided."""
        return None if isinstance(graded, Exception) else self._keeper.keep(job, graded, again=self._again)

    def say(self) -> None:
        """What was not graded, and what to do about it."""
        if self._unchanged:
            what = "1 submission was" if self._unchanged == 1 else f"{self._unchanged} submissions were"
            click.echo(f"{what} graded before and not again (--again grades anew)")
        for name, count in self._earlier.items():
            what = "1 submission was" if count == 1 else f"{count} submissions were"
            click.echo(
                f"{what} graded by earlier tests of {name}, or an earlier viva, and keep their scores: "
                f"`viva regrade {name}` shows what a regrade would change"
            )


def login_name() -> str:
    """Who runs the command, as the system knows them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a user list
        return "somebody"
