"""A course with patient limits, the real command as a program on a host where something fails, and what it leaves."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.run_command import Process, Ran, below, program, still_there, without_warning
from tests.support.words_course import ASSIGNMENT, KEEPS_CASE, RIGHT, hand_in, write_course
from viva.formats.results_json import Results, load_results
from viva.sandbox.guest.lockdown import kernel_calls

LIMITS = "limits: {load_s: 3, call_s: 1, test_s: 3, submission_s: 30}"
PATIENT = "limits: {load_s: 60, call_s: 60, test_s: 60, submission_s: 240}"
"""What a fault costs in time does not matter here, and a busy machine must not look like a slow program."""
SOON_S = 10.0
COMMAND_S = 240.0
RIGHT_POINTS, WRONG_POINTS = 9, 3
"""Of `RIGHT` and of `KEEPS_CASE`; a person gives one point more."""
PAUSING = RIGHT.replace("result = 0", "import time; time.sleep(1.5); result = 0")
"""Long enough in its third test that something can happen meanwhile."""


def patient_course(root: Path) -> Path:
    """The course of tests/cli with limits that no load of the machine reaches."""
    write_course(root)
    assert LIMITS in ASSIGNMENT
    (root / "assignments/words/assignment.yaml").write_text(ASSIGNMENT.replace(LIMITS, PATIENT), "utf-8")
    return root


def class_of_two(folder: Path) -> Path:
    """A right and a wrong submission."""
    hand_in(folder / "ada")
    hand_in(folder / "bob", KEEPS_CASE)
    return folder


def grade(
    *arguments: Any,
    env: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
    shell: str = "{}",
    within_s: float = COMMAND_S,
    **options: Any,
) -> Ran:
    """`viva grade` as a program.

    Args:
        env: variables besides those of this process.
        before: a command that runs it, such as `unshare`.
        shell: a line of bash in which `{}` stands for the command.
        within_s: seconds after which it hangs.
    """
    line = shell.format(shlex.join([*before, *program("grade", *arguments)]))
    done = subprocess.run(
        ["bash", "-c", line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=within_s,
        check=False,
        env={**os.environ, **(env or {})},
        **options,
    )
    out, err = (text.decode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
    return Ran(done.returncode, out, without_warning(err))


def start(*arguments: object) -> "subprocess.Popen[str]":
    """`viva grade` under way."""
    return subprocess.Popen(
        program("grade", *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def own_mounts(*lines: str) -> list[str]:
    """What to put before a command so that it runs in a mount namespace of its own, changed by lines of shell."""
    trial = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    if trial.returncode:
        pytest.skip("this host lets nobody mount anything")
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", "\n".join([*lines, 'exec "$@"']), "sh"]


def result(path: Path) -> Results:
    """A result; valid, or this raises."""
    return load_results(path)


def statuses(graded: Results) -> list[str]:
    """The status of each test, in order."""
    return [test.extra_data.status for test in graded.tests]


def correct_or_said(ran: Ran, path: Path) -> None:
    """What a right submission comes to whatever happens: all its points, or tests that are open, or one sentence."""
    assert "Traceback" not in ran.out + ran.err, ran.err
    assert ran.status in (0, 1, 2)
    if ran.status == 1:
        assert ran.sentence()
    graded = result(path) if path.exists() else None
    if graded is not None:
        assert not {"failed", "error", "timeout", "skipped"} & {*statuses(graded)}, ran.out
    if ran.status == 0:
        assert graded is not None and graded.extra_data.complete and graded.score == RIGHT_POINTS
    elif ran.status == 2:
        assert "viva: " in ran.err and (graded is None or "grader_error" in statuses(graded))


def assert_right(ran: Ran, path: Path) -> None:
    """The command succeeds, says nothing on standard error, and the right submission has all its points."""
    assert (ran.status, ran.err, result(path).score) == (0, "", RIGHT_POINTS)


def examiners(parent: int) -> list[int]:
    """The processes below `parent` that are examiners."""
    return [pid for pid, _ in below(parent) if "viva.pipeline.process.main" in _command_line(pid)]


def fork_servers(parent: int) -> list[int]:
    """The keepers of fork servers, and the fork servers themselves: each the first of its kind below the other."""
    examining = examiners(parent)
    above = {pid: _above(pid) for pid, _ in below(parent)}
    keepers = [pid for pid in above if "serve" in _command_line(pid) and above[pid] in examining]
    return [*keepers, *(pid for pid in above if above[pid] in keepers)]


def _command_line(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")
    except OSError:
        return []


def _above(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0


@contextmanager
def nothing_left(scratch: Path) -> Iterator[None]:
    """Every process that is begun in this block ends with it, and what was below `scratch` is gone again."""
    kernel_calls.prctl(
        kernel_calls.PR_SET_CHILD_SUBREAPER, 1
    )  # what loses its parent becomes ours, so that it can be seen
    before = below(os.getpid())
    try:
        yield
        left: set[Process] = still_there(below(os.getpid()) - before, SOON_S)
        names = [_command_line(pid) for pid, _ in left]
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, names
        stayed = sorted(path.name for path in scratch.iterdir())
        assert stayed == [], stayed
    finally:
        kernel_calls.prctl(kernel_calls.PR_SET_CHILD_SUBREAPER, 0)
        for pid, _ in below(os.getpid()) - before:
            os.waitpid(pid, os.WNOHANG)


linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
