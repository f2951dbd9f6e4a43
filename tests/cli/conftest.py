"""Running commands: in this process where it can be, as a program where signals, pipes and exits matter."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Ran, Viva, best_tier, one_examiner, program, without_warning
from tests.support.shared_examiners import SharedExaminers
from tests.support.words_course import KEEPS_CASE, SECRET, hand_in, write_course
from viva.cli.main import run

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="session", autouse=True)
def _usual_signals() -> None:
    """What a script starts in the background ignores Ctrl-C, or the end of its terminal; so do its programs."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course that no test changes."""
    return write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def own_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that the test may break, instead of the one above."""
    root = write_course(tmp_path / "own_course")
    monkeypatch.setenv("VIVA_COURSE", str(root))
    return root


@pytest.fixture
def ada_and_bob(tmp_path: Path) -> Path:
    """A folder with two submissions; Ada's earns 9 points of 10, Bob's 3, and a person grades the last point."""
    hand_in(tmp_path / "class" / "ada")
    hand_in(tmp_path / "class" / "bob", KEEPS_CASE)
    return tmp_path / "class"


@pytest.fixture
def keeping(own_course: Path) -> Path:
    """The course, which keeps records."""
    with (own_course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    return own_course


@pytest.fixture(autouse=True)
def _environment(course: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VIVA_COURSE", str(course))
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.delenv("VIVA_TRACEBACK", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def shared_examiners() -> Iterator[SharedExaminers]:
    """The examiners of commands that grade; they go on when a command ends."""
    shared = SharedExaminers()
    yield shared
    shared.end_all()


@pytest.fixture
def viva(capsys: pytest.CaptureFixture[str], shared_examiners: SharedExaminers) -> Viva:
    """`viva("grade", path, …)`: the command in this process; unless said, in the best isolation of the host, by one
    examiner: for two or three submissions, starting another one is most of the work."""

    def call(command: str, *arguments: Any) -> Ran:
        capsys.readouterr()
        argv = [command, *map(str, arguments), *best_tier(command, arguments), *one_examiner(command, arguments)]
        status = run(argv, shared_examiners.make)
        said = capsys.readouterr()
        given = "--tier" in arguments
        return Ran(status, said.out, said.err if given else without_warning(said.err))

    return call


@pytest.fixture
def start() -> Iterator[Start]:
    """`start("grade", path, …)`: the command as a program, in a session of its own; ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(command: str, *arguments: Any) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            program(command, *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=dict(os.environ),
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
