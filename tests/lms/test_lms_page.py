"""The commands of docs/lms.md, typed into one shell in a course with records, for a Canvas on this machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.canvas_server import CanvasServer, Storage
from tests.support.words_course import KEEPS_CASE, OPEN, RIGHT

PAGE = (Path(__file__).parents[2] / "docs" / "lms.md").read_text("utf-8")
EXAMPLE = re.search(r"^```\n(.*?)^```$", PAGE, re.M | re.S)
STEPS = ["pull", "grade", "report", "push", "push"]


def commands(page: str) -> list[str]:
    """The example without its comments, for the assignment at `page`, on any host."""
    assert EXAMPLE
    lines = [line.partition("  # ")[0].rstrip() for line in EXAMPLE[1].splitlines()]
    lines = [line for line in lines if line and not line.startswith(("pip ", "export "))]
    assert lines.pop(0).startswith("URL=https://")
    assert [line.split()[1] for line in lines] == STEPS
    lines = [re.sub(r"\bA\b", "words", line) for line in lines]
    return [f"URL={page}", *(f"{line} --tier best" if " grade " in line else line for line in lines)]


@pytest.mark.long
def test_class_of_canvas_as_the_page_says(canvas: CanvasServer, storage: Storage, tmp_path: Path) -> None:
    course = tmp_path / "course"
    with (course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    canvas.enrol(101, "Ada Lovelace", "ada")
    canvas.enrol(102, "Bo Li", "bo")
    canvas.enrol(103, "Cy Twombly", "cy")
    canvas.attach(101, "solution.py", RIGHT.encode(), 9001)
    canvas.attach(102, "solution.py", KEEPS_CASE.encode(), 9002)
    lines = commands(canvas.page)
    lines[-1] += " --with-open"  # one question of this course is graded by hand
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    shell = ["bash", "-e", "-c", "\n".join(lines)]
    ran = subprocess.run(shell, cwd=course, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    points = canvas.grades()
    assert points[101] == 10 - OPEN
    assert points[102] is not None and 0 < points[102] < 10 - OPEN
    pages = [name for name in storage.files if name.endswith(".html")]
    assert len(pages) == 2, storage.files
