"""Ctrl-C, a scheduler's SIGTERM, and processes that are killed: soon over, nothing left, what is written is valid."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from tests.support.run_command import below, still_there
from tests.support.wait_until import wait_until
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in
from viva.formats.results_json import Results, load_results

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
    pytest.mark.long,
]

Start = Callable[..., "subprocess.Popen[str]"]
SOON_S = 10.0
"""Less than the time of one more submission that sleeps: it has twice four seconds and more until it is ended."""
SLEEPS = RIGHT.replace("result = 0", "import time; time.sleep(60); result = 0")


@pytest.fixture
def slow_class(tmp_path: Path) -> Path:
    """Eight submissions; each sleeps in its third test."""
    for index in range(8):
        hand_in(tmp_path / "class" / f"s{index}", SLEEPS)
    return tmp_path / "class"


def results() -> list[Results]:
    """Every result that is there; each is valid at any moment, or this raises."""
    return [load_results(path) for path in sorted(Path("graded").rglob("results.json"))]


def examiners(process: "subprocess.Popen[str]") -> list[int]:
    return [
        pid
        for pid, _ in below(process.pid)
        if b"viva.pipeline.process.main" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    ]


def interrupt(process: "subprocess.Popen[str]", number: int = signal.SIGINT, *, group: bool = True) -> str:
    """Send the signal; see that all its processes end soon; return what it said last."""
    everything = below(process.pid)
    (os.killpg if group else os.kill)(process.pid, number)
    _, said = process.communicate(timeout=SOON_S)
    assert not still_there(everything, SOON_S)
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(
    ("number", "group", "status"),
    [(signal.SIGINT, True, 130), (signal.SIGINT, False, 130), (signal.SIGTERM, False, 143), (signal.SIGHUP, True, 129)],
)
def test_signal_in_the_middle_of_a_class(
    start: Start, slow_class: Path, number: signal.Signals, group: bool, status: int
) -> None:
    process = start("grade", slow_class, "-o", "graded")
    wait_until(lambda: any(t.score for r in results() for t in r.tests))
    said = interrupt(process, number, group=group)
    assert process.returncode == status
    assert "of 8 submissions were graded; what is written so far is valid." in said and "viva: stopped." in said
    assert not list(Path("graded").rglob("*.part"))
    written = results()
    assert any(not r.extra_data.complete for r in written)
    for result in written:
        assert len(result.tests) == 5
        assert result.extra_data.complete or "Grading is not finished" in result.output


@pytest.mark.parametrize("after_s", [0.15, 0.4, 0.7])
def test_ctrl_c_before_anything_is_graded(start: Start, slow_class: Path, after_s: float) -> None:
    """Stopped while the examiners started, a class went on with the next submission."""
    process = start("grade", slow_class, "-o", "graded")
    time.sleep(after_s)
    said = interrupt(process)
    if process.returncode == 130:  # else Python itself was still starting
        assert "viva: stopped." in said
    results()


def test_killed_without_warning(start: Start, slow_class: Path) -> None:
    """Nothing can be tidied up after SIGKILL: the result says that it is not finished, and every process ends."""
    process = start("grade", slow_class, "-o", "graded", "--workers", "2")
    wait_until(lambda: len(results()) >= 2)
    everything = below(process.pid)
    process.kill()
    process.communicate()
    written = results()
    assert len(written) == 2
    for result in written:
        assert not result.extra_data.complete and len(result.tests) == 5
        assert result.extra_data.still_open != "0" and "Grading is not finished" in result.output
        assert all(t.score is not None or t.output for t in result.tests)
    assert not still_there(everything, SOON_S + 2)  # the examiner gives its own work two seconds


def test_ctrl_c_while_a_student_checks(start: Start, tmp_path: Path) -> None:
    hand_in(tmp_path / "mine", SLEEPS)
    process = start("check", "mine")
    wait_until(lambda: examiners(process))
    assert interrupt(process).strip() == "viva: stopped."
    assert process.returncode == 130


class Output:
    """What a program says, as it comes."""

    def __init__(self, stream: IO[str]) -> None:
        self.text = ""
        self._stream = stream
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while piece := os.read(self._stream.fileno(), 65536):
            self.text += piece.decode()


def test_check_on_every_save_until_ctrl_c(start: Start, tmp_path: Path) -> None:
    """Only what has changed is shown again."""
    mine = hand_in(tmp_path / "mine", KEEPS_CASE)
    process = start("check", "mine", "--watch")
    assert process.stdout is not None
    said = Output(process.stdout)
    waiting = "Waiting for the next save; Ctrl-C ends."
    wait_until(lambda: waiting in said.text)
    assert "✗ failed" in said.text and "Numbers are added up." in said.text and "Not included:" in said.text
    first = len(said.text)
    (mine / "solution.py").write_text(RIGHT)
    wait_until(lambda: said.text.count(waiting) == 2)
    second = said.text[first:]
    assert "✓ passed" in second and "The words of a short text are counted." in second
    assert "Numbers are added up." not in second and "7 of 7 points" in second and "\x1b[2J" not in said.text
    os.utime(mine / "solution.py")
    time.sleep(1.5)
    assert said.text.count(waiting) == 2  # only touched
    (mine / "solution.py").write_text(RIGHT + "# a remark\n")
    wait_until(lambda: said.text.count(waiting) == 3)
    assert "No test came out otherwise." in said.text
    everything = below(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stderr is not None and process.stderr.read().strip() == "viva: stopped."
    assert not still_there(everything, 60)
