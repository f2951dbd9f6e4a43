"""How the examiner is connected: by descriptors, or over the loopback as on Windows."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.words_course import RIGHT, SECRET
from viva.config import load_course
from viva.model import Submission
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.plugins.selfcheck import channels
from viva.plugins.selfcheck.kernel_server import Kernel, LiveExaminer
from viva.plugins.selfcheck.live_notebook import LiveNotebook

SHAPE = Path(__file__).parents[1] / "platforms" / "shape.py"


@pytest.mark.parametrize("by_loopback", [False, True], ids=["descriptors", "loopback"])
def test_kernel_is_asked(live_course: Path, folder: Path, by_loopback: bool) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(RIGHT, namespace)
    course = load_course(live_course)
    examiner = LiveExaminer(course, course.assignment("words"), SECRET.encode(), by_loopback=by_loopback)
    try:
        examiner.open()
        examiner.kernel = Kernel(LiveNotebook(namespace, None, folder, None))
        graded = examiner.grade(
            GradeRequest(Submission("live", (), ""), GradeOptions(only=("1.1", "1.2"), visible_only=True))
        )
    finally:
        examiner.close(kill=True)
    assert graded.finished and graded.score.earned == 6


def test_examiner_ends_before_connecting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(channels, "_MODULE", "no.such.module")
    with tempfile.TemporaryFile() as log, pytest.raises(ConnectionError, match="did not connect"):
        channels.launch({}, tmp_path, log, by_loopback=True)


WITHOUT = """
import sys
import viva.plugins.selfcheck.live_check, viva.plugins.selfcheck.kernel_server, viva.plugins.selfcheck.live_notebook
import viva.plugins.selfcheck.check_report, viva.plugins.selfcheck.report_html
import viva.plugins.selfcheck.live_examiner, viva.examiner.pytest_session
import viva.pipeline.process.request_loop, viva.examiner.fixtures.submission_fixture
assert not [name for name in sys.modules if name.startswith("viva.sandbox.host")]
print("imported")
"""


def test_modules_without_posix(tmp_path: Path) -> None:
    """No module for POSIX alone, no fork, no timer of signals: as on Windows, which shape.py plays elsewhere."""
    program = tmp_path / "live.py"
    program.write_text(WITHOUT, "utf-8")
    shape = [str(SHAPE), "windows"] if os.name == "posix" else []
    command = [sys.executable, *shape, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.stdout, done.returncode) == ("imported\n", 0), done.stderr
