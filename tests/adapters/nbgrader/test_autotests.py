"""AUTOTEST lines of nbgrader become the tests that the author's templates describe."""

import json
from pathlib import Path

import pytest

from bench.small_course import notebook
from tests.support.nbgrader_class import TEMPLATES, graded_cell, put, solution
from viva.model.errors import UsageError
from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader


def imported(folder: Path, tests: str, answer: str = "def f(x):\n    return x + 5") -> str:
    """The text of the test cell after the import."""
    put(folder / "source" / "ps1" / "ps1.ipynb", notebook([solution("f", answer), graded_cell(tests)]))
    (assignment,) = import_nbgrader(folder)
    cells = json.loads(assignment.graders["source/ps1.ipynb"])["cells"]
    return str(cells[1]["source"])


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ("### AUTOTEST f(3)", ['assert str(f(3) + 0) == """8""", """value of f(3) is not correct"""']),
        (
            "### AUTOTEST f(3); f(1.5)",
            [
                'assert str(f(3) + 0) == """8""", """value of f(3) is not correct"""',
                'assert str(type(f(1.5))) == """<class \'float\'>""", """type of f(1.5) is not correct"""',
            ],
        ),
        ("x = 2\n# AUTOTEST f(x)\nassert x", ['assert str(f(x) + 0) == """7""", """value of f(x) is not correct"""']),
        (
            "import numpy as np\n### AUTOTEST np.ones((2, 3))",
            ['assert str(np.ones((2, 3)).shape) == """(2, 3)""", """shape"""'],
        ),
    ],
)
def test_autotest_lines_become_assertions(tmp_path: Path, tests: str, expected: list[str]) -> None:
    put(tmp_path / "autotests.yml", TEMPLATES)
    lines = imported(tmp_path, tests).splitlines()
    assert [line for line in lines if line.startswith("assert str")] == expected
    assert lines.count("from hashlib import sha1") == 1 and lines[-1] == "print('Success!')"
    assert [line for line in tests.splitlines() if "AUTOTEST" not in line] == [
        line for line in lines if line in tests.splitlines()
    ]
    assert "AUTOTEST" not in "".join(lines)


def test_hashed_autotests(tmp_path: Path) -> None:
    put(tmp_path / "source" / "ps1" / "autotests.yml", TEMPLATES)
    text = imported(tmp_path, "### HASHED AUTOTEST f(3); f(3)")
    namespace: dict[str, object] = {"f": lambda x: x + 5}
    exec(text, namespace)
    with pytest.raises(AssertionError, match="not correct"):
        exec(text, {"f": lambda x: x + 4})
    checks = [line for line in text.splitlines() if line.startswith("assert")]
    assert len(set(checks)) == 2 and '"""8"""' not in text
    assert imported(tmp_path, "### HASHED AUTOTEST f(3); f(3)") == text


def test_hidden_autotests(tmp_path: Path) -> None:
    put(tmp_path / "autotests.yml", TEMPLATES)
    text = imported(tmp_path, "### BEGIN HIDDEN TESTS\n### AUTOTEST f(3)\n### END HIDDEN TESTS")
    assert text.index("BEGIN HIDDEN") < text.index("assert str(f(3)") < text.index("END HIDDEN")


def test_autotests_with_files(tmp_path: Path) -> None:
    put(tmp_path / "autotests.yml", TEMPLATES)
    put(tmp_path / "source" / "ps1" / "data" / "n.txt", "40")
    put(tmp_path / "source" / "ps1" / "own.py", "TWO = 2")
    text = imported(tmp_path, "### AUTOTEST f", "from own import TWO\nf = int(open('data/n.txt').read()) + TWO")
    assert '== """42"""' in text


@pytest.mark.parametrize(
    ("templates", "tests", "answer", "words"),
    [
        (None, "### AUTOTEST f(3)", "f = 1", "put the course's autotests.yml next to it"),
        ("python3: [", "### AUTOTEST f(3)", "f = 1", "not valid YAML"),
        ("r: {}", "### AUTOTEST f(3)", "f = 1", "expected `python3:` with dispatch, normalize, check, templates"),
        (TEMPLATES, "### AUTOTEST f(3)", "f = 1", "cell 2 raised TypeError: 'int' object is not callable"),
        (TEMPLATES, "### AUTOTEST f", "1 / 0", "cell 1 raised ZeroDivisionError"),
        (TEMPLATES, "### AUTOTEST f", "import no_such_thing", "imports no_such_thing, which is not installed here"),
        (TEMPLATES, "### AUTOTEST f", "import os\nos._exit(3)", "ended its process"),
    ],
)
def test_invalid_autotests(tmp_path: Path, templates: str | None, tests: str, answer: str, words: str) -> None:
    if templates is not None:
        put(tmp_path / "autotests.yml", templates)
    with pytest.raises(UsageError, match=words):
        imported(tmp_path, tests, answer)
