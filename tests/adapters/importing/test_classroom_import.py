"""A template repository of GitHub Classroom becomes tests that give each program the points that Classroom gives it."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.imported_course import ImportedCourse, points_by_question
from tests.support.nbgrader_class import put
from viva.formats.results_json import results_of
from viva.model.errors import UsageError
from viva.plugins.suites.importing.classroom_import import AUTOGRADING, import_classroom, read_classroom_tests

pytestmark = pytest.mark.long

SHOUT = "import sys\nprint(sys.stdin.read().strip().upper())\n"
TESTS: list[dict[str, Any]] = [
    {"name": "Shout", "run": "python3 shout.py", "input": "hello", "output": "HELLO", "comparison": "exact",
     "points": 3},
    {"name": "Part of it", "run": "python3 shout.py", "input": "abc", "output": "BC\r\n", "points": 2, "timeout": 1},
    {"name": "A pattern", "run": "python3 shout.py", "input": "a1", "output": "^[A-Z]\\d$", "comparison": "regex",
     "points": 1},
    {"name": "pytest", "setup": "sudo -H pip3 install pytest\ntouch made", "run": "ls made && pytest test_shout.py",
     "points": 4},
]  # fmt: skip
PYTEST = """
import subprocess, sys

def test_it():
    run = subprocess.run([sys.executable, "shout.py"], input="x", text=True, capture_output=True)
    assert run.stdout == "X\\n"
"""


def repository(folder: Path, tests: object = TESTS) -> Path:
    put(folder / AUTOGRADING, json.dumps({"tests": tests}))
    put(folder / "shout.py", "# Read a line, and print it in capitals.\n")
    put(folder / "test_shout.py", PYTEST)
    put(folder / "README.md", "# Shout\n")
    return folder


CLASS = {
    "right": (SHOUT, {}, {"1": 3, "2": 2, "3": 1, "4": 4}),
    "adds a word": (SHOUT + "print('!')\n", {}, {"1": 0, "2": 2, "3": 0, "4": 0}),
    "fails after printing": (SHOUT + "sys.exit(3)\n", {}, {"1": 0, "2": 0, "3": 0, "4": 4}),
    "changes the author's test": ("print()\n", {"test_shout.py": "def test_it(): pass\n"}, dict.fromkeys("1234", 0)),
    "no Python": ("print(\n", {}, dict.fromkeys("1234", 0)),
    "prints what is asked for when it is loaded": (SHOUT, {"notes.txt": "x"}, {"1": 3, "2": 2, "3": 1, "4": 4}),
}


@pytest.fixture(scope="module")
def shout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImportedCourse]:
    folder = tmp_path_factory.mktemp("classroom")
    (imported,) = import_classroom(repository(folder / "shout"))
    assert any("pip3 install pytest" in note for note in imported.notes)
    assert any("exit status" in note for note in imported.notes)
    assert set(imported.starter) == {"shout.py", "README.md"}
    course = ImportedCourse(folder / "course", [imported])
    with course.process:
        yield course


@pytest.mark.parametrize("name", CLASS)
def test_program_gets_the_points_of_classroom(shout: ImportedCourse, name: str) -> None:
    program, more, points = CLASS[name]
    score = shout.score({"shout.py": program, **more})
    assert points_by_question(score) == points
    assert [entry.name for entry in score.entries] == ["Shout", "Part of it", "A pattern", "pytest"]
    assert all(entry.message for entry in score.entries if entry.earned < entry.points)


def workflow(*steps: dict[str, Any]) -> dict[str, bytes]:
    jobs = {"run": {"runs-on": "ubuntu-latest", "steps": [{"uses": "actions/checkout@v4"}, *steps]}}
    return {".github/workflows/classroom.yml": yaml.safe_dump({"name": "Tests", "on": ["push"], "jobs": jobs}).encode()}


def test_workflow_steps_become_tests() -> None:
    files = workflow(
        {
            "uses": "classroom-resources/autograding-io-grader@v1",
            "with": {"test-name": "t", "command": "python a.py", "input": 5, "expected-output": "25\n",
                     "comparison-method": "contains", "timeout": "2", "max-score": 10},
        },
        {"uses": "education/autograding-command-grader@v1", "with": {"test-name": "c", "command": "pytest"}},
        {"name": "All tests", "uses": "education/autograding-python-grader@v1", "with": {"max-score": "7"}},
        {"uses": "classroom-resources/autograding-grading-reporter@v1", "with": {"runners": "t,c"}},
    )  # fmt: skip
    files[AUTOGRADING] = json.dumps({"tests": TESTS}).encode()
    found = list(read_classroom_tests(files))
    assert [(t.name, t.command, t.expected, float(t.points), t.minutes) for t in found] == [
        ("t", "python a.py", "25\n", 10, 2),
        ("c", "pytest", None, 0, 10),
        ("All tests", "python -m pytest", None, 7, 10),
    ]
    assert found[0].stdin == "5" and found[0].comparison == "contains"


def test_exact_points_and_extra_credit(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"name": "a", "points": 1.25, "output": "1"},
        {"name": "b", "points": 0.5, "output": "1", "extra": True},
        {"name": "c", "points": None, "output": "1", "timeout": 20},
    ]
    (imported,) = import_classroom(repository(tmp_path, [{**row, "run": "python3 shout.py"} for row in rows]))
    assert any("at most 10 minutes" in note for note in imported.notes)
    course = ImportedCourse(tmp_path / "course", [imported])
    with course.process:
        score = course.score({"shout.py": "print(1)"})
    assert [entry.points for entry in score.entries] == [Fraction(5, 4), Fraction(1, 2), 0]
    assert (score.earned, score.points) == (Fraction(7, 4), Fraction(5, 4))
    assert results_of(score).extra_data.points == "5/4"


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ([], "holds no tests of GitHub Classroom"),
        ([{"name": "a"}], "test 1: run is missing; expected the command"),
        (
            [{"run": "python3 shout.py", "comparison": "fuzzy"}],
            "comparison is 'fuzzy'; expected one of contains, exact",
        ),
        ([{"run": "python3 shout.py", "points": "many"}], "points is 'many'; expected a number"),
        ([{"run": "python3 shout.py", "points": -2}], "points is '-2'; expected a number, zero or more"),
        ([{"run": ["python3"]}], "run is a list; expected a text"),
        (["python3 shout.py"], 'expected a test with "name" and "run"'),
    ],
)
def test_invalid_tests(tmp_path: Path, tests: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        import_classroom(repository(tmp_path, tests))


def test_no_python(tmp_path: Path) -> None:
    put(tmp_path / AUTOGRADING, json.dumps({"tests": [{"name": "a", "run": "./a.out", "setup": "gcc a.c"}]}))
    put(tmp_path / "a.c", "int main() {}\n")
    with pytest.raises(UsageError, match="cannot tell which Python file"):
        import_classroom(tmp_path)


def test_odd_names(tmp_path: Path) -> None:
    name = 'It says """hello"""\\ to you: 100 %'
    (imported,) = import_classroom(
        repository(tmp_path, [{"name": name, "run": "python shout.py", "output": "a'\"\n\\"}])
    )
    source = imported.graders["test_classroom.py"].decode()
    compile(source, "test_classroom.py", "exec")
    assert "def test_1_it_says_hello_to_you_100(submission" in source
    assert any("each is worth 1" in note for note in imported.notes) and "@weight(1)" in source


@pytest.mark.parametrize(
    ("path", "author"),
    [
        *((path, True) for path in ("test_a.py", "a_test.py", "tests/data.txt", "tester.py", "grade_task1.py")),
        *((path, True) for path in ("conftest.py", "autograder.py", "sub/tests.py", "grading.sh", "test2.py")),
        *((path, False) for path in ("contest.py", "latest.py", "upgrade.py", "gradient.py", "testament.py", "a.py")),
    ],
)
def test_files_of_the_author(tmp_path: Path, path: str, author: bool) -> None:
    put(repository(tmp_path) / path, "x = 1\n")
    (imported,) = import_classroom(tmp_path)
    assert (f"files/{path}" in imported.graders) == author == (path not in imported.starter)


def test_downloaded_archive(tmp_path: Path) -> None:
    repository(tmp_path / "all" / "shout-main")
    (imported,) = import_classroom(tmp_path / "all")
    assert imported.settings["submission"]["module"] == "shout.py"
