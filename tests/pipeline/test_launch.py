"""The process of an examiner that is started before a command knows what it will ask for."""

import sys
from collections.abc import Iterator, Sequence

import pytest

from tests.support.table_rows import Rows
from viva.cli.shared import early_start
from viva.pipeline.process import launch as launching
from viva.pipeline.process.launch import Launched, end_early, launch, launch_early
from viva.sandbox.host.levels import detect_levels


@pytest.fixture
def started() -> Iterator[list[Launched]]:
    """Processes that end with the test."""
    processes: list[Launched] = []
    yield processes
    for each in processes:
        each.sock.close()
        each.process.kill()
        each.process.wait()
        each.log.close()


def test_the_process_that_was_started_early_is_taken_once(started: list[Launched]) -> None:
    launch_early()
    [early] = launching._EARLY
    started += [launch(), launch()]
    assert started[0] is early and started[1] is not early
    assert early.process.poll() is None


def test_one_that_has_ended_is_replaced(started: list[Launched]) -> None:
    launch_early()
    [early] = launching._EARLY
    early.process.kill()
    early.process.wait()
    started += [early, launch()]
    assert started[1] is not early and started[1].process.poll() is None


def test_one_that_no_one_takes_ends_with_the_command() -> None:
    launch_early()
    [early] = launching._EARLY
    end_early()
    assert early.process.returncode is not None and early.log.closed
    assert not launching._EARLY


def test_one_whose_command_was_killed_ends_by_itself(started: list[Launched]) -> None:
    launch_early()
    started.append(launching._EARLY.pop())
    started[0].sock.close()
    assert started[0].process.wait(60) == 0


def test_an_early_process_that_cannot_be_started_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
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
    run = detect_levels.subprocess.run

    def counted(*arguments: object, **more: object) -> object:
        trials.append(arguments)
        return run(*arguments, **more)  # type: ignore[call-overload]  # passed on as it comes

    monkeypatch.setattr(detect_levels.subprocess, "run", counted)
    detect_levels.detect_early()
    assert detect_levels.detect_tiers() == detect_levels.detect_tiers()
    assert len(trials) == 1
