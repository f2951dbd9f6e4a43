"""A course is written whole or not at all, and over nothing that is there."""

from fractions import Fraction
from pathlib import Path

import pytest

from bench.small_course import notebook
from tests.support.nbgrader_class import cell, source
from viva.adapters.importing.new_course import ImportedAssignment, folder_name, plain_points, write_course
from viva.config import load_course
from viva.model.errors import CourseError, UsageError

SETTINGS = {"title": "Old", "suite": "nbgrader", "submission": {"notebook": "a.ipynb", "module": None}}
SOURCE = notebook(source()).encode()


def imported(name: str = "old", text: bytes = SOURCE) -> ImportedAssignment:
    return ImportedAssignment(name, dict(SETTINGS), {"source/a.ipynb": text})


def test_what_is_written_is_a_course_with_a_secret_of_its_own(tmp_path: Path) -> None:
    write_course(tmp_path / "one", "old courses: 1", [imported("a"), imported("b")])
    write_course(tmp_path / "two", "old", [imported()])
    course = load_course(tmp_path / "one")
    assert (course.title, course.assignments) == ("old courses: 1", ("a", "b"))
    assert course.assignment("a").suite == "nbgrader"
    secrets = {(tmp_path / name / ".secret").read_text() for name in ("one", "two")}
    assert len(secrets) == 2 and (tmp_path / "one" / ".secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["a folder with files", "a file", "a link"])
def test_nothing_is_overwritten(tmp_path: Path, what: str) -> None:
    to = tmp_path / "course"
    if what == "a folder with files":
        (to / "mine").mkdir(parents=True)
    elif what == "a file":
        to.write_text("mine")
    else:
        to.symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="is not empty"):
        write_course(to, "old", [imported()])
    assert sorted(tmp_path.rglob("*")) == before


def test_what_cannot_be_graded_leaves_nothing_behind(tmp_path: Path) -> None:
    to = tmp_path / "course"
    with pytest.raises(CourseError) as raised:
        write_course(to, "old", [imported(text=notebook([cell("code", "1")]).encode())])
    assert str(raised.value).startswith(f"Nothing was written: {to}/graders/old/source")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "course").mkdir()
    write_course(tmp_path / "course", "old", [imported()])
    assert load_course(tmp_path / "course").assignments == ("old",)


@pytest.mark.parametrize("path", ["key.py", "source/x.csv", "inside/x.py", "tests/x.py", "otter_config.json"])
def test_data_does_not_stand_where_viva_keeps_files(path: str) -> None:
    with pytest.raises(UsageError, match="Rename it"):
        imported().add_data({path: b""})


def test_names_and_points_as_a_course_has_them() -> None:
    names = ["ps1", "Week 1: sums", "../..", "", "größe"]
    assert [folder_name(n) for n in names] == ["ps1", "Week_1_sums", "assignment", "assignment", "gr_e"]
    assert [plain_points(Fraction(p)) for p in ("3", "5/2", "1/3")] == [3, 2.5, "1/3"]
