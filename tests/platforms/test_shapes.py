"""viva where much of what it uses on Linux is missing: the commands of students, and the engine's own tests.

docs/platforms.md says what this shows and what it does not.
"""

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import below, still_there, without_warning
from tests.support.words_course import RIGHT, SECRET, hand_in, hand_in_notebook, write_course

SHAPE = Path(__file__).with_name("shape.py")
SHAPES = ["macos", "windows"]
HANGS_IN_C = RIGHT.replace("    counts = {}\n", "    import time; time.sleep(60)\n", 1)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"))


def command(shape: str, *arguments: object) -> list[str]:
    return [sys.executable, str(SHAPE), shape, "-m", "viva", *map(str, arguments)]


def viva(shape: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """A command in a shape."""
    environment = {**os.environ, "VIVA_SECRET": SECRET}
    return subprocess.run(
        command(shape, *arguments), capture_output=True, text=True, timeout=120, check=False, env=environment
    )


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_check_right_module(shape: str, course: Path, tmp_path: Path) -> None:
    """It has all its points; the result says what was missing, also which of its files Windows cannot store."""
    mine = hand_in(tmp_path / "mine")
    (mine / "aux.py").write_text("x = 1")
    ran = viva(shape, "check", mine, "--course", course, "-o", tmp_path / "results.json")
    assert (ran.returncode, without_warning(ran.stderr)) == (0, "") and "7 of 7 points, 1 more pending" in ran.stdout
    assert ("aux is the name of a device" in " ".join(ran.stdout.split())) is (shape == "windows")
    missing = (tmp_path / "results.json").read_text("utf-8")
    assert "seccomp" in missing and "a limit on memory" in missing
    assert ("limits on processor time" in missing) is (shape == "windows")


MISTAKES = {
    "a wrong name in a notebook": ("result += nmber", "5 of 7 points", "cell 2, line 4, in total result += nmber"),
    "a loop": ("while True: pass", "3 of 7 points", "time"),
    "a loop in C": ("import time; time.sleep(60)", "3 of 7 points", "time"),
}
"""What stands in place of a right statement, the points, and words of the report."""


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("what", MISTAKES)
def test_check_mistakes(shape: str, what: str, course: Path, tmp_path: Path) -> None:
    statement, points, words = MISTAKES[what]
    if "notebook" in what:
        cells = RIGHT.replace("result += number", statement).split("\n\n\n")
        mine = hand_in_notebook(tmp_path / "mine", *cells)
    else:
        mine = hand_in(tmp_path / "mine", RIGHT.replace("    counts = {}\n", f"    {statement}\n", 1))
    ran = viva(shape, "check", mine, "--course", course)
    said = " ".join(ran.stdout.split())
    assert ran.returncode == 0 and points in said and words in said, ran.stdout + ran.stderr


@pytest.mark.long
def test_archive_is_the_same_everywhere(course: Path, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", more="x = 1")
    (mine / ".git").mkdir()
    (mine / ".git/config").write_text("not the work")
    packed = [tmp_path / f"{shape}.zip" for shape in SHAPES]
    for shape, archive in zip(SHAPES, packed, strict=True):
        ran = viva(shape, "pack", mine, "--course", course, "-o", archive)
        assert ran.returncode == 0, ran.stderr
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert zipfile.ZipFile(packed[0]).namelist() == ["more.py", "solution.py"]


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_t0_alone_is_offered(shape: str, course: Path, tmp_path: Path) -> None:
    said = viva(shape, "doctor")
    assert said.returncode == 0, said.stderr
    assert "The best isolation level here is T0" in said.stdout and said.stdout.count("✗ no") == 3
    mine = hand_in(tmp_path / "mine")
    ran = viva(shape, "grade", mine, "--course", course, "--tier", "T1", "-o", tmp_path / "out")
    assert ran.returncode == 1 and "does not offer isolation T1; it offers T0" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES)
def test_killed_command_leaves_nothing(shape: str, course: Path, tmp_path: Path) -> None:
    mine = hand_in(tmp_path / "mine", HANGS_IN_C)
    process = subprocess.Popen(command(shape, "check", mine, "--course", course), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while len(family := below(process.pid)) < 3:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not still_there(family, 10)
