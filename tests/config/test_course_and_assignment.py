"""Which course a command uses, and which assignment a submission answers: told from text, nothing is executed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from viva.config import find_course, keep_apart, load_course
from viva.model import File, Submission
from viva.model.errors import CourseError, UsageError
from viva.submissions import recognize_assignment

Write = Callable[[str, str], Path]


def submission(name: str = "alice", **files: str) -> Submission:
    return Submission(
        name, tuple(File(path.replace("__", "."), text.encode()) for path, text in files.items()), "0" * 64
    )


def notebook(*sources: str, **metadata: object) -> str:
    cells = [
        {"cell_type": "code", "source": s.splitlines(keepends=True), "metadata": {}, "outputs": []} for s in sources
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


@pytest.fixture
def course_root(write: Write, tmp_path: Path) -> Path:
    write(
        "assignments/masks/starter/solution.py",
        "import numpy\n\ndef square_mask(n):\n    ...\n\ndef train(x):\n    ...\n",
    )
    write(
        "assignments/lora/starter/starter.ipynb", notebook("class LoraLayer:\n    pass\n", "def train(x):\n    pass\n")
    )
    return tmp_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (submission(solution__py="def square_mask(n): return 1\n"), "masks"),
        (submission(solution__py="class LoraLayer: pass\n"), "lora"),
        (submission(hw__ipynb=notebook("import numpy\ndef square_mask(n):\n  pass")), "masks"),
        (submission(solution__py="def train(x): pass\n", hw__ipynb=notebook(viva={"assignment": "lora"})), "lora"),
        (submission("fixtures/masks/submissions/wrong/x", solution__py="def train(x): pass\n"), "masks"),
        # what the code defines is stronger than what the metadata claims
        (submission(hw__ipynb=notebook("def square_mask(n): pass", viva={"assignment": "lora"})), "masks"),
        # what cannot be parsed is text all the same
        (submission(solution__py="def square_mask(n:\n  ???((\0"), "masks"),
        (submission(hw__ipynb='{"cells": [{"source": ["class LoraLayer:\\n", "  '), "lora"),
    ],
)
def test_assignment_is_recognized_from_the_text(course_root: Path, given: Submission, expected: str) -> None:
    assert recognize_assignment(load_course(course_root), given).name == expected


def test_exact_file_name(write: Write, course_root: Path) -> None:
    write("assignments/lora/assignment.yaml", "title: L\nsubmission: {module: lora.py}\n")
    assert recognize_assignment(load_course(course_root), submission(lora__py="x = 1")).name == "lora"


@pytest.mark.parametrize("given", [submission("bob/hw", solution__py="x = 1"), Submission("bob/hw", (), "")])
def test_assignment_that_cannot_be_told(course_root: Path, given: Submission) -> None:
    with pytest.raises(UsageError, match=r"bob/hw .* --assignment NAME \(one of: masks, lora\)"):
        recognize_assignment(load_course(course_root), given)


def test_course_without_assignments(write: Write, course_root: Path) -> None:
    write("grader.yaml", "course: nlp\nassignments: []\n")
    with pytest.raises(CourseError, match="assignments is empty"):
        recognize_assignment(load_course(course_root), submission())


@pytest.mark.parametrize(
    "nasty", ['"x:' * 300_000, "x" * 2_000_000, '"viva":' * 300_000, "x:" * 500_000, " " * 1_000_000]
)
def test_recognition_is_linear(course_root: Path, nasty: str) -> None:
    """Searching is linear: an hour of backtracking in the grader would be a student's cheapest attack."""
    with pytest.raises(UsageError):
        recognize_assignment(load_course(course_root), submission(hw__ipynb=nasty, solution__py=nasty))


# --- where the course is


def test_option_environment_folder(write: Write, tmp_path: Path) -> None:
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


def test_course_of_a_student_is_refused(write: Write, tmp_path: Path) -> None:
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


def test_released_course(tmp_path: Path) -> None:
    (tmp_path / ".viva").mkdir()
    (tmp_path / ".viva" / "grader.yaml").write_text("course: c\nassignments: []\n")
    assert find_course(None, {}, tmp_path / "notes", released=True) == tmp_path / ".viva"
    with pytest.raises(CourseError, match="No course was found"):
        find_course(None, {}, tmp_path)
