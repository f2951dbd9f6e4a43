"""Each test has a course, an empty folder to work in, and a folder for temporary files that must be empty after it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faulty_host import class_of_two, nothing_left, patient_course
from tests.support.words_course import SECRET


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that no test changes."""
    return patient_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """Where the command keeps its temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _environment(course: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("VIVA_COURSE", str(course))
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.delenv("VIVA_TRACEBACK", raising=False)
    class_of_two(tmp_path / "class")
    monkeypatch.chdir(tmp_path)
    with nothing_left(scratch):
        yield
