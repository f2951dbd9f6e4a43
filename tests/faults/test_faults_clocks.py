"""Clocks that are set while a class is graded: no verdict and no deadline looks at the time of day."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.faulty_host import COMMAND_S, RIGHT_POINTS, WRONG_POINTS, linux_only, patient_course, result
from tests.support.run_command import best_tier
from tests.support.words_course import RIGHT, hand_in
from viva.sandbox import folder_locks
from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.host import leftovers

pytestmark = pytest.mark.long

SOURCE = Path(leftovers.__file__).parents[2]
WALL_CLOCKS = {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime", "now", "utcnow", "today"}
ALLOWED = {
    "sandbox/folder_locks.py",  # a folder's age is on the wall clock; a lock holds what is in use
    "formats/atomic_write.py",  # a file's age again
    "plugins/records/database.py",  # and whether an empty file is just being made
    "plugins/selfcheck/commands/check.py",  # `--watch` shows people when it checked
    "plugins/ci/export.py",  # Classroom 50 wants to know when
    "plugins/cohorts/commands/class_grades.py",  # whether a deadline has passed for somebody who has not submitted yet
    "plugins/cohorts/lms/connection.py",  # a platform may name when it answers again; the wait is bounded
    "plugins/records/claims.py",  # when a grader's claim ends; a claim of the future has ended
    "plugins/records/tables.py",  # when a score was kept; which is the latest is told by its number
    "plugins/review/web/access.py",  # a session ends after hours; no mark depends on it
    "plugins/review/web/guard.py",  # and is extended while it is used
    "plugins/review/web/session_store.py",  # as does the key of the pages
}
ENDLESS = RIGHT.replace("result = 0", "while True: pass")
RIGHT_WHERE_IT_LEAPS = RIGHT.replace(
    "result = 0", "import time; seen = [time.time() for _ in range(50)]; result = int(seen == sorted(seen))"
)


def test_readers_of_the_wall_clock() -> None:
    reads = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(map(_reads_wall_clock, ast.walk(ast.parse(path.read_bytes()))))
    }
    assert reads == ALLOWED


def _reads_wall_clock(node: ast.AST) -> bool:
    """`time.time`, `datetime.datetime.now` and their like, or `from time import time`."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "time" and not WALL_CLOCKS.isdisjoint(name.name for name in node.names)
    if not isinstance(node, ast.Attribute) or node.attr not in WALL_CLOCKS:
        return False
    module = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    return module in ("time", "datetime", "date")


@linux_only
def test_leaping_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the command, in the examiner, in the fork server and in the boxes."""
    course = patient_course(tmp_path / "own")
    settings = course / "assignments/words/assignment.yaml"
    less = settings.read_text("utf-8").replace("call_s: 60", "call_s: 8")
    assert "call_s: 8" in less
    settings.write_text(less, "utf-8")
    hand_in(Path("class/cyd"), ENDLESS)
    hand_in(Path("class/dan"), RIGHT_WHERE_IT_LEAPS)
    monkeypatch.setenv("VIVA_COURSE", str(course))
    command = [sys.executable, str(Path(__file__).with_name("leaping_clock.py")), "viva", "grade", "class"]
    done = subprocess.run(
        [*command, "-o", "graded", *best_tier("grade", [])],
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_S,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    graded = {name: result(Path("graded/class", name, "results.json")) for name in ("ada", "bob", "cyd", "dan")}
    assert [each.score for each in graded.values()] == [RIGHT_POINTS, WRONG_POINTS, RIGHT_POINTS - 2, RIGHT_POINTS]
    (late,) = [test for test in graded["cyd"].tests if test.extra_data.status == "timeout"]
    assert "within 8 s" in late.output or "did not finish in time" in late.output
    for each in graded.values():
        assert 0 <= each.execution_time < COMMAND_S


@pytest.mark.parametrize("leap_s", [-1e9, 1e9])
def test_folders_in_use_under_a_leap(scratch: Path, monkeypatch: pytest.MonkeyPatch, leap_s: float) -> None:
    folder = scratch / f"{FOLDER_PREFIX}1-in-use"
    folder.mkdir()
    claim = folder_locks.lock_folder(str(folder))
    now = time.time
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr(time, "time", lambda: now() + leap_s)
    leftovers.sweep_files()
    assert folder.is_dir()
    os.close(claim)
    leftovers.sweep_files()
    assert folder.is_dir() is (leap_s < 0)  # at worst it stays until the clock is right again
    monkeypatch.undo()
    if folder.exists():
        folder.rmdir()
