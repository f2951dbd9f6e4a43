"""A course whose tests are an existing unittest suite, and the runner that such suites were written for."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tests.support.course_of_texts import NAME, Examined
from viva.config import load_course
from viva.model import Score

DECORATORS: Final = """
import unittest
from gradescope_utils.autograder_utils.decorators import (
    hide_errors, leaderboard, number, partial_credit, tags, visibility, weight,
)
"""
RUN_TESTS: Final = """
import sys
import unittest
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

suite = unittest.defaultTestLoader.discover("tests")
with open("results.json", "w") as file:
    JSONTestRunner(visibility="visible", stream=file).run(suite)
"""


def suite_course(
    root: Path, tests: Mapping[str, str], *, settings: str = "", module: str = "solution.py", beside: str = ""
) -> Examined:
    """An examiner for an assignment with this suite; `tests` are texts by their path below tests/.

    Args:
        beside: the text of graders/<a>/key.py, where there is to be one.
    """
    files = {
        "grader.yaml": f"course: tiny\nassignments: [{NAME}]\n",
        f"assignments/{NAME}/assignment.yaml": (
            f"title: Small\nsuite: unittest\nsubmission: {{module: {module}}}\n{settings}"
        ),
        **{f"graders/{NAME}/tests/{name}": text for name, text in tests.items()},
    }
    if beside:
        files[f"graders/{NAME}/key.py"] = beside
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return Examined(load_course(root))


@dataclass(frozen=True)
class Original:
    """What gradescope_utils' own runner says; `results` is None where it crashed and wrote nothing that can be read."""

    results: dict[str, Any] | None
    stderr: str

    @property
    def score(self) -> float:
        assert self.results is not None, self.stderr
        return float(self.results["score"])

    @property
    def tests(self) -> dict[str, dict[str, Any]]:
        assert self.results is not None, self.stderr
        return {test["name"]: test for test in self.results["tests"]}


def original(folder: Path, tests: Mapping[str, str], submission: Mapping[str, str]) -> Original:
    """Run the suite on the submission as Gradescope's samples do: the student's files next to `tests/`, one process."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, text in {**submission, **{f"tests/{n}": t for n, t in tests.items()}, "run_tests.py": RUN_TESTS}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    command = [sys.executable, "run_tests.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    text = (folder / "results.json").read_text("utf-8")
    try:
        return Original(json.loads(text), done.stderr)
    except json.JSONDecodeError:
        return Original(None, done.stderr)


def by_test(score: Score) -> dict[str, tuple[str, Fraction | int, Fraction | int]]:
    """Status, points won and points possible by the name of the method."""
    return {e.test_id.rpartition("::")[2]: (str(e.status), e.earned, e.points) for e in score.entries}
