"""A CI system obeys lines of a log, so nothing that a student wrote may be such a line in what viva prints."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ci_log import runner
from tests.support.course_of_texts import SECRET, handed_in, write_course

TESTS = """
from viva.grading import agree

def test_f(student, key):
    agree(student.f(), key.f())
"""
SAID = "x\\n::add-mask::1\\n  ::error::no\\r::stop-commands::t\\nsee ##[error]bad ##vso[task.complete]done"


@pytest.mark.parametrize("command", [["grade"], ["check"], ["grade", "--as-student"]])
def test_log_holds_no_command_of_a_student(command: list[str], tmp_path: Path) -> None:
    course = write_course(tmp_path / "course", tests=TESTS, key="def f(): return 1\n")
    submission = tmp_path / "work" / "solution.py"
    submission.parent.mkdir()
    submission.write_bytes(handed_in(f"def f():\n    raise ValueError('{SAID}')\n").files[0].data)
    done = subprocess.run(
        [sys.executable, "-m", "viva", *command, str(submission), "--course", str(course.root), "-a", "small"],
        env={"PATH": "/usr/bin:/bin", "VIVA_SECRET": SECRET.hex() * 3, "GITHUB_ACTIONS": "true"},
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    log = (done.stdout + done.stderr).decode()
    assert "add-mask" in log and "task.complete" in log, log
    assert runner(log) == [] and "##vso[" not in log
