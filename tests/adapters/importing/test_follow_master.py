"""A course follows the notebook of otter or nbgrader that its author goes on editing."""

import json
import os
from pathlib import Path

import pytest
import yaml

from bench.small_course import notebook
from tests.support.nbgrader_class import put, source
from tests.support.otter_master_notebook import block, code, master, question, raw
from viva.config import Course, load_course
from viva.model.errors import CourseError, UsageError
from viva.plugins.suites.importing.follow_master import follow_masters, update_settings
from viva.plugins.suites.importing.new_course import write_course
from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader
from viva.plugins.suites.otter.otter_import import import_otter


def otter_notebook(shown: str, settings: str = "") -> bytes:
    answer = block("SOLUTION", code("def f():\n    return 1 # SOLUTION"))
    return master(
        [raw(f"# ASSIGNMENT CONFIG\n{settings}"), *question("q", "", [*answer, *block("TESTS", code("f()", shown))])]
    )


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course made from an otter notebook next to it."""
    put(tmp_path / "work/hw.ipynb", otter_notebook("1").decode())
    write_course(tmp_path / "course", "old", import_otter(tmp_path / "work/hw.ipynb"))
    return load_course(tmp_path / "course")


def test_unchanged_notebook(course: Course, tmp_path: Path) -> None:
    written = yaml.safe_load((course.root / "assignments/hw/assignment.yaml").read_text("utf-8"))
    assert written["master"] == os.path.relpath(tmp_path / "work/hw.ipynb", course.root / "assignments/hw")
    assert not follow_masters(course)
    (tmp_path / "work/hw.ipynb").unlink()
    assert not follow_masters(course), "the course goes on with what was made"


def test_changed_notebook(course: Course, tmp_path: Path) -> None:
    put(tmp_path / "work/words.txt", "a")
    put(tmp_path / "work/hw.ipynb", otter_notebook("7", "files: [words.txt]\n").decode())
    settings = course.root / "assignments/hw/assignment.yaml"
    settings.write_text(f"# mine\n{settings.read_text('utf-8')}limits: {{call_s: 7}}\n", "utf-8")
    assert follow_masters(load_course(course.root))
    assert ">>> f()\\n7" in (course.root / "graders/hw/tests/q.py").read_text("utf-8")
    assert (course.root / "graders/hw/words.txt").read_text() == "a"
    again = load_course(course.root).assignment("hw")
    assert again.data_names == ("words.txt",) and again.limits.call_s == 7
    assert settings.read_text("utf-8").startswith("# mine\n")
    assert not follow_masters(load_course(course.root))


def test_changes_in_the_course_stay(course: Course, tmp_path: Path) -> None:
    tests, starter = course.root / "graders/hw/tests/q.py", course.root / "assignments/hw/starter/hw.ipynb"
    tests.write_text("# mine\n" + tests.read_text("utf-8"), "utf-8")
    before = starter.read_bytes()
    put(tmp_path / "work/hw.ipynb", otter_notebook("7", "init_cell: false\n").decode())
    assert follow_masters(course)
    assert tests.read_text("utf-8").startswith("# mine\n") and starter.read_bytes() != before


def test_removed_question(course: Course, tmp_path: Path) -> None:
    other = master(question("r", "", [*block("TESTS", code("1", "1"))]))
    put(tmp_path / "work/hw.ipynb", other.decode())
    assert follow_masters(course)
    assert [path.name for path in (course.root / "graders/hw/tests").iterdir()] == ["r.py"]


def test_invalid_notebook(course: Course, tmp_path: Path) -> None:
    before = (course.root / "graders/hw/tests/q.py").read_bytes()
    put(tmp_path / "work/hw.ipynb", master(question("q", "", block("TESTS", code("1 +")))).decode())
    with pytest.raises(UsageError, match="is not valid Python"):
        follow_masters(course)
    assert (course.root / "graders/hw/tests/q.py").read_bytes() == before


def test_nbgrader_folder(tmp_path: Path) -> None:
    put(tmp_path / "nb/source/ps1/a.ipynb", notebook(source()))
    write_course(tmp_path / "course", "old", import_nbgrader(tmp_path / "nb"))
    course = load_course(tmp_path / "course")
    points = course.assignment("ps1").points
    changed = json.loads(notebook(source()))
    for cell in changed["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "test_total":
            cell["metadata"]["nbgrader"]["points"] += 2
    put(tmp_path / "nb/source/ps1/a.ipynb", json.dumps(changed))
    assert follow_masters(course)
    assert points is not None and load_course(course.root).assignment("ps1").points == points + 2


def test_with_settings() -> None:
    text = "title: x  # mine\npoints: 3\ndata:\n- a.txt\n- b.txt\nlimits: {call_s: 7}\n"
    assert update_settings(text, {"points": 4, "data": ["c.txt"], "preload": ["numpy?"]}) == (
        "title: x  # mine\npoints: 4\ndata:\n- c.txt\nlimits: {call_s: 7}\npreload:\n- numpy?\n"
    )
    assert update_settings(text, {"points": 3}) == "title: x  # mine\npoints: 3\nlimits: {call_s: 7}\n"


def test_master_of_another_suite(course: Course) -> None:
    settings = course.root / "assignments/hw/assignment.yaml"
    settings.write_text(settings.read_text("utf-8").replace("suite: otter", "suite: unittest"), "utf-8")
    with pytest.raises(CourseError, match="master"):
        load_course(course.root).assignment("hw")
