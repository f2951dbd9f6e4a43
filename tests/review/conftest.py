"""What tests of `viva review` share with those of the records, and the pages of a small class."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import postgres_url
from tests.support.review_class import fill
from tests.support.review_pages import SIZE
from tests.support.review_queues import Pages, Person, pages_of, queue_at, reader
from viva.model.hand_grading import SECOND
from viva.plugins.records.store import Records
from viva.plugins.review.queue import ReviewQueue

__all__ = ["postgres_url"]


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the records of a class of ten, or of the module's `SIZE`, which no test changes."""
    file = tmp_path_factory.mktemp("class") / "records.db"
    with reader(file) as records:
        fill(records, getattr(request.module, "SIZE", SIZE), file.parent / "class")
    return file


@pytest.fixture
def file(made: Path, tmp_path: Path) -> Path:
    """Return a copy for one test."""
    return Path(shutil.copy(made, tmp_path / "records.db"))


@pytest.fixture
def queue(file: Path) -> Iterator[ReviewQueue]:
    with queue_at(file) as opened:
        yield opened


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    """Open records for queues of classes in memory, each under its own name."""
    with reader(tmp_path_factory.mktemp("empty") / "records.db") as opened:
        yield opened


@pytest.fixture
def pages(queue: ReviewQueue) -> Iterator[Pages]:
    with pages_of(queue) as running:
        yield running


@pytest.fixture
def ada(pages: Pages) -> Person:
    return pages.person()


@pytest.fixture
def grace(pages: Pages) -> Person:
    """Return the second marker."""
    return pages.person("Grace", SECOND)
