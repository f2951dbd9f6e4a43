"""The course is where it is said to be or above the command; never inside a submission."""

from collections.abc import Callable
from pathlib import Path

import pytest

from viva.config import find_course, keep_apart
from viva.model.errors import CourseError, UsageError

Write = Callable[[str, str], Path]


def test_the_option_comes_before_the_environment_and_the_folder(write: Write, tmp_path: Path) -> None:
    other = write("other/grader.yaml", "course: o\nassignments: []\n").parent
    third = write("third/grader.yaml", "course: t\nassignments: []\n").parent
    assert find_course(other, {"VIVA_COURSE": str(third)}, tmp_path) == other
    assert find_course(other / "grader.yaml", {}, tmp_path) == other
    assert find_course(None, {"VIVA_COURSE": str(third)}, tmp_path) == third
    assert find_course(None, {}, tmp_path / "assignments" / "masks") == tmp_path


@pytest.mark.parametrize(
    ("explicit", "environ", "part"),
    [
        ("nowhere", {}, "--course says nowhere, which is not a folder."),
        ("empty", {}, "--course says empty, but there is no grader.yaml in it."),
        (None, {"VIVA_COURSE": "nowhere"}, "VIVA_COURSE says nowhere, which is not a folder."),
        (None, {}, "No course was found: there is no grader.yaml in"),
    ],
)
def test_no_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, explicit: str | None, environ: dict[str, str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError) as caught:
        find_course(Path(explicit) if explicit else None, environ, tmp_path)
    assert part in str(caught.value)


def test_a_course_that_a_student_handed_in_is_refused(write: Write, tmp_path: Path) -> None:
    forged = write("class/mallory/inner/grader.yaml", "course: mine\nassignments: []\n").parent
    with pytest.raises(UsageError, match="is inside the submission"):
        keep_apart(forged, [tmp_path / "class" / "mallory"])
    with pytest.raises(UsageError, match="is inside the submission"):
        keep_apart(forged, [forged])
    handed_in = write("class/mallory/inner/solution.py", "")
    with pytest.raises(UsageError, match="next to the submission"):
        keep_apart(forged, [handed_in])
    keep_apart(tmp_path, [handed_in])
    keep_apart(tmp_path, [tmp_path / "class" / "mallory", tmp_path / "class" / "none"])


def test_a_released_course_is_for_those_who_have_it(tmp_path: Path) -> None:
    (tmp_path / ".viva").mkdir()
    (tmp_path / ".viva" / "grader.yaml").write_text("course: c\nassignments: []\n")
    assert find_course(None, {}, tmp_path / "notes", released=True) == tmp_path / ".viva"
    with pytest.raises(CourseError, match="No course was found"):
        find_course(None, {}, tmp_path)
