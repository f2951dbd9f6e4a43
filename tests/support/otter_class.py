"""A small otter assignment, notebooks that are submitted for it, and what `otter run` itself gives them."""

import json
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bench import environment
from bench.small_course import cell, notebook
from tests.support.nbgrader_class import put

Cell = dict[str, Any]
FILE: Final = "hw.ipynb"
CONFIG: Final = {"seed": 7, "show_stdout": False, "logo": False, "print_summary": False, "token": "not to be copied"}
TESTS: Final = {
    "q1": """\
OK_FORMAT = True

test = {
    'name': 'q1',
    'points': 4,
    'suites': [{'cases': [
        {'code': '>>> square(2)\\n4', 'hidden': False, 'locked': False, 'points': 1, 'success_message': 'squared!',
         'failure_message': 'look at the power'},
        {'code': r'''
            >>> y = square(-3)
            >>> y == 9
            True
            >>> for n in range(2):
            ...     print(square(n))
            0
            1
            ''', 'locked': False},
        {'code': '>>> square(1.5)\\n2.25', 'hidden': True, 'locked': False},
    ], 'scored': True, 'setup': '', 'teardown': '', 'type': 'doctest'}],
}
""",
    "q2": """\
from otter.test_files import test_case

OK_FORMAT = False

name = "q2"
points = 3

WORDS = ["a", "b"]

def expected(n):
    return WORDS * n

@test_case(points=0.5, hidden=False, failure_message="how many words?")
def test_length(words):
    assert len(words) == 4, "not four"

@test_case(points=None, hidden=True)
def test_words(env, words, nobody):
    assert nobody is None
    assert env["words"] == words == expected(2)

@test_case(hidden=False)
def test_square(square):
    assert square(10) == 100
""",
    "q3": """\
OK_FORMAT = True

test = {'name': 'q3', 'points': None, 'all_or_nothing': True, 'suites': [{'cases': [
    {'code': '>>> shout(\\'a\\')\\n\\'A!\\'', 'hidden': False, 'locked': False},
    {'code': '>>> shout(\\'\\')\\n\\'!\\'', 'hidden': True, 'locked': False},
], 'scored': True, 'setup': '', 'teardown': '', 'type': 'doctest'}]}
""",
    "q4": """\
OK_FORMAT = True

test = {'name': 'q4', 'points': [1, 2], 'suites': [{'cases': [
    {'code': '>>> draw\\n5', 'hidden': False, 'locked': False},
    {'code': '>>> round(float(normal), 4)\\n1.6905', 'hidden': True, 'locked': False},
], 'scored': True, 'setup': '', 'teardown': '', 'type': 'doctest'}]}
""",
    "q5": """\
from otter.test_files import test_case
OK_FORMAT = False
name = "q5"
points = None

@test_case()
def first(x):
    assert x == 1

@test_case(points=None, name="second time")
def second(x):
    x.append
""",
}
POINTS: Final = {"q1": 4, "q2": 3, "q3": 1, "q4": 3, "q5": 1}
ANSWERS: Final = {
    "start": "import otter\ngrader = otter.Notebook()",
    "square": "def square(x):\n    return x ** 2",
    "check1": 'grader.check("q1")',
    "words": "words = ['a', 'b', 'a', 'b']",
    "check2": 'grader.check("q2")',
    "shout": "def shout(text):\n    return text.upper() + '!'",
    "check3": 'grader.check("q3")',
    "draw": "import random\ndraw = random.randrange(10)",
    "normal": "import numpy as np\nnormal = np.random.normal()",
    "x": "x = 1",
    "check5": 'grader.check("q5")',
    "later": "x = 2",
    "all": "grader.check_all()",
}


def handed_in(*, without: tuple[str, ...] = (), **sources: str) -> list[Cell]:
    """The right answers with other sources in some cells, and without others."""
    return [cell(name, text) for name, text in {**ANSWERS, **sources}.items() if name not in without]


def ignored(name: str, source: str) -> Cell:
    """A cell that otter leaves out when it grades."""
    return cell(name, source, {"tags": ["otter_ignore"]})


CHECKS: Final = ("start", "check1", "check2", "check3", "check5", "all")
CLASS: Final[Mapping[str, list[Cell]]] = {
    "right": handed_in(),
    "nothing": [cell("a", "1 + 1")],
    "partly": handed_in(square="def square(x):\n    return abs(int(x)) ** 2", words="words = list('abcd')"),
    "half_shout": handed_in(shout="def shout(text):\n    return text.upper() + '!' * bool(text)"),
    "raises": handed_in(square="def square(x):\n    raise ValueError(x)", shout="1 / 0"),
    "raises_late": handed_in(square="1 / 0\ndef square(x):\n    return x ** 2"),
    "no_python": handed_in(words="words = ["),
    "missing_names": handed_in(without=("words", "x", "draw")),
    "without_checks": handed_in(without=CHECKS),
    "checked_twice": [*handed_in(), cell("more", "x = 1"), cell("again", 'grader.check("q5")')],
    "broken_later": [*handed_in(), cell("more", "def square(x):\n    return 0\nwords = []")],
    "checked_broken": [*handed_in(), cell("more", "words = []"), cell("again", 'grader.check("q2")')],
    "overrides": handed_in(words="words = ['a', 'b', 'a', 'b']\nenv = 3\nname = 4\ntest_case = None"),
    "own_seed": handed_in(draw="import random\nrandom.seed(1)\ndraw = random.randrange(10)"),
    "prints": handed_in(square="def square(x):\n    print(x)\n    return x ** 2"),
    "ignored": [*handed_in(), ignored("z", 'x = 1\ngrader.check("q5")')],
    "numpy": handed_in(square="import numpy as np\ndef square(x):\n    return np.float64(x) ** 2"),
}
RECORDED: Final[Mapping[str, tuple[float, ...]]] = {
    "right": (4, 3, 1, 3, 0.5),
    "nothing": (0, 0, 0, 0, 0),
    "partly": (2.5, 1.75, 1, 3, 0.5),
    "half_shout": (4, 3, 0, 3, 0.5),
    "raises": (0, 1.75, 0, 3, 0.5),
    "raises_late": (0, 1.75, 1, 3, 0.5),
    "no_python": (4, 1.25, 1, 3, 0.5),
    "missing_names": (4, 1.25, 1, 2, 0),
    "without_checks": (4, 3, 1, 3, 0),
    "checked_twice": (4, 3, 1, 3, 0.5),
    "broken_later": (4, 3, 1, 3, 0.5),
    "checked_broken": (4, 1.25, 1, 3, 0.5),
    "overrides": (4, 3, 1, 3, 0.5),
    "own_seed": (4, 3, 1, 2, 0.5),
    "prints": (0, 3, 1, 3, 0.5),
    "ignored": (4, 3, 1, 3, 0.5),
    "numpy": (0, 3, 1, 3, 0.5),
}
"""What otter gave for the questions of POINTS, in that order."""


def autograder(folder: Path, tests: Mapping[str, str] = TESTS, config: Mapping[str, Any] = CONFIG) -> Path:
    """The zip archive that otter grades with."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "autograder.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in tests.items():
            archive.writestr(f"tests/{name}.py", text)
        archive.writestr("otter_config.json", json.dumps(config))
        archive.writestr("run_autograder", "#!/usr/bin/env bash\n")
        archive.writestr("files/words.txt", "a b\n")
    return path


def graded_by_otter(folder: Path, archive: Path, submission: str, file: str = FILE) -> dict[str, float]:
    """Run otter on one submission: the points of each question."""
    folder.mkdir(parents=True)
    put(folder / file, submission)
    command = [environment.program("otter"), "run", "-a", str(archive), "--no-logo", "-o", str(folder), file]
    done = subprocess.run(
        command, cwd=folder, env=environment.variables(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    tests = json.loads((folder / "results.json").read_text("utf-8"))["tests"]
    return {test["name"]: test["score"] for test in tests if "score" in test}


def submission(name: str) -> str:
    """The notebook of one of the class."""
    return notebook(CLASS[name])
