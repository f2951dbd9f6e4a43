"""Processes of viva that are killed in the middle: examiner, keeper of the fork server, fork server."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.faults.kills import kill
from tests.support.faulty_host import (
    COMMAND_S,
    PAUSING,
    RIGHT_POINTS,
    examiners,
    fork_servers,
    linux_only,
    patient_course,
    result,
    start,
    statuses,
)
from tests.support.run_command import below, without_warning
from tests.support.wait_until import wait_until
from tests.support.words_course import hand_in
from viva.config import load_course
from viva.model import Tier
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.messages import send
from viva.pipeline.process.settings import BoxOptions
from viva.pipeline.retry import ENDED

pytestmark = [linux_only, pytest.mark.long]
Victim = Callable[[int], int]
VICTIMS: dict[str, Victim] = {
    "examiner": lambda parent: examiners(parent)[0],
    "keeper": lambda parent: fork_servers(parent)[0],
    "fork server": lambda parent: fork_servers(parent)[1],
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_process_killed_while_it_grades(victim: str) -> None:
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


def is_no_examiner(pid: int, parent: int) -> bool:
    return pid not in examiners(parent)


def test_examiner_killed_twice() -> None:
    hand_in(Path("a"), PAUSING)
    process = start("a", "class/ada", "-o", "graded", "--workers", "1")
    path = Path("graded/a/results.json")
    for _ in range(2):
        wait_until(lambda: path.exists() and examiners(process.pid))
        time.sleep(0.3)
        pid = examiners(process.pid)[0]
        os.kill(pid, signal.SIGKILL)
        wait_until(partial(is_no_examiner, pid, process.pid))
    out, said = process.communicate(timeout=COMMAND_S)
    assert process.returncode == 2 and "Traceback" not in out + said
    assert "not graded yet because something went wrong on the grader's side" in said
    open_one = result(path)
    assert open_one.extra_data.complete and "grader_error" in statuses(open_one)
    assert {"failed", "error", "timeout"}.isdisjoint(statuses(open_one)) and "it will be run again" in open_one.output
    assert result(Path("graded/class/ada/results.json")).score == RIGHT_POINTS


def test_examiner_killed_at_any_moment() -> None:
    """Three here; `make kills` kills a hundred."""
    assert kill(3, seed=1) >= 3


def test_all_processes_stopped_for_a_while(course: Path) -> None:
    """As a machine does that is suspended, or a job that gives way: time asleep counts a quarter, and no point."""
    hand_in(Path("pausing"), PAUSING)
    process = start("pausing", "-o", "result.json")
    wait_until(Path("result.json").exists)
    time.sleep(0.3)
    everything = [pid for pid, _ in below(process.pid)]
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in everything:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        time.sleep(6 if number == signal.SIGSTOP else 0)
    _, said = process.communicate(timeout=COMMAND_S)
    graded = result(Path("result.json"))
    assert (process.returncode, graded.score, without_warning(said)) == (0, RIGHT_POINTS, "")


def test_command_stopped_for_hours(tmp_path: Path) -> None:
    """As with Ctrl-Z in the evening and `fg` in the morning: the examiner was ready long ago."""
    course = load_course(patient_course(tmp_path / "course"))
    process = ExaminerProcess(course, course.assignment("words"), b"0" * 20, BoxOptions(Tier.T0))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process._sock, process._left_s = ours, lambda: -3600.0
        send(theirs, {"event": "progress", "text": "done"})
        assert process._next() == {"event": "progress", "text": "done"}
        with pytest.raises(TimeoutError):
            process._next()
        process._sock = None
