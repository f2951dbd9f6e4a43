"""Students get the names and the entries of tables that public tests need, and nothing next to them."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.release_course import write_course
from viva.model.errors import CourseError
from viva.plugins.release.needed_sources import public_files

TESTS = """
from graders.sums.inputs import SHARED
from viva.grading import agree, visibility

CASES = {"easy": [1, 2], "hard": [907331, 2]}
LIST = [[3], [4], [907332]]
PUBLIC, KEPT = [5], [907333]
LATER = {"easy": [6]}
LATER["hard"] = [907334]
GROWN = [7]
UNSEEN = [8]
UNSEEN.append(907335)


class Sizes:
    SHOWN = 9
    HIDDEN = 907336


def test_public(student, inside, key):
    for values in [CASES["easy"], *LIST[:2], PUBLIC, LATER["easy"], GROWN, [Sizes.SHOWN], SHARED["easy"]]:
        agree(student.total(values), inside.total(values))


@visibility("hidden")
def test_hidden(student, inside, key):
    for values in [CASES["hard"], LIST[-1], KEPT, LATER["hard"], UNSEEN, [Sizes.HIDDEN], SHARED["hard"]]:
        agree(student.total(values), inside.total_of_hidden(values))
"""
INPUTS = 'SHARED = {"easy": [1], "hard": [907337]}\n'
INSIDE = """
import sys

STEP = 907338
TINY = 1
sys.modules.setdefault("stub_of_a_library", sys)


def total(values):
    return sum(values) * TINY


def total_of_hidden(values):
    return sum(values) + STEP
"""


def files_of(folder: Path, tests: str, helpers: dict[str, str]) -> dict[str, str]:
    course = write_course(folder)
    for path, text in {"test_sums.py": tests, "inputs.py": INPUTS, **helpers}.items():
        file = course.root / "graders/sums" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return public_files(course.assignment("sums"), {"test_sums.py": {"test_public"}})


def test_hidden_inputs_are_removed(tmp_path: Path) -> None:
    files = files_of(tmp_path, TESTS, {"inside.py": INSIDE})
    assert files.keys() == {"test_sums.py", "inputs.py", "inside.py"}
    assert "9073" not in "".join(files.values()) and "hidden" not in "".join(files.values())
    names: dict[str, Any] = {}
    for path in ("inputs.py", "inside.py"):
        exec(files[path], names)
    assert names["SHARED"] == {"easy": [1]} and names["total"]([1, 2]) == 3
    assert "stub_of_a_library" in files["inside.py"]
    assert "LIST = [[3], [4], None]" in files["test_sums.py"]


def test_package_of_helpers(tmp_path: Path) -> None:
    start = "from .sums import total, total_of_hidden\nfrom . import unused\n__all__ = ['total', 'total_of_hidden']\n"
    package = {"inside/__init__.py": start, "inside/sums.py": INSIDE, "inside/unused.py": "STEP = 907339\n"}
    files = files_of(tmp_path, TESTS, package)
    assert files.keys() == {"test_sums.py", "inputs.py", "inside/__init__.py", "inside/sums.py"}
    assert "9073" not in "".join(files.values()) and "hidden" not in "".join(files.values())


def test_entries_by_parametrized_key(tmp_path: Path) -> None:
    tests = TESTS.replace("def test_public(", '@pytest.mark.parametrize("name", ["easy"])\ndef test_public(name, ')
    tests = tests.replace('CASES["easy"]', "CASES[name]").replace("def test_hidden", "def test_hidden_hard")
    files = files_of(tmp_path, "import pytest\n" + tests, {"inside.py": INSIDE})
    assert "CASES = {'easy': [1, 2]}" in files["test_sums.py"]
    assert "9073" not in "".join(files.values())


@pytest.mark.parametrize(
    ("public", "hidden"),
    [
        ('CASES["ea" + suffix]', "CASES[name]"),
        ("*[case for case in CASES.values() if case[0] < 9]", "CASES"),
        ("CASES.get(names[0])", 'CASES["hard"]'),
    ],
)
def test_table_that_cannot_be_cut(tmp_path: Path, public: str, hidden: str) -> None:
    tests = TESTS.replace('CASES["easy"]', public).replace('CASES["hard"]', hidden)
    with pytest.raises(CourseError, match=r"inputs of tests that are not released: CASES in .*test_sums\.py"):
        files_of(tmp_path, tests, {"inside.py": INSIDE})
