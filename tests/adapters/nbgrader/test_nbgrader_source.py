"""What an nbgrader notebook says of its cells, and what is refused."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bench.small_course import notebook
from tests.support.imported_course import ImportedCourse
from tests.support.nbgrader_class import cell, put, source
from viva.model import Status
from viva.model.errors import CourseError
from viva.plugins.suites.nbgrader.nbgrader_grading import compose_steps
from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader
from viva.plugins.suites.nbgrader.nbgrader_source import (
    SourceError,
    SourceNotebook,
    read_source,
    replace_regions,
)
from viva.submissions.notebook_cells import read_notebook


def read(folder: Path, cells: list[dict[str, Any]]) -> SourceNotebook:
    (folder / "a.ipynb").write_text(notebook(cells), "utf-8")
    return read_source(folder)[0]


def test_metadata_tells_tests_and_manual_cells(tmp_path: Path) -> None:
    cells = read(tmp_path, source()).cells
    assert [c.grade_id for c in cells.values() if c.is_test] == [
        "test_total",
        "test_halves",
        "test_quiet",
        "test_words",
    ]
    assert [c.grade_id for c in cells.values() if c.is_graded_by_hand] == ["essay", "task"]
    assert [c.grade_id for c in cells.values() if c.locked] == [
        *("setup", "test_total", "test_halves", "test_quiet", "test_words", "task"),
    ]
    assert cells["test_total"].points == 3 and cells["task"].mark_scheme == "One point for each axis."
    assert [c.shows_tests for c in cells.values() if c.grade_id in ("test_total", "test_words")] == [True, False]


def graded_cell(text: str = "pass", **about: Any) -> dict[str, Any]:
    return cell("code", text, "t", **{"grade": True, "locked": True, "points": 1, **about})


def essay(grade_id: str, points: float = 2) -> dict[str, Any]:
    return cell("markdown", "YOUR ANSWER HERE", grade_id, grade=True, solution=True, points=points)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([cell("code", "1")], "no cell of any notebook is worth points"),
        ([graded_cell(), graded_cell()], "cell 2 of all cells has the id `t` of a cell above"),
        ([graded_cell(points=-1)], "cell 1 of all cells is worth -1 points"),
        ([graded_cell(points="many")], "cell 1 of all cells is worth 'many' points"),
        ([graded_cell(points=True)], "cell 1 of all cells is worth True points"),
        ([graded_cell(points=float("nan"))], "cell 1 of all cells is worth nan points"),
        ([graded_cell(schema_version=9)], "metadata of version 9"),
        ([graded_cell("### AUTOTEST total([1])")], "AUTOTEST"),
        ([graded_cell("### BEGIN HIDDEN TESTS\nx")], "`BEGIN HIDDEN TESTS` has no `END HIDDEN TESTS`"),
        ([graded_cell("# BEGIN HIDDEN TESTS\n# BEGIN HIDDEN TESTS")], "inside another such region"),
        ([cell("code", "### BEGIN SOLUTION\n### END SOLUTION")], "none of its metadata"),
        ([{**graded_cell(), "metadata": {"nbgrader": {"schema_version": 3, "grade": True}}}], "without a grade_id"),
        ([essay("1/a"), essay("1 a")], "differs from another one in signs only"),
    ],
)
def test_invalid_cells(tmp_path: Path, cells: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(CourseError) as raised:
        read(tmp_path, cells)
    assert words in str(raised.value) and str(raised.value).startswith(str(tmp_path))


@pytest.mark.parametrize("text", ["", "{}", "[", '{"cells": 3}', '{"cells": [{"metadata": {"nbgrader": []}}]}'])
def test_invalid_notebook(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.ipynb").write_text(text)
    with pytest.raises(CourseError):
        read_source(tmp_path)


def test_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(notebook(source()))
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.ipynb").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CourseError, match="holds no notebook"):
        read_source(tmp_path / "source")


def test_replace_regions() -> None:
    text = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n# behind"
    assert replace_regions(text, "SOLUTION", "a\nb") == "def f():\n    a\n    b\n# behind"
    assert replace_regions(text, "SOLUTION") == "def f():\n# behind"
    assert replace_regions("no region", "SOLUTION", "x") == "no region"
    with pytest.raises(SourceError):
        replace_regions("BEGIN SOLUTION", "SOLUTION")


def test_compose_restores_the_authors_tests(tmp_path: Path) -> None:
    author = read(tmp_path, source())
    submitted = read_notebook(
        notebook(
            [
                cell("code", "first = 1"),
                cell("markdown", "was a test", "test_total", grade=True),
                cell("code", "assert True", "test_halves", grade=True),
                cell("code", "assert True", "unknown", grade=True),
                cell("code", "", "test_quiet"),
                cell("code", "mine", "total", solution=True),
            ]
        ).encode()
    )
    steps = compose_steps(submitted, author, hidden=True)
    assert [step.key for step in steps] == ["", "test_total", "test_halves", "", "test_quiet", ""]
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6]
    assert "BEGIN HIDDEN TESTS" in steps[1].source and steps[5].source == "mine"
    assert "HIDDEN" not in compose_steps(submitted, author, hidden=False)[1].source


@pytest.mark.parametrize("metadata", [{"nbgrader": 3}, {"nbgrader": {"grade_id": ["x"]}}, {"nbgrader": None}, 7, None])
def test_any_metadata(tmp_path: Path, metadata: Any) -> None:
    author = read(tmp_path, source())
    submitted = read_notebook(notebook([{**cell("code", "1"), "metadata": metadata}]).encode())
    assert [step.key for step in compose_steps(submitted, author, hidden=True)] == [""]


def test_cell_without_an_id(tmp_path: Path) -> None:
    plain = {**cell("code", "1"), "metadata": {"nbgrader": {"grade": False, "solution": False, "locked": False}}}
    assert list(read(tmp_path, [plain, graded_cell()]).cells) == ["t"]


@pytest.mark.parametrize("version", [None, 0, 1, 2])
def test_old_metadata(tmp_path: Path, version: int | None) -> None:
    old = graded_cell(points="1.5", schema_version=version)
    if version is None:
        del old["metadata"]["nbgrader"]["schema_version"]
    assert read(tmp_path, [old]).cells["t"].points == Fraction(3, 2)


def test_id_that_is_no_file_name(tmp_path: Path) -> None:
    put(tmp_path / "hw/a.ipynb", notebook([essay("part 1/why?"), essay("free", points=0), graded_cell()]))
    course = ImportedCourse(tmp_path / "course", import_nbgrader(tmp_path / "hw"))
    assert [question.number for question in course.assignment.rubric().questions] == ["part_1_why_", "free"]
    halves = [essay("part 1/why?") | {"source": text} for text in ("Because.", "And so.")]
    with course.process:
        score = course.score({"a.ipynb": notebook([*halves, essay("free", points=0), graded_cell()])})
    assert [each.written for each in score.entries if each.written] == ["Because.\n\nAnd so."]
    statuses = {each.number: each.status for each in score.entries}
    assert statuses["part 1/why?"] is Status.NEEDS_REVIEW
    assert statuses["free"] is Status.FAILED, "what was not touched goes to no person, also if it is worth nothing"
