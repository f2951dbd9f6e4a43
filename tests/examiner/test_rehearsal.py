"""While there is no box yet, tests draw their questions; whatever else they do then reaches no submission."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from examined import NAME, best_tier, write_course
from waiting import wait_until

from viva.config import Course
from viva.pipeline.process.launch import environment

TESTS: Final = '''
import os
from pathlib import Path
from typing import NamedTuple

import pytest
from viva.grading import agree, once_per_class

HERE = Path(__file__).parent
MADE = []


class Question(NamedTuple):
    number: int


def note(name):
    with (HERE / name).open("a") as file:
        file.write("once\\n")


@once_per_class
def drawn(key, rng):
    note("drawn")
    return Question(key.double(int(rng.integers(100))))


@pytest.fixture(scope="module")
def model(student):
    return student.Model.keep(2)


def test_drawn(student, key, rng):
    """Draws before it asks."""
    question = drawn(key, rng)
    agree(student.double(question.number), key.double(question.number))


def test_model(model):
    """A fixture asks."""
    agree(model.forward(1), 3)


def test_model_again(model):
    """The same fixture."""
    agree(model.forward(2), 4)


def test_once(student):
    """Changes a variable of its module before it asks."""
    MADE.append(1)
    student.double(1)
    assert len(MADE) == 1


def test_ends(student):
    """Does not come to its question in a rehearsal."""
    note("rehearsed")
    if not (HERE / "graded").exists():
        END
    agree(student.double(2), 4)
'''
KEY: Final = "def double(x):\n    return 2 * x\n"
RIGHT: Final = (
    "def double(x):\n    return 2 * x\n\n"
    "class Model:\n    def __init__(self, size):\n        self.size = size\n"
    "    def forward(self, x):\n        return self.size + x\n"
)
EXAMINER: Final = """
import json, sys, time
from pathlib import Path
from viva.config import load_course
from viva.examiner.pytest_session import Serving
from viva.examiner.sinks import Sinks
from viva.model import File, Submission, Tier
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeRequest
from viva.pipeline.process.main import Boxes
from viva.pipeline.process.settings import BoxOptions

root, name, tier, right, awaited = sys.argv[1:]
course = load_course(Path(root))
assignment = course.assignment(name)
boxes = Boxes(assignment, BoxOptions(Tier[tier]))

def source():
    end = time.monotonic() + 60
    while not (assignment.graders / awaited).exists() and time.monotonic() < end:
        time.sleep(0.01)
    return boxes.pool()

def serve(grader):
    (assignment.graders / "graded").touch()
    found = []
    for number in range(2):
        request = GradeRequest(Submission("s", (File("solution.py", right.encode()),), str(number)))
        score, _ = grader.grade(request, Sinks())
        found.append({entry.test_id.partition("::")[2]: str(entry.status) for entry in score.entries})
    (assignment.graders / "found.json").write_text(json.dumps(found))

Serving(course.root, assignment, source, b"secret", serve, Gpus(), None, waits=lambda: True).run()
boxes.close()
"""


def examiner(course: Course, awaited: str) -> list[str]:
    """The command of an examiner that has no box until a file of this name is next to the tests."""
    return [sys.executable, "-c", EXAMINER, str(course.root), NAME, best_tier().name, RIGHT, awaited]


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def is_run_by_a_process(text: str) -> bool:
    """Whether the command line of a process holds a text."""
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and text.encode() in (folder / "cmdline").read_bytes():
                return True
    return False


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="macOS and Windows have no fork server to wait for")


@pytest.mark.parametrize("end", ["os._exit(1)", "while True: pass", "raise KeyError"])
def test_what_tests_draw_is_kept_and_nothing_else(end: str, tmp_path: Path) -> None:
    course = write_course(tmp_path, tests=TESTS.replace("END", end), key=KEY)
    graders = course.assignment(NAME).graders
    command, variables = examiner(course, "rehearsed"), environment()
    ran = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[dict[str, Any]] = json.loads((graders / "found.json").read_text("utf-8"))
    first, second = ({name: status for name, status in each.items() if name != "test_once"} for each in found)
    assert first == second == dict.fromkeys(["test_drawn", "test_model", "test_model_again", "test_ends"], "passed")
    assert found[0]["test_once"] == "passed"  # and the second submission sees what the first one left there
    assert lines(graders / "drawn") == 1
    assert lines(graders / "rehearsed") == 3


def test_it_ends_when_its_examiner_is_killed(tmp_path: Path) -> None:
    course = write_course(tmp_path, tests=TESTS.replace("END", "while True: pass"), key=KEY)
    command = examiner(course, "a file that never comes")
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until((course.assignment(NAME).graders / "rehearsed").exists)
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not is_run_by_a_process(str(tmp_path)))
