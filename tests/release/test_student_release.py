"""A released folder decides as the course does and holds nothing that only graders may know; else it is refused."""

import ast
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from fractions import Fraction
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from tests.support.course_of_texts import best_tier
from tests.support.course_of_texts import write_course as small_course
from tests.support.release_course import ALSO_RIGHT, RIGHT, SECRET, write_course
from tests.support.verified_examples import COURSE, ROOT, verified_examples
from tests.support.verified_examples import SECRET as COURSE_SECRET
from viva.config import Course, load_course
from viva.examiner.recorded_key.record import RECORD, record_from
from viva.model import Tier
from viva.model.errors import CourseError, UsageError
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.release.leak_search import decoded
from viva.plugins.release.release_files import requirements, starter_files
from viva.plugins.release.student_release import ANSWERS, HIDDEN, Release, ReleaseSummary
from viva.submissions import open_submission

pytestmark = pytest.mark.long


def released(course: Course, folder: Path) -> ReleaseSummary:
    return Release(course, course.assignment("sums"), Tier.T0, SECRET).to(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    told = released(write_course(root), root / "out" / "sums")
    assert told.left_out == {HIDDEN: Fraction(4), ANSWERS: Fraction(1)}
    assert [entry.number for entry in told.tests] == ["1", "2", "4"]
    return root / "out" / "sums"


def checked(folder: Path, source: str) -> dict[str, str]:
    """What a student's own machine finds: status and message by number."""
    course = load_course(folder / ".viva")
    (folder / "solution.py").write_text(source, "utf-8")
    with ExaminerProcess(course, course.assignment("sums"), b"", BoxOptions(Tier.T0, ready=1)) as examiner:
        score = examiner.grade(GradeRequest(open_submission(folder, "mine"), GradeOptions(visible_only=True))).score
        assert examiner.left_out[HIDDEN] == 4
    return {entry.number: f"{entry.status}: {entry.message}" for entry in score.entries}


def test_right_answer_in_release(folder: Path) -> None:
    for source in (RIGHT, ALSO_RIGHT):
        assert [text.partition(":")[0] for text in checked(folder, source).values()] == ["passed"] * 3


def test_wrong_answer_in_release(folder: Path) -> None:
    found = checked(folder, RIGHT.replace("sum(numbers)", "sum(numbers) / len(numbers)"))
    assert found["1"].startswith("failed") and "a known mistake: the mean" in found["1"]
    found = checked(folder, RIGHT.replace("sum(numbers)", "sum(numbers) / (len(numbers) if len(numbers) == 3 else 2)"))
    assert found["1"].startswith("failed") and "a known mistake" not in found["1"]
    found = checked(folder, RIGHT.replace("sorted(words)", "words"))
    assert found["2"].startswith("failed") and "in_order(['" in found["2"]


def test_files_of_release(folder: Path) -> None:
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"README.md", "requirements.txt", "solution.py", ".viva/grader.yaml"} <= files
    assert not any("key.py" in name or "reference" in name or "fixtures" in name for name in files)
    (wheel,) = (path for path in files if path.endswith(".whl"))
    assert (folder / "requirements.txt").read_text().splitlines()[0] == f"./{wheel}"
    assert (folder / wheel).stat().st_size < 1.5 * 2**20


@pytest.mark.parametrize(
    "secret", ["123457", "765431", "test_hidden", "accumulated_by_the_reference", "a secret answer", SECRET.hex()]
)
def test_secrets_are_not_in_release(folder: Path, secret: str) -> None:
    (folder / "solution.py").unlink(missing_ok=True)  # a test above may have put a right one there
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".whl":  # the engine, open to all
            assert not any(secret in text for text in decoded(path.name, path.read_bytes())), path


@pytest.mark.long
def test_ci_of_release(folder: Path, tmp_path: Path) -> None:
    (folder / "solution.py").write_text(RIGHT, "utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    summary = tmp_path / "summary.md"
    around = {**os.environ, "PATH": path, "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    steps = yaml.safe_load((folder / ".github/workflows/viva.yml").read_text())["jobs"]["check"]["steps"]
    check = next(step["run"] for step in steps if step.get("name") == "Check")
    done = subprocess.run(["bash", "-e", "-c", check], cwd=folder, env=around, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::stop-commands::") and "4 points of hidden tests" in done.stdout
    assert "5" in summary.read_text() and "passed" in summary.read_text()
    script = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["check"]["script"]
    script = "\n".join(script[1:])
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=around, capture_output=True, text=True)
    assert done.returncode == 0 and b"test_sum" in (folder / "viva-junit.xml").read_bytes()


def test_notebook_beside_release(folder: Path) -> None:
    code = f"{RIGHT}\nimport viva\nprint(viva.check('1'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "The sum of some numbers" in done.stdout and "4 points of hidden tests" in done.stdout


@pytest.mark.nightly
def test_release_of_answers(tmp_path: Path) -> None:
    told = released(write_course(tmp_path, settings="release: {answers: true}\n"), tmp_path / "out")
    assert "3" in [entry.number for entry in told.tests]
    assert checked(tmp_path / "out", RIGHT)["3"].startswith("passed")


def test_value_that_students_write_is_withheld(tmp_path: Path) -> None:
    """It was in the record of the key, in the folder that students get."""
    value = {
        'agree(submission.answers["3"], key.answers["3"])': "agree(student.parameters, key.parameters)",
        "test_answer(submission, key)": "test_answer(student, key)",
    }
    course = write_course(tmp_path, **value)
    right = (course.root / "fixtures/sums/submissions/accepted").glob("*/solution.py")
    for path in [course.root / "graders/sums/key.py", *right]:
        path.write_text(path.read_text() + "\nparameters = 'four thousand and two'\n")
    told = released(course, tmp_path / "out")
    assert told.left_out[ANSWERS] == 1 and "3" not in [entry.number for entry in told.tests]
    assert not any(b"four thousand" in path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())


COMPARED = """
    agree(submission.answers["3"], key.CHOICE)
    agree(submission.answers["3"], key.count())
    agree(submission.answers["3"], key.right_choice("3"))
    agree(submission.answers["3"], "Q7")
    agree(submission.answers["3"], key.answers["3"])
"""


def test_compared_value_is_withheld(tmp_path: Path) -> None:
    """Also where it is too short to be searched for: the record of the key held it."""
    compared = {'    agree(submission.answers["3"], key.answers["3"])\n': COMPARED}
    course = write_course(tmp_path, **compared)
    key = course.root / "graders/sums/key.py"
    added = "CHOICE = 'Q7'\ndef count():\n    return CHOICE\ndef right_choice(number):\n    return CHOICE\n"
    for path in [key, *(course.root / "fixtures/sums/submissions").glob("*/*/solution.py")]:
        path.write_text(path.read_text().replace("a secret answer of 42", "Q7"))
    key.write_text(key.read_text() + added)
    told = released(course, tmp_path / "out")
    assert told.left_out[ANSWERS] == 1 and "3" not in [entry.number for entry in told.tests]
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and path.suffix != ".whl"]
    assert not any(b"Q7" in path.read_bytes() for path in files)


@pytest.mark.nightly
def test_test_that_asks_key_about_student(tmp_path: Path) -> None:
    asks = {"agree(student.low(np.array(SHOWN)), found.low)": "agree(student.low([1]), key.low([student.tag]))"}
    course = write_course(tmp_path, **asks)
    for name, tag in (("plain", 1), ("other", 1.0)):
        path = course.root / f"fixtures/sums/submissions/accepted/{name}/solution.py"
        path.write_text(path.read_text() + f"\ntag = {tag}\n")
    (course.root / "graders/sums/key.py").write_text((course.root / "graders/sums/key.py").read_text() + "\ntag = 1\n")
    with pytest.raises(CourseError, match="test_record: it asks the key about something that the student returned"):
        released(course, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    settings = course.root / "assignments/sums/assignment.yaml"
    settings.write_text(settings.read_text() + "release: {withhold: [test_record]}\n")
    told = released(load_course(course.root), tmp_path / "out")
    assert [entry.number for entry in told.tests] == ["1", "2"]


LINE = "accumulated_by_the_reference = sum(int(number) for number in numbers)"


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("key.total(numbers), hints", "sum(numbers) + 1, hints", "does not verify"),
        ("SHOWN = [1, 2, 3]", f"SHOWN = [1, 2, 3] or '{LINE}'", "tells what only graders"),
        (
            "SHOWN = [1, 2, 3]",
            "SHOWN = [1, 2, 3] or 'A secret answer of 42'",
            r'answers\["3"\]: .a secret answer',
        ),
    ],
)
def test_release_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        released(write_course(tmp_path, **{old: new}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_release_of_a_suite(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"suite \(unittest\)"):
        released(write_course(tmp_path, settings="suite: unittest\n"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        released(write_course(tmp_path / "course"), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_archives_and_notebooks_are_looked_into() -> None:
    notebook = json.dumps({"cells": [{"source": ["x = ", "12"]}]}).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.ipynb", notebook)
    assert any("x = 12" in text for text in decoded("all.zip", packed.getvalue()))


def test_starter_asks_in_one_place(tmp_path: Path) -> None:
    """A solved notebook next to an untouched module is what students then submit."""
    course = write_course(tmp_path)
    [name] = course.assignments
    starter = course.assignment(name).starter
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": (starter / "solution.py").read_text("utf-8")}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (starter / "work.ipynb").write_text(json.dumps(notebook), "utf-8")
    with pytest.raises(CourseError, match=r"work\.ipynb and solution\.py both ask for `\w+`.*`either: true`"):
        starter_files(course.assignment(name))
    settings = tmp_path / "assignments" / name / "assignment.yaml"
    settings.write_text(settings.read_text("utf-8") + "submission: {either: true}\n", "utf-8")
    assert {"solution.py", "work.ipynb"} <= starter_files(load_course(tmp_path).assignment(name)).keys()


QUICKEST = "attention_theory"
TELLING = 50
"""Characters of a line of code that no two authors write alike."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name == QUICKEST else pytest.mark.nightly)
        for name in COURSE.assignments
    ],
)
def test_own_assignments_are_released(name: str, tmp_path: Path) -> None:
    verified_examples(name)
    assignment = COURSE.assignment(name)
    told = Release(COURSE, assignment, best_tier(), COURSE_SECRET).to(tmp_path / name)
    texts = {path: as_text(path, data) for path, data in told.files.items()}
    released = {entry.test_id.partition("::")[2] for entry in told.tests}
    for function, title in hidden_tests(assignment.graders):
        assert function not in released
        assert not any(function in text or title in text for text in texts.values()), function
    beside = "".join(text for path, text in texts.items() if "/graders/" not in path or "inside" in path)
    for line in code_of(assignment.graders / "key.py", *(ROOT / "reference").rglob("*.py")):
        found = [path for path, text in texts.items() if line in text]
        assert not found or line in beside, (line, found)


def as_text(path: str, data: bytes) -> str:
    if path.endswith(RECORD):
        record = record_from(data)
        return repr(([record.answer(question) for question in record.answers], record.hints))
    return data.decode("utf-8", "replace")


def hidden_tests(graders: Path) -> list[tuple[str, str]]:
    """Functions and their first line, by their decorators."""
    found = []
    for path in graders.glob("test_*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any("visibility" in ast.unparse(d) for d in node.decorator_list):
                found.append((node.name, str(ast.get_docstring(node)).splitlines()[0]))
    assert found
    return found


def code_of(*paths: Path) -> set[str]:
    """Long lines of functions, as they are written once comments and layout are gone."""
    lines = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                node.body = node.body[1:] if ast.get_docstring(node) else node.body
                lines |= {line.strip() for part in node.body for line in ast.unparse(part).splitlines()}
    return {line for line in lines if len(line) >= TELLING}


TORCH = "torch>=2.2"


@pytest.mark.parametrize(
    ("preload", "expected"),
    [
        ("numpy", []),
        ("numpy, torch", [TORCH]),
        ('numpy, "torch?"', [TORCH]),
        ("numpy, torch, sympy", [TORCH]),  # by torch, in its version
        ("sympy", [f"sympy>={metadata.version('sympy')}"]),
        ('torch, transformers, "tqdm?"', [TORCH, "transformers>=4.57"]),  # tqdm by transformers
        ('"matplotlib.pyplot?", "no_such_library?"', ["matplotlib"]),
    ],
)
def test_student_requirements(tmp_path: Path, preload: str, expected: Sequence[str]) -> None:
    course = small_course(tmp_path, tests="", key="", preload=preload)
    first = ["./viva.whl", f"hypothesis=={metadata.version('hypothesis')}"]
    assert requirements(course.assignment("small"), "./viva.whl").splitlines() == [*first, *expected]
