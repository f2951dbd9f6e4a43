"""Processes of ours that are killed in the middle: examiner, keeper of the fork server, fork server."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_course import hand_in
from cli_run import without_warning
from faulty import (
    COMMAND_S,
    PAUSING,
    RIGHT_POINTS,
    examiners,
    fork_servers,
    linux_only,
    result,
    start,
    statuses,
    wait_until,
)
from kills import kill

from viva.pipeline.retry import ENDED

pytestmark = [linux_only, pytest.mark.long]
Victim = Callable[[int], int]
VICTIMS: dict[str, Victim] = {
    "examiner": lambda parent: examiners(parent)[0],
    "keeper": lambda parent: fork_servers(parent)[0],
    "fork server": lambda parent: fork_servers(parent)[1],
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_one_that_is_killed_while_it_grades_costs_nothing(victim: str) -> None:
    """The program of the student was told that it had ended while it was asked, and the test was lost."""
    hand_in(Path("pausing"), PAUSING)
    process = start("pausing", "-o", "result.json")
    wait_until(Path("result.json").exists)
    time.sleep(0.3)
    os.kill(VICTIMS[victim](process.pid), signal.SIGKILL)
    out, said = process.communicate(timeout=COMMAND_S)
    graded = result(Path("result.json"))
    assert (process.returncode, graded.score) == (0, RIGHT_POINTS), out
    assert graded.extra_data.complete and "grader_error" not in statuses(graded)
    assert without_warning(said) == f"viva: pausing: {ENDED}; a fresh one graded this from the start\n"


def test_killed_once_more_the_submission_stays_open_and_the_others_are_graded() -> None:
    hand_in(Path("a"), PAUSING)
    process = start("a", "class/ada", "-o", "graded", "--workers", "1")
    path = Path("graded/a/results.json")
    for _ in range(2):
        wait_until(lambda: path.exists() and examiners(process.pid))
        time.sleep(0.3)
        pid = examiners(process.pid)[0]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda pid=pid: pid not in examiners(process.pid))
    out, said = process.communicate(timeout=COMMAND_S)
    assert process.returncode == 2 and "Traceback" not in out + said
    assert "still open because something went wrong on the grader's side" in said
    open_one = result(path)
    assert open_one.extra_data.complete and "grader_error" in statuses(open_one)
    assert {"failed", "error", "timeout"}.isdisjoint(statuses(open_one)) and "it will be run again" in open_one.output
    assert result(Path("graded/class/ada/results.json")).score == RIGHT_POINTS


def test_an_examiner_that_is_killed_at_any_moment() -> None:
    """Three here; `make kills` kills a hundred."""
    assert kill(3, seed=1) >= 3
