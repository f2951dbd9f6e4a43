"""Open the records of a course, or those in a folder of results; SQLAlchemy is imported when one of them is opened."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from viva.config import Course
from viva.model.errors import UsageError
from viva.model.extras import MissingLibrary, missing_library
from viva.model.grade_request import Graded
from viva.pipeline.jobs import Job

if TYPE_CHECKING:
    from viva.records import Records
    from viva.records.overrides import DecidedScore

IN_FOLDER: Final = "review.db"
"""The file in a folder of results in which `viva review` keeps its decisions."""


def _missing(error: ImportError) -> MissingLibrary:
    return missing_library("The records need", error.name, "records")


def records_url_of(course: Course, url: str | None) -> str:
    """Return where a course keeps its scores.

    Raises:
        UsageError: neither the command nor grader.yaml says where.
    """
    place = url or course.records
    if place is None:
        raise UsageError(
            f"{course.root / 'grader.yaml'} does not say where scores are kept; write `records: sqlite:///records.db` "
            "into it, or say --records URL."
        )
    return place


def records_at(place: str, root: Path) -> "Records":
    """Open the records at a URL; a relative file lies in the course's folder.

    Raises:
        UsageError: what they need is not installed, or they cannot be opened.
    """
    try:
        from viva.records import Records
    except ImportError as error:
        raise _missing(error) from None
    return Records.open(place, root)


def open_records(course: Course, url: str | None) -> "Records":
    """Open the records of a course.

    Raises:
        UsageError: no one says where they are, what they need is not installed, or they cannot be opened.
    """
    return records_at(records_url_of(course, url), course.root)


def records_file(course: Course) -> Path | None:
    """Return SQLite's file; None for a server.

    Raises:
        UsageError: no one says where the records are, or what they need is not installed.
    """
    place = records_url_of(course, None)
    try:
        from sqlalchemy.engine import make_url
    except ImportError as error:
        raise _missing(error) from None
    url = make_url(place)
    return course.root / str(url.database) if url.get_backend_name() == "sqlite" else None


@contextlib.contextmanager
def optional_records(course: Course, url: str | None, *, off: bool) -> "Iterator[Records | None]":
    """Open the records that grading adds to; None if no scores are kept.

    Raises:
        UsageError: what they need is not installed, or they cannot be opened.
    """
    place = url or course.records
    if off or place is None:
        yield None
        return
    with records_at(place, course.root) as records:
        yield records


def folder_records(folder: Path) -> "Records":
    """Open the records in a folder of results, in which a course that keeps no scores keeps decisions of `viva review`.

    Raises:
        UsageError: what they need is not installed, or they cannot be opened.
    """
    try:
        from sqlalchemy.engine import URL

        from viva.records import Records
    except ImportError as error:
        raise _missing(error) from None
    return Records.open(URL.create("sqlite", database=str(folder / IN_FOLDER)), Path())


class FolderDecisions:
    """Knows the decisions that `viva review` kept in a folder of results, while its submissions are graded again."""

    def __init__(self, records: "Records") -> None:
        self._records = records

    def keep(self, graded: Sequence[tuple[Job, Graded]]) -> "list[DecidedScore]":
        """Return scores with the decisions about their bytes; keep nothing."""
        from viva.records.overrides import ByHand, DecidedScore

        decided = []
        for job, one in graded:
            people = ByHand.about(self._records, job.assignment.name, (), [one.score.content_hash])
            decided.append(DecidedScore(one.score, people.marks.get(one.score.content_hash, {})))
        return decided


@contextlib.contextmanager
def folder_decisions(output: Path | None, *, off: bool) -> Iterator[FolderDecisions | None]:
    """Open the decisions in the folder that results are written to; None if there are none.

    Raises:
        UsageError: they cannot be read.
    """
    if off or output is None or not (output / IN_FOLDER).is_file():
        yield None
        return
    with folder_records(output) as records:
        yield FolderDecisions(records)
