"""A small course packed for Gradescope, laid out as the platform lays it out, and what its results must be."""

import contextlib
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viva.config import Course, load_course
from viva.plugins.release.gradescope.package import Autograder

SECRET = b"the secret of a small course"
TESTS = '''
"""Sums."""
from viva.grading import agree, leaderboard, number, visibility, weight


@number("1")
@weight(2)
def test_sum(student, key):
    """The sum of some numbers."""
    agree(student.total([1, 2, 3]), key.total([1, 2, 3]))


@number("2")
@weight(3)
@visibility("hidden")
def test_random(student, key, rng):
    """The sum of numbers that nobody knows of."""
    numbers = rng.integers(9999, size=20).tolist()
    agree(student.total(numbers), key.total(numbers))


@number("3")
@weight(1)
@visibility("after_due_date")
def test_later(student, key):
    """Shown after the deadline."""
    agree(student.total([]), key.total([]))


@weight(0)
@leaderboard("terms per call", "asc")
def test_leader(student, set_leaderboard_value):
    """A place among the others."""
    set_leaderboard_value(len(student.total.call([1]).printed.strip()) + 3)
'''
KEY = "from reference.sums import running_total\n\ndef total(numbers):\n    return running_total(numbers)\n"
REFERENCE = "from reference.deeper.steps import step\n\n\ndef running_total(numbers):\n    return step(numbers)\n"
DEEPER = "def step(numbers):\n    return sum(int(number) for number in numbers)\n"
RIGHT = "def total(numbers):\n    return sum(numbers)\n"
HANGS = "import time\n\ndef total(numbers):\n    time.sleep(60)\n"


def write_course(root: Path, *, settings: str = "", more: Mapping[str, str] | None = None) -> Course:
    """The course, with two assignments; `more` are further files, or other texts of the same ones."""
    texts = {
        "grader.yaml": "course: Sums\nassignments: [sums, other]\n",
        "assignments/sums/assignment.yaml": f"title: Sums\npreload: [numpy]\n{settings}",
        "assignments/other/assignment.yaml": "title: Other\n",
        "graders/sums/test_sums.py": TESTS,
        "graders/sums/key.py": KEY,
        "graders/other/test_other.py": "SECRET_OF_ANOTHER = 1\n",
        "reference/__init__.py": "",
        "reference/sums.py": REFERENCE,
        "reference/deeper/__init__.py": "",
        "reference/deeper/steps.py": DEEPER,
        "reference/unused.py": "UNUSED = 1\n",
        "fixtures/sums/submissions/accepted/plain/solution.py": RIGHT,
        "fixtures/sums/data/numbers.txt": "1 2 3\n",
    }
    for name, text in {**texts, **(more or {})}.items():
        write(root / name, text)
    return load_course(root)


def write(path: Path, data: str | bytes) -> None:
    """A file with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    results: dict[str, Any]
    said: str

    @property
    def statuses(self) -> dict[str, str]:
        """By the name of the function."""
        found = [test["extra_data"] for test in self.results["tests"]]
        return {data["test_id"].partition("::")[2]: data["status"] for data in found}


@dataclass
class Platform:
    """`/autograder` below a folder, with what was packed unpacked in it."""

    root: Path

    @classmethod
    def of(cls, course: Course, root: Path, *, assignment: str = "sums") -> "Platform":
        """The zip's files, not yet tried."""
        files, _ = Autograder(course, course.assignment(assignment), SECRET).files()
        for name, data in files.items():
            write(root / "autograder/source" / name, data)
        (root / "autograder/submission").mkdir(parents=True)
        return cls(root)

    @property
    def results_path(self) -> Path:
        return self.root / "autograder/results/results.json"

    def hand_in(self, files: Mapping[str, str | bytes] | str, metadata: Any = None) -> None:
        """Lay a submission and what the platform says of it where the harness looks."""
        shutil.rmtree(self.root / "autograder/submission")
        (self.root / "autograder/submission").mkdir()
        for name, data in ({"solution.py": files} if isinstance(files, str) else files).items():
            write(self.root / "autograder/submission" / name, data)
        text = metadata if isinstance(metadata, str | bytes) else json.dumps(metadata or {})
        write(self.root / "autograder/submission_metadata.json", text)

    @contextlib.contextmanager
    def started(self, *options: str) -> Iterator["subprocess.Popen[str]"]:
        """The harness as a program; ended with the block."""
        command = [
            sys.executable,
            "-I",
            "-m",
            "viva.plugins.release.gradescope.harness",
            "--root",
            str(self.root),
            *options,
        ]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, text=True, errors="replace", **pipes) as harness:
            try:
                yield harness
            finally:
                harness.kill()

    def run(self, *options: str) -> Ran:
        """Run it to its end; its results must be what the platform reads."""
        with self.started(*options) as harness:
            said, _ = harness.communicate(timeout=120)
        assert harness.returncode == 0, said
        return Ran(checked(self.results_path.read_bytes()), said)

    def graded(self, files: Mapping[str, str | bytes] | str, metadata: Any = None, *options: str) -> Ran:
        """Submit and run."""
        self.hand_in(files, metadata)
        return self.run(*options)


FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITIES = {"visible", "hidden", "after_due_date", "after_published"}
TOP = {
    *("score", "execution_time", "output", "output_format", "test_output_format", "test_name_format", "visibility"),
    *("stdout_visibility", "extra_data", "tests", "leaderboard"),
}
OF_A_TEST = {
    *("score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "tags"),
    *("visibility", "extra_data"),
}


def checked(data: bytes) -> dict[str, Any]:
    """results.json as docs/specs.md of the platform's samples describes it; fails where it is not."""

    def never(text: str) -> None:
        raise AssertionError(f"{text} is no JSON")

    results: dict[str, Any] = json.loads(data.decode("utf-8", "strict"), parse_constant=never)
    assert set(results) <= TOP, set(results) - TOP
    tests = results.get("tests", [])
    assert "score" in results or any("score" in test for test in tests)
    for table, keys in [(results, TOP), *((test, OF_A_TEST) for test in tests)]:
        assert set(table) <= keys, set(table) - keys
        for key in keys & set(table):
            value = table[key]
            if key.endswith("_format"):
                assert value in FORMATS
            elif key.endswith("visibility"):
                assert value in VISIBILITIES
            elif key in ("score", "max_score", "execution_time"):
                assert isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            elif key in ("output", "name", "number"):
                assert isinstance(value, str) and "\r" not in value
                value.encode("utf-8")
            elif key == "status":
                assert value in ("passed", "failed")
            elif key == "tags":
                assert all(isinstance(tag, str) for tag in value)
            elif key == "extra_data":
                assert isinstance(value, dict)
    for entry in results.get("leaderboard", []):
        assert set(entry) <= {"name", "value", "order"} and isinstance(entry["name"], str)
        assert isinstance(entry["value"], int | float | str) and entry.get("order", "desc") in ("asc", "desc")
    return results
