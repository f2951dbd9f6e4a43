"""Open the records of a course, or those in a folder of results; SQLAlchemy is imported when one of them is opened."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from viva.config import Course
from viva.model.errors import UsageError
from viva.model.extras import missing_library

if TYPE_CHECKING:
    from viva.plugins.records.store import Records

IN_FOLDER: Final = "review.db"
"""The file in a folder of results in which `viva review` keeps its decisions."""


def records_url_of(course: Course, url: str | None) -> str:
    """Return where a course keeps its scores.

    Raises:
        UsageError: neither the command nor grader.yaml says where.
    """
    place = url or course.records
    if place is None:
        raise UsageError(
            f"{course.root / 'grader.yaml'} does not say where scores are kept; write `records: sqlite:///records.db` "
            "into it, or pass --records URL."
        )
    return place


def records_at(place: str, root: Path) -> "Records":
    """Open the records at a URL; a relative file lies in the course's folder.

    Raises:
        UsageError: what they need is not installed, or they cannot be opened.
    """
    try:
        from viva.plugins.records.store import Records
    except ImportError as error:
        raise missing_library("The records need", error.name, "records") from None
    return Records.open(place, root)


def open_records(course: Course, url: str | None) -> "Records":
    """Open the records of a course.

    Raises:
        UsageError: no one says where they are, what they need is not installed, or they cannot be opened.
    """
    return records_at(records_url_of(course, url), course.root)


def folder_records(folder: Path) -> "Records":
    """Open the records in a folder of results, in which a course that keeps no scores keeps decisions of `viva review`.

    Raises:
        UsageError: what they need is not installed, or they cannot be opened.
    """
    return records_at(f"sqlite:///{IN_FOLDER}", folder)
