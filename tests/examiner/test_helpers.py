"""The author's helpers: a file or a folder, and what is said of a folder that cannot be used."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, Examined, write_course
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model import Status
from viva.model.errors import CourseError, UsageError

TESTS = "def test_it(student, inside):\n    '''It is four.'''\n    assert inside.apply(student.double, 2) == 4\n"
DOUBLE = "def double(x): return 2 * x"
PACKAGE = {
    "__init__.py": "from .applying import apply\n",
    "applying.py": "from .words import NOTHING\ndef apply(f, x): return f(x)\n",
    "words.py": "NOTHING = None\n",
}


def folder_of(root: Path, files: dict[str, str]) -> Path:
    folder = root / "graders" / NAME / "inside"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_helpers_package(tmp_path: Path) -> None:
    folder_of(tmp_path, PACKAGE)
    with Examined(write_course(tmp_path, tests=TESTS, key="")) as examined:
        [entry] = examined.score(DOUBLE).entries
    assert entry.status.value == "passed", entry.message


def test_broken_helpers_are_grader_fault(tmp_path: Path) -> None:
    tests = "def test_sound(student):\n    student.double(1)\n"
    with Examined(write_course(tmp_path, tests=tests, key="", inside="raise OSError('helpless')")) as examined:
        entry = examined.entry({"solution.py": DOUBLE, "random.py": "raise OSError('mine')"}, "test_sound")
    assert entry.status is Status.GRADER_ERROR and "helpless" in entry.staff_message


def test_helpers_load_before_submission(tmp_path: Path) -> None:
    tests = "def test_view(inside):\n    assert inside.seen() == []\n"
    inside = "import os\nSEEN = os.listdir()\n\ndef seen():\n    return SEEN\n"
    with Examined(write_course(tmp_path, tests=tests, key="", inside=inside)) as examined:
        assert examined.entry(DOUBLE, "test_view").status is Status.PASSED


def test_no_helpers_are_no_fault(tmp_path: Path) -> None:
    assert helpers_of(write_course(tmp_path, tests=TESTS, key="").assignment(NAME)) == {}


@pytest.mark.parametrize(
    ("files", "inside", "said"),
    [({"words.py": "X = 1\n"}, "", "has no __init__.py"), (PACKAGE, "X = 1\n", "is next to")],
    ids=["no __init__.py", "file and folder"],
)
def test_unusable_helpers_folder(tmp_path: Path, files: dict[str, str], inside: str, said: str) -> None:
    folder_of(tmp_path, files)
    course = write_course(tmp_path, tests=TESTS, key="", inside=inside)
    with pytest.raises(CourseError, match=said):
        helpers_of(course.assignment(NAME))
    with pytest.raises(UsageError, match=said), Examined(course).process as process:
        process.open()
