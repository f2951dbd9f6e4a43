"""A Canvas and a Moodle on this machine, and the course whose grades are sent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.canvas_server import CanvasServer, Storage
from tests.support.lms_server import TOKEN, serving
from tests.support.moodle_server import MoodleServer
from tests.support.run_command import Ran, Viva
from tests.support.words_course import SECRET, write_course
from viva.cli.main import run
from viva.plugins.cohorts.lms import connection


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIVA_COURSE", str(write_course(tmp_path / "course")))
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.setenv("VIVA_CANVAS_TOKEN", TOKEN)
    monkeypatch.setenv("VIVA_MOODLE_TOKEN", TOKEN)
    monkeypatch.delenv("VIVA_TRACEBACK", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that connections would make; none is made."""
    made: list[float] = []
    monkeypatch.setattr(connection, "sleep", made.append)
    return made


@pytest.fixture
def storage() -> Iterator[Storage]:
    with serving(Storage()) as server:
        yield server


@pytest.fixture
def canvas(storage: Storage) -> Iterator[CanvasServer]:
    with serving(CanvasServer(storage)) as server:
        yield server


@pytest.fixture
def moodle() -> Iterator[MoodleServer]:
    with serving(MoodleServer()) as server:
        yield server


@pytest.fixture
def viva(capsys: pytest.CaptureFixture[str]) -> Viva:
    """A command in this process; whatever it says, it never shows the token."""

    def call(command: str, *arguments: object) -> Ran:
        capsys.readouterr()
        status = run([command, *map(str, arguments)])
        said = capsys.readouterr()
        assert TOKEN not in said.out + said.err
        return Ran(status, said.out, said.err)

    return call
