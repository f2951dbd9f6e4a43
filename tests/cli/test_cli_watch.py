"""`viva check --watch`: again on every save, only what changed, ended by Ctrl-C."""

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
from tests.support.words_course import KEEPS_CASE, RIGHT, hand_in

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

Start = Callable[..., "subprocess.Popen[str]"]


class Output:
    """What a program says, as it comes."""

    def __init__(self, stream: IO[str]) -> None:
        self.text = ""
        self._stream = stream
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while piece := os.read(self._stream.fileno(), 65536):
            self.text += piece.decode()

    def until(self, words: str, times: int, within_s: float = 40.0) -> None:
        deadline = time.monotonic() + within_s
        while self.text.count(words) < times:
            assert time.monotonic() < deadline, self.text
            time.sleep(0.05)


@pytest.mark.long
def test_each_save_shows_what_changed_and_ctrl_c_ends(start: Start, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", KEEPS_CASE)
    process = start("check", "mine", "--watch")
    assert process.stdout is not None
    said = Output(process.stdout)
    waiting = "Waiting for the next save; Ctrl-C ends."
    said.until(waiting, 1)
    assert "✗ failed" in said.text and "Numbers are added up." in said.text and "Not included:" in said.text
    first = len(said.text)
    (mine / "solution.py").write_text(RIGHT)
    said.until(waiting, 2)
    second = said.text[first:]
    assert "✓ passed" in second and "The words of a short text are counted." in second
    assert "Numbers are added up." not in second and "7 of 7 points" in second and "\x1b[2J" not in said.text
    os.utime(mine / "solution.py")
    time.sleep(1.5)
    assert said.text.count(waiting) == 2  # only touched
    (mine / "solution.py").write_text(RIGHT + "# a remark\n")
    said.until(waiting, 3)
    assert "No test came out otherwise." in said.text
    everything = below(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stderr is not None and process.stderr.read().strip() == "viva: stopped."
    assert not still_there(everything, 60)
