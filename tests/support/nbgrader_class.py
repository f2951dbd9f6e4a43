"""A small nbgrader assignment, notebooks that are submitted for it, and what nbgrader itself gives them."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bench import environment
from bench.small_course import notebook

Cell = dict[str, Any]
FILE: Final = "ps1.ipynb"
POINTS: Final = {"test_total": 3, "test_halves": 4, "test_quiet": 1, "test_words": 2}
"""Of each cell of tests."""


def cell(kind: str, source: str, grade_id: str = "", **about: Any) -> Cell:
    """A cell; with an id it is one of nbgrader's."""
    flags = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    metadata = {"nbgrader": {**flags, "grade_id": grade_id, **about}} if grade_id else {}
    code: Cell = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": grade_id or f"c{abs(hash(source))}",
        "metadata": metadata,
        "source": source,
        **code,
    }


def solution(grade_id: str, source: str) -> Cell:
    """A code cell that students fill in."""
    return cell("code", source, grade_id, solution=True)


def test(grade_id: str, source: str) -> Cell:
    """A locked cell of tests."""
    return cell("code", source, grade_id, grade=True, locked=True, points=POINTS[grade_id])


def graded_cell(source: str) -> Cell:
    """A locked cell of one point."""
    return cell("code", source, "t", grade=True, locked=True, points=1)


test.__test__ = False  # type: ignore[attr-defined]  # pytest would collect the name

TEMPLATES: Final = '''
python3:
    setup: "from hashlib import sha1"
    hash: 'sha1({{snippet}}.encode("utf-8")+b"{{salt}}").hexdigest()'
    dispatch: "type({{snippet}})"
    normalize: "str({{snippet}})"
    check: 'assert {{snippet}} == """{{value}}""", """{{message}}"""'
    success: "print('Success!')"
    templates:
        default:
            - test: "type({{snippet}})"
              fail: "type of {{snippet}} is not correct"
        int:
            - test: "{{snippet}} + 0"
              fail: "value of {{snippet}} is not correct"
        numpy.ndarray:
            - test: "{{snippet}}.shape"
              fail: "shape"
'''
"""What authors write into autotests.yml."""
SETUP: Final = "import math\nlimit = 10"
RIGHT: Final = {
    "total": "### BEGIN SOLUTION\ndef total(numbers):\n    return sum(numbers)\n### END SOLUTION",
    "halves": "def halves(numbers):\n    ### BEGIN SOLUTION\n    return [n / 2 for n in numbers]\n    ### END SOLUTION",
    "words": "### BEGIN SOLUTION\nwords = 'a b c'.split()\n### END SOLUTION",
}
TESTS: Final = {
    "test_total": "assert total([1, 2]) == 3\n### BEGIN HIDDEN TESTS\nassert total([]) == 0\n"
    "assert total([-limit, 0.5]) == -9.5\n### END HIDDEN TESTS",
    "test_halves": "won = 0\nfor numbers, expected in ([2], [1]), ([4, 6], [2, 3]), ([], []), ([1], [0.5]):\n"
    "    try:\n        won += halves(numbers) == expected\n    except Exception:\n        pass\nwon",
    "test_words": "### BEGIN HIDDEN TESTS\nassert words == ['a', 'b', 'c'], 'three letters'\n### END HIDDEN TESTS",
    "test_quiet": "total([1])\nNone",
}
ESSAY: Final = "### BEGIN SOLUTION\nBecause sums are associative.\n### END SOLUTION"
TASK: Final = "Draw the graph of total.\n### BEGIN MARK SCHEME\nOne point for each axis.\n### END MARK SCHEME"


def source() -> list[Cell]:
    """The author's version."""
    return [
        cell("markdown", "# Numbers"),
        cell("code", SETUP, "setup", locked=True),
        solution("total", RIGHT["total"]),
        test("test_total", TESTS["test_total"]),
        solution("halves", RIGHT["halves"]),
        test("test_halves", TESTS["test_halves"]),
        test("test_quiet", TESTS["test_quiet"]),
        solution("words", RIGHT["words"]),
        test("test_words", TESTS["test_words"]),
        cell("markdown", ESSAY, "essay", grade=True, solution=True, points=5),
        cell("markdown", TASK, "task", locked=True, task=True, points=2),
    ]


def handed_in(*, without: tuple[str, ...] = (), **sources: str) -> list[Cell]:
    """The author's version with other sources in some cells, by their ids, and without others."""
    cells = [dict(c) for c in source()]
    for each in cells:
        grade_id = each["metadata"].get("nbgrader", {}).get("grade_id", "")
        each["source"] = sources.get(grade_id, each["source"].replace("### ", "# ") if grade_id else each["source"])
    return [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") not in without]


STUB: Final = "# YOUR CODE HERE\nraise NotImplementedError()"
CLASS: Final[Mapping[str, list[Cell]]] = {
    "right": handed_in(),
    "starter": handed_in(total=STUB, halves=f"def halves(numbers):\n    {STUB}", words=STUB, essay="YOUR ANSWER HERE"),
    "visible_only": handed_in(total="def total(numbers):\n    return 3"),
    "partial": handed_in(halves="def halves(numbers):\n    return [n // 2 for n in numbers if n > 1]"),
    "raises": handed_in(total="def total(numbers):\n    return numbers.total()"),
    "raises_late": handed_in(total="1 / 0\ndef total(numbers):\n    return sum(numbers)"),
    "no_python": handed_in(total="def total(numbers)\n    return sum(numbers)"),
    "altered_tests": handed_in(
        total="def total(numbers):\n    return 0", test_total="pass", test_words="words = 1", setup="limit = 3"
    ),
    "without_a_test": handed_in(without=("test_total", "setup")),
    "missing_name": handed_in(halves="def halved(numbers):\n    return []"),
    "warns": handed_in(total="import warnings\ndef total(n):\n    warnings.warn('slow')\n    return sum(n)"),
    "prints": handed_in(total="def total(n):\n    print(n)\n    return sum(n)"),
    "magics": handed_in(total="%time x = 1\ndef total(numbers):\n    return sum(numbers)\n!echo done"),
    "displays": handed_in(words="from IPython.display import display\ndisplay(3)\nwords = 'a b c'.split()\nwords"),
    "last_results": handed_in(words="['a', 'b', 'c']", setup="0"),
    "replaced_later": [*handed_in(), cell("code", "def total(numbers):\n    return 0")],
    "replaced_before": [cell("code", "def total(numbers):\n    return 1"), *handed_in(total="x = 1")],
}
RECORDED: Final[Mapping[str, tuple[float | None, ...]]] = {
    "altered_tests": (0, 4, 1, 2),
    "missing_name": (3, 0, 1, 2),
    "no_python": (0, 4, 0, 2),
    "partial": (3, 3, 1, 2),
    "prints": (3, 4, 1, 2),
    "raises": (0, 4, 0, 2),
    "raises_late": (0, 4, 0, 2),
    "replaced_before": (0, 4, 1, 2),
    "magics": (3, 4, 1, 2),
    "displays": (3, 4, 1, 2),
    "last_results": (3, 4, 1, 0),
    "replaced_later": (3, 4, 1, 2),
    "right": (3, 4, 1, 2),
    "starter": (0, 0, 0, 0),
    "visible_only": (0, 4, 1, 2),
    "warns": (0, 4, 0, 2),
    "without_a_test": (None, 4, 1, 2),
}
"""What nbgrader gave for the cells of POINTS, in that order; None for a cell that it did not find."""


def write_class(folder: Path) -> None:
    """An nbgrader course with the assignment in source/ and the class in submitted/."""
    put(folder / "nbgrader_config.py", "c = get_config()\nc.CourseDirectory.course_id = 'small'\n")
    put(folder / "source" / "ps1" / FILE, notebook(source()))
    for name, cells in CLASS.items():
        put(folder / "submitted" / name / "ps1" / FILE, notebook(cells))


def put(path: Path, text: str) -> None:
    """Write a file with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


_GRADES: Final = """
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db", "small") as book:
    print(json.dumps({s.student.id: {g.name: g.auto_score for n in s.notebooks for g in n.grades}
                      for s in book.assignment_submissions("ps1")}))
"""


def graded_by_nbgrader(folder: Path) -> dict[str, dict[str, float | None]]:
    """Run nbgrader on the class: points of each cell by student."""
    write_class(folder)
    for command in (["generate_assignment", "ps1"], ["autograde", "ps1"]):
        _run([environment.program("nbgrader"), *command], folder)
    grades: dict[str, dict[str, float | None]] = json.loads(
        _run([environment.program("python"), "-c", _GRADES], folder).splitlines()[-1]
    )
    return grades


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment.variables(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[:6000]
    return done.stdout
