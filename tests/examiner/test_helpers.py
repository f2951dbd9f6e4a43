"""The author's helpers: a file or a folder, and what is said of a folder that cannot be used."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, Examined, write_course
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model.errors import CourseError, UsageError

TESTS = "def test_it(student, inside):\n    '''It is four.'''\n    assert inside.apply(student.double, 2) == 4\n"
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


def test_tests_ask_a_package_as_they_ask_a_file(tmp_path: Path) -> None:
    folder_of(tmp_path, PACKAGE)
    examined = Examined(write_course(tmp_path, tests=TESTS, key=""))
    with examined.process:
        [entry] = examined.graded("def double(x): return 2 * x").score.entries
    assert entry.status.value == "passed", entry.message


def test_no_helpers_are_no_fault(tmp_path: Path) -> None:
    assert helpers_of(write_course(tmp_path, tests=TESTS, key="").assignment(NAME)) == {}


@pytest.mark.parametrize(
    ("files", "inside", "said"),
    [({"words.py": "X = 1\n"}, "", "has no __init__.py"), (PACKAGE, "X = 1\n", "is next to")],
    ids=["no __init__.py", "file and folder"],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(
    tmp_path: Path, files: dict[str, str], inside: str, said: str
) -> None:
    folder_of(tmp_path, files)
    course = write_course(tmp_path, tests=TESTS, key="", inside=inside)
    with pytest.raises(CourseError, match=said):
        helpers_of(course.assignment(NAME))
    with pytest.raises(UsageError, match=said), Examined(course).process as process:
        process.open()
