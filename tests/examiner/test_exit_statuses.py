"""What the command tells a script: 0 graded, 1 the command or the course is wrong, 2 something of viva went wrong."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support.course_of_texts import write_course

VIVA = Path(sysconfig.get_path("scripts")) / "viva"
TESTS = '''
from viva.grading import agree, weight


@weight(1)
def test_double(student, key):
    """Twice."""
    agree(student.double(2), key.double(2))
'''
BROKEN = TESTS + '\n\n@weight(1)\ndef test_ours(key):\n    """Broken."""\n    key.nothing()\n'
KEY = "def double(n):\n    return 2 * n\n"


@pytest.mark.parametrize(
    ("tests", "solution", "status", "score"),
    [
        pytest.param(TESTS, KEY, 0, 1, id="right"),
        pytest.param(TESTS, "def double(n):\n    return n\n", 0, 0, id="wrong"),
        pytest.param(TESTS, "import os\nos._exit(9)\n", 0, 0, id="ends"),
        pytest.param(TESTS, "", 0, 0, id="empty"),
        pytest.param(BROKEN, KEY, 2, 1, id="ours"),
        pytest.param("import nothing_there\n", KEY, 1, None, id="a course that cannot be collected"),
        pytest.param(TESTS, None, 1, None, id="no such path"),
    ],
)
def test_the_exit_status_says_whose_fault_it_is(
    tmp_path: Path, tests: str, solution: str | None, status: int, score: float | None
) -> None:
    write_course(tmp_path / "course", tests=tests, key=KEY)
    submission, out = tmp_path / "ada" / "solution.py", tmp_path / "out.json"
    if solution is not None:
        submission.parent.mkdir()
        submission.write_text(solution)
    environment = {"PATH": os.environ["PATH"], "VIVA_SECRET": "0" * 32, "LANG": "C.UTF-8"}
    done = subprocess.run(
        [str(VIVA), "grade", "--course", str(tmp_path / "course"), "--tier", "best", "-o", str(out), str(submission)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if score is None:
        assert done.stderr.strip()
    else:
        assert json.loads(out.read_text())["score"] == score
