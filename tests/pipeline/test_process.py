"""The process of an examiner: started before a command knows what it will ask for, and ended early by an error."""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.support.table_rows import Rows
from viva.cli.shared import early_start
from viva.pipeline.process import launch as launching
from viva.pipeline.process.failures import reporting_failures
from viva.pipeline.process.launch import Launched, end_early, launch, launch_early
from viva.pipeline.process.messages import receive
from viva.sandbox.host.levels import detect_levels


@pytest.fixture
def started() -> Iterator[list[Launched]]:
    """Processes that end with the test."""
    processes: list[Launched] = []
    yield processes
    for launched in processes:
        launched.sock.close()
        launched.process.kill()
        launched.process.wait()
        launched.log.close()


def test_early_process_is_taken_once(started: list[Launched]) -> None:
    launch_early()
    [early] = launching._EARLY
    started += [launch(), launch()]
    assert started[0] is early and started[1] is not early
    assert early.process.poll() is None


def test_early_process_that_has_ended(started: list[Launched]) -> None:
    launch_early()
    [early] = launching._EARLY
    early.process.kill()
    early.process.wait()
    started += [early, launch()]
    assert started[1] is not early and started[1].process.poll() is None


def test_early_process_ends_with_the_command() -> None:
    launch_early()
    [early] = launching._EARLY
    end_early()
    assert early.process.returncode is not None and early.log.closed
    assert not launching._EARLY


def test_early_process_of_a_killed_command(started: list[Launched]) -> None:
    launch_early()
    started.append(launching._EARLY.pop())
    started[0].sock.close()
    assert started[0].process.wait(60) == 0


def test_early_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    launch_early()
    assert not launching._EARLY


def test_commands_start_early_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(launching, "launch_early", lambda: begun.append("examiner"))
    monkeypatch.setattr(detect_levels, "detect_early", lambda: begun.append("levels"))
    expected: dict[Sequence[str], list[str]] = {
        ("check",): ["examiner"],
        ("check", "solution.py"): ["examiner"],
        ("grade", "a", "b"): ["examiner", "levels"],
        ("verify",): ["examiner", "levels"],
        ("grade", "--help"): [],
        ("report", "grade"): [],
        (): [],
        ("--version",): [],
    }
    with Rows() as row:
        for arguments, wanted in expected.items():
            begun.clear()
            end = early_start.start_early(arguments)
            with row(" ".join(arguments)):
                assert begun == wanted
                assert (end is end_early) is bool(wanted)


def test_levels_are_detected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    detect_levels._detected.cache_clear()
    trials: list[object] = []
    run = subprocess.run

    def counted(*arguments: Any, **options: Any) -> Any:
        trials.append(arguments)
        return run(*arguments, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    detect_levels.detect_early()
    assert detect_levels.detect_tiers() == detect_levels.detect_tiers()
    assert len(trials) == 1


# --- what an examiner tells its parent when it ends early


MANY = os.strerror(errno.EMFILE)


def report(error: Exception) -> dict[str, Any]:
    """What the parent hears of an error that ends an examiner."""
    parent, examiner = socket.socketpair()
    with parent, examiner:
        with reporting_failures(examiner):
            raise error
        message = receive(parent)
    assert message is not None
    return message


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EMFILE, MANY, "/lib/words.py"), MANY),
        (ImportError(f"/lib/words.so: cannot open shared object file: {MANY}"), MANY),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), os.strerror(errno.ENOMEM)),
    ],
)
def test_what_the_machine_refused(error: Exception, said: str) -> None:
    text = f"The examiner ended, because this machine refused it something: {said}."
    assert report(error) == {"event": "fatal", "kind": "grader", "text": text}


@pytest.mark.parametrize("error", [ImportError("no module"), OSError(errno.ENOENT, "none"), ValueError(MANY)])
def test_own_fault_comes_with_its_place(error: Exception) -> None:
    message = report(error)
    assert message["kind"] == "grader"
    assert message["text"].startswith("The examiner failed.\nTraceback") and "test_process.py" in message["text"]
