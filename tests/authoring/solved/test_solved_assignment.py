"""What is made from a solved notebook follows its changes, is hidden from programs, and can become the author's own."""

from pathlib import Path

import pytest

from tests.support.solved_course import cells_of
from viva.config import Course, load_course
from viva.model.errors import UsageError
from viva.plugins.authoring.empty_course import make_course
from viva.plugins.authoring.new_assignment import adding
from viva.plugins.authoring.solved.solved_assignment import make_large, refresh
from viva.plugins.authoring.source.starter import notebook_of
from viva.plugins.release.gradescope.packed_course import packed_course
from viva.submissions import open_submission
from viva.submissions.notebook_cells import read_notebook

TESTS = '''\
from viva.grading import agree, number, weight


@number("1.1")
@weight(2)
def test_accuracy(student, key):
    """The share of predictions that are right."""
    agree(student.accuracy([1, 0], [1, 1]), key.accuracy([1, 0], [1, 1]))
'''
SETTINGS = 'title: Marked\nsubmission: {notebook: "*.ipynb", module: null}\npoints: 2\npreload: [numpy]\n'


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course with one assignment that was made from a notebook with markers."""
    root = tmp_path / "course"
    make_course(root)
    with adding(load_course(root), "marked") as listed:
        folder = root / "assignments" / "marked"
        folder.mkdir()
        (folder / "source.ipynb").write_bytes(notebook_of(cells_of("marked")))
        (folder / "tests.py").write_text(TESTS)
        (folder / "assignment.yaml").write_text(SETTINGS)
        listed()
    refresh(load_course(root))
    return load_course(root)


def code_of(path: Path) -> str:
    return "\n".join(cell.source for cell in read_notebook(path.read_bytes()).code)


def test_refresh_writes_key_tests_and_starter(course: Course) -> None:
    key = (course.root / "graders/marked/key.py").read_text("utf-8")
    assert "def accuracy" in key and "n_parameters = 4 * 3 + 3" in key and "accuracy([1, 0, 1]" not in key
    assert (course.root / "graders/marked/test_marked.py").read_text("utf-8") == TESTS
    starter = code_of(course.root / "assignments/marked/starter/marked.ipynb")
    assert "n_parameters = ..." in starter and "raise ValueError" not in starter and "def helper(x)" in starter
    solved = open_submission(course.root / "fixtures/marked/submissions/accepted/source", "source")
    assert b"SOLUTION" not in solved.files[0].data and b"raise ValueError" in solved.files[0].data


def test_changed_source(course: Course) -> None:
    graders, source = course.root / "graders/marked", course.root / "assignments/marked/source.ipynb"
    (graders / "key.py").write_text("changed by hand")
    refresh(course)
    assert (graders / "key.py").read_text() == "changed by hand"
    source.write_bytes(source.read_bytes().replace(b"LEARNING_RATE = 0.5", b"LEARNING_RATE = 0.25"))
    refresh(load_course(course.root))
    assert "LEARNING_RATE = 0.25" in (graders / "key.py").read_text("utf-8")


def test_solution_is_withheld(course: Course) -> None:
    assignment = course.assignment("marked")
    assert assignment.hidden == [course.root / "graders", assignment.folder]
    withheld = course.withheld()
    for name in ("source.ipynb", "tests.py"):
        status = (assignment.folder / name).stat()
        assert (status.st_dev, status.st_ino) in withheld
    packed = packed_course(course, assignment)
    assert {"assignments/marked/source.ipynb", "assignments/marked/tests.py"}.isdisjoint(packed)
    assert "graders/marked/key.py" in packed


def test_make_large(course: Course) -> None:
    make_large(course, "marked")
    folder = course.root / "assignments/marked"
    assert sorted(path.name for path in folder.iterdir()) == ["assignment.yaml", "starter"]
    key = course.root / "graders/marked/key.py"
    assert key.read_text("utf-8").startswith('"""The model answers, in the API that students use."""')
    key.write_text(key.read_text("utf-8") + "\nextra = 1\n")
    refresh(load_course(course.root))
    assert "extra = 1" in key.read_text("utf-8")
    with pytest.raises(UsageError, match="nothing to do"):
        make_large(course, "marked")
