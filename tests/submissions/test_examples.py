"""Example submissions that are a copy of another one: laid out, stored, and refused in one sentence."""

from pathlib import Path

import pytest

from viva.model.errors import CourseError
from viva.submissions import open_submission
from viva.submissions.discover import discover
from viva.submissions.examples import lay_out
from viva.submissions.patches import BadPatch, apply_patch, make_patch

RIGHT = "import math\n\n\ndef root(x):\n    return math.sqrt(x)\n\n\ndef half(x):\n    return x / 2\n"
WRONG = RIGHT.replace("x / 2", "x // 2")
PATCH = make_patch("solution.py", RIGHT, WRONG)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="")
    return folder


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder of examples with a right one that has two files, and a starter."""
    write(tmp_path, {"grader.yaml": "course: C\nassignments: [roots]\n"})
    write(tmp_path / "assignments/roots/starter", {"solution.py": "def root(x): ...\n", "mistake.patch": "no patch"})
    folder = tmp_path / "fixtures/roots/submissions"
    write(folder / "accepted/plain", {"solution.py": RIGHT, "answers.yaml": "1: 2\n"})
    return folder


def files_of(example: Path) -> dict[str, bytes]:
    return {file.path: file.data for file in open_submission(example, "x").files}


def test_copy_has_the_files_of_its_base(examples: Path) -> None:
    told = "base: accepted/plain\nwithout: [answers.yaml]\nmistake: Halves are rounded.\n"
    wrong = write(examples / "wrong/x", {"submission.yaml": told, "mistake.patch": PATCH, "more/own.py": "a = 1\n"})
    assert files_of(wrong) == {"solution.py": WRONG.encode(), "more/own.py": b"a = 1\n"}
    copy = write(examples / "wrong/y", {"submission.yaml": "base: wrong/x\n", "solution.py": "b = 2\n"})
    assert files_of(copy) == {"solution.py": b"b = 2\n", "more/own.py": b"a = 1\n"}
    starter = write(examples / "partial/z", {"submission.yaml": "base: starter\n", "own.py": "c = 3\n"})
    assert files_of(starter).keys() == {"solution.py", "own.py", "mistake.patch"}


def test_example_in_full(examples: Path) -> None:
    whole = write(examples / "wrong/x", {"submission.yaml": "score: 1\n", "solution.py": WRONG})
    assert files_of(whole) == {"solution.py": WRONG.encode()}


@pytest.mark.parametrize("folder", ["class/wrong/ada", "builds/fixtures/roots/submissions/wrong/ada"])
def test_submission_of_a_student_is_not_laid_out(tmp_path: Path, examples: Path, folder: str) -> None:
    """A description must not reach files of the course, or of another student, from outside the course's examples."""
    write(tmp_path / "builds/fixtures/roots/submissions/accepted/plain", {"solution.py": RIGHT})
    mine = write(tmp_path / folder, {"submission.yaml": "base: accepted/plain\n", "solution.py": WRONG})
    assert files_of(mine).keys() == {"submission.yaml", "solution.py"}


def test_links_are_not_followed(examples: Path, tmp_path: Path) -> None:
    wrong = write(examples / "wrong/x", {"submission.yaml": "mistake: M.\n", "solution.py": WRONG})
    (wrong / "key.py").symlink_to(tmp_path / "grader.yaml")
    (wrong / "graders").symlink_to(tmp_path)
    assert files_of(wrong).keys() == {"solution.py"}


def test_folder_of_examples(examples: Path) -> None:
    copies = [write(examples / "wrong" / name, {"submission.yaml": "base: accepted/plain\n"}) for name in "xy"]
    assert discover([examples / "wrong"]) == copies and discover(copies) == copies


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"mistake.patch": PATCH.replace("x / 2", "x / 3")}, "does not apply: solution.py has no place with the lines"),
        ({"mistake.patch": PATCH.replace("solution.py", "other.py")}, "does not apply: there is no text file other.py"),
        ({"mistake.patch": PATCH[:24]}, "does not apply: it is not a unified diff"),
        ({"mistake.patch": PATCH.replace("a/sol", "sol")}, "does not apply: it is not a unified diff"),
        (
            {"submission.yaml": "base: accepted/plain\nwithout: [../plain/answers.yaml]"},
            "base has no file ../plain",
        ),
        ({"submission.yaml": "mistake: M.", "mistake.patch": PATCH}, "changes a base, and .* names none"),
        ({"mistake.patch": PATCH.replace("x // 2", "x / 2")}, "mistake.patch changes nothing"),
        ({"mistake.patch": ""}, "mistake.patch changes nothing"),
    ],
)
def test_wrong_patch(examples: Path, files: dict[str, str], said: str) -> None:
    wrong = write(examples / "wrong/x", {"submission.yaml": "base: accepted/plain\n", **files})
    with pytest.raises(CourseError, match=said):
        open_submission(wrong, "x")


def test_example_without_files(examples: Path, tmp_path: Path) -> None:
    empty = write(examples / "wrong/x", {"submission.yaml": "score: 1\n"})
    with pytest.raises(CourseError, match="has no files"):
        lay_out(empty, tmp_path / "out")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("", "a\n"),
        ("a\n", ""),
        ("a\n\n\x0cb\u2028c\n", "a\n\n\x0cb\u2028d\n"),
        ("-- a/x\n+\n", "++ b/x\n-\n"),
        ("\\ No newline at end of file\n", "x"),
    ],
)
def test_patch_is_exact(before: str, after: str) -> None:
    assert apply_patch(make_patch("f", before, after), {"f": before, "g": ""}) == {"f": after}


def test_patch_follows_moved_lines() -> None:
    moved = '"""Roots."""\n\n' + RIGHT
    assert apply_patch(PATCH, {"solution.py": moved}) == {"solution.py": moved.replace("x / 2", "x // 2")}
    edited = PATCH.replace("\n \n", "\n\n").rstrip("\n")  # as some editors leave it
    assert apply_patch(edited, {"solution.py": RIGHT}) == {"solution.py": WRONG}
    with pytest.raises(BadPatch, match="has several places with the lines"):
        apply_patch(PATCH, {"solution.py": "# moved\n" + RIGHT * 2})
    assert apply_patch(PATCH, {"solution.py": RIGHT * 2}) == {"solution.py": WRONG + RIGHT}


def test_patches_of_other_tools() -> None:
    of_git = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\t2026\n+++ b/f\t2026\n@@ -2,0 +3 @@ b\n+X\n"
    of_git += "diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\n"
    assert apply_patch(of_git, {"f": "a\nb\nc\n", "g": "1\n"}) == {"f": "a\nb\nX\nc\n", "g": "2\n"}


def test_line_of_no_diff() -> None:
    with pytest.raises(BadPatch, match="it has the line 'def'"):
        apply_patch(PATCH + "def\n", {"solution.py": RIGHT})
