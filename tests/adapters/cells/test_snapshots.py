"""A notebook with hidden tests runs once where that is as good as twice, and again where it is not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bench.small_course import cell as otter_cell
from bench.small_course import notebook
from tests.support.course_of_texts import handed_in as submitted
from tests.support.imported_course import ImportedCourse, points_by_question
from tests.support.nbgrader_class import cell, put, solution
from tests.support.otter_class import autograder
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.plugins.suites.importing.new_course import ImportedAssignment
from viva.plugins.suites.nbgrader.nbgrader_import import import_nbgrader
from viva.plugins.suites.otter.otter_import import import_otter

pytestmark = pytest.mark.long

FILES: Final = ("a.ipynb", "b.ipynb")
HIDDEN: Final = "### BEGIN HIDDEN TESTS\nassert f(3) == 9\n### END HIDDEN TESTS"
RIGHT: Final = "def f(x):\n    return x * x"
ONCE, TWICE = 1, 2


def hidden_test(grade_id: str, source: str) -> dict[str, object]:
    return cell("code", source, grade_id, grade=True, locked=True, points=1)


def master() -> list[dict[str, object]]:
    return [
        solution("f", f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION"),
        hidden_test("both", f"assert f(2) == 4\n{HIDDEN}"),
        solution("g", "### BEGIN SOLUTION\ng = 1\n### END SOLUTION"),
        hidden_test("alone", HIDDEN.replace("f(3) == 9", "g == 1")),
    ]


def answers(f: str = RIGHT, g: str = "g = 1", *later: str) -> str:
    cells = [dict(each) for each in master()]
    cells[0]["source"], cells[2]["source"] = f, g
    return notebook([*cells, *(cell("code", text) for text in later)])


class Runs:
    """A course, with the number of times that a submission's notebooks were begun."""

    def __init__(self, folder: Path, imported: list[ImportedAssignment]) -> None:
        self.course = ImportedCourse(folder, imported)

    def graded(self, files: dict[str, str]) -> tuple[dict[str, float], int]:
        graded = self.course.process.grade(GradeRequest(submitted(files), GradeOptions(questions=True)))
        begun = [question for _, asked in graded.questions for question in asked if question[0] == "cells_begin"]
        return points_by_question(graded.score), len(begun)


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("snapshots")
    put(folder / "nbgrader_config.py", "c = get_config()\nc.CourseDirectory.course_id = 'small'\n")
    put(folder / "source" / "ps1" / FILES[0], notebook(master()))
    runs = Runs(folder / "course", import_nbgrader(folder))
    yield runs
    runs.course.process.close()


def test_copy_of_an_untouched_notebook(nbgrader: Runs) -> None:
    untouched = (nbgrader.course.assignment.starter / FILES[0]).read_text()
    won, _ = nbgrader.graded({FILES[0]: untouched, "a-Copy1.ipynb": answers()})
    assert (won["both"], won["alone"]) == (1, 1)
    won, _ = nbgrader.graded({FILES[0]: answers(), "a-Copy1.ipynb": answers("f = 1")})
    assert (won["both"], won["alone"]) == (1, 1)


FILE_TAKEN_AWAY: Final = "import os\nopen('square', 'w').close()\ndef f(x):\n    os.stat('square')\n    return x * x"
ENDS: Final = "import os\ndef f(x):\n    os._exit(0)"
THREAD: Final = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
KILLER: Final = """\
import os, signal
for pid in range(os.getpid() + 1, os.getpid() + 40):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
"""
WAITS_FOR_ALL: Final = (
    "import os\nif os.fork() == 0:\n    os._exit(0)\ntry:\n    while True:\n        os.wait()\n"
    "except ChildProcessError:\n    pass"
)


@pytest.mark.parametrize(
    ("f", "g", "later", "points", "runs"),
    [
        pytest.param(RIGHT, "g = 1", "", (1, 1), ONCE, id="right"),
        pytest.param("def f(x):\n    return 0", "g = 1", "", (0, 1), TWICE, id="lost in the visible part as well"),
        pytest.param("def f(x):\n    return 4", "g = 1", "", (0, 1), TWICE, id="lost in the hidden part alone"),
        pytest.param(RIGHT, "g = 2", "", (1, 0), TWICE, id="lost in a test that is all hidden"),
        pytest.param(RIGHT, "g = 1", "g = 2\ndel f", (1, 1), ONCE, id="names that change later"),
        pytest.param(RIGHT, "g = 2", "g = 1", (1, 0), TWICE, id="right too late"),
        pytest.param(FILE_TAKEN_AWAY, "g = 1", "os.remove('square')", (1, 1), TWICE, id="a file that is removed later"),
        pytest.param(f"{THREAD}\n{RIGHT}", "g = 1", "", (1, 1), TWICE, id="a thread, which a copy lacks"),
        pytest.param(RIGHT, f"{WAITS_FOR_ALL}\ng = 1", "", (1, 1), ONCE, id="waits for all its processes"),
        pytest.param(RIGHT, "g = 1", KILLER, (1, 1), TWICE, id="kills the snapshots"),
        pytest.param(RIGHT, "g = 1\n1 / 0", "", (1, 1), ONCE, id="a cell that raises"),
        pytest.param(
            ENDS, "g = 1", RIGHT, (0, 1), 2 * TWICE, id="ends its box before its snapshot, and is right later"
        ),
    ],
)
def test_number_of_runs(nbgrader: Runs, f: str, g: str, later: str, points: tuple[int, int], runs: int) -> None:
    won, begun = nbgrader.graded({FILES[0]: answers(f, g, later)})
    assert (won["both"], won["alone"]) == points
    assert begun == runs


def test_hidden_test_is_not_in_the_process(nbgrader: Runs) -> None:
    """The last cell looks at all that its process holds; it finds the visible part, and fails."""
    look = "import gc\nkinds = dict, list, tuple\n"
    look += "assert not [x for x in gc.get_objects() if type(x) in kinds and text[::-1] in repr(x)]"

    def notes(*parts: str) -> tuple[str, ...]:
        spy = f"text = {' == '.join(parts)[::-1]!r}\n{look}"
        return nbgrader.course.score({FILES[0]: answers(RIGHT, "g = 1", spy)}).notes

    assert len(notes("f(2)", "4")) == 1
    assert notes("f(3)", "9") == ()


def test_several_notebooks(tmp_path: Path) -> None:
    put(tmp_path / "nbgrader_config.py", "c = get_config()\nc.CourseDirectory.course_id = 'small'\n")
    for file in FILES:
        put(tmp_path / "source" / "ps1" / file, notebook(master()))
    runs = Runs(tmp_path / "course", import_nbgrader(tmp_path))
    with runs.course.process:
        won, begun = runs.graded(dict.fromkeys(FILES, answers()))
    assert (won, begun) == ({"both": 2, "alone": 2}, 2)


OTTER: Final = """\
OK_FORMAT = True
test = {'name': 'q1', 'points': 2, 'suites': [{'cases': [
    {'code': '>>> x\\n1', 'hidden': False}, {'code': '>>> y\\n2', 'hidden': True}]}]}
"""


@pytest.mark.parametrize(
    ("cells", "points", "runs"),
    [
        pytest.param(["x, y = 1, 2"], 2, ONCE, id="never asked for"),
        pytest.param(["x, y = 1, 2\ngrader.check('q1')", "x = y = 0"], 2, ONCE, id="asked for in the middle"),
        pytest.param(
            ["x = y = 0\ngrader.check('q1')", "x, y = 1, 2\ngrader.check('q1')"], 2, ONCE, id="the last counts"
        ),
        pytest.param(["x, y = 1, 2\nfor n in range(30):\n    grader.check('q1')", "y = 0"], 2, ONCE, id="in a loop"),
        pytest.param(["x, y = 1, 0\ngrader.check('q1')", "y = 2"], 1, TWICE, id="lost"),
        pytest.param([f"{THREAD}\nx, y = 1, 2", "grader.check('q1')", "y = 0"], 2, TWICE, id="a thread"),
        pytest.param(
            ["def ask():\n    x, y = 1, 2\n    grader.check('q1', locals())", "ask()"],
            2,
            ONCE,
            id="names of a function",
        ),
    ],
)
def test_otter_snapshots(otter: Runs, cells: list[str], points: int, runs: int) -> None:
    start = "import otter\ngrader = otter.Notebook()"
    text = notebook([otter_cell(f"c{at}", source) for at, source in enumerate([start, *cells])])
    assert otter.graded({"hw.ipynb": text}) == ({"q1": points}, runs)


@pytest.fixture(scope="module")
def otter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("snapshots-otter")
    runs = Runs(folder / "course", import_otter(autograder(folder, {"q1": OTTER}, {})))
    yield runs
    runs.course.process.close()


LATER: Final = [
    solution("f", f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION"),
    hidden_test("first", HIDDEN.replace("assert", "from math import isclose\nlimit = 9\nassert")),
    hidden_test("second", "assert isclose(f(3), limit)"),
    hidden_test("third", "limit = 4\nassert f(2) == limit"),
]


def test_hidden_names_of_earlier_cells(tmp_path: Path) -> None:
    put(tmp_path / "source" / "ps1" / FILES[0], notebook(LATER))
    runs = Runs(tmp_path / "course", import_nbgrader(tmp_path / "source" / "ps1"))
    try:
        for f, points in [(RIGHT, (1, 1, 1)), ("def f(x):\n    return 2 * x", (0, 0, 1))]:
            won, _ = runs.graded({FILES[0]: notebook([LATER[0] | {"source": f}, *LATER[1:]])})
            assert (won["first"], won["second"], won["third"]) == points
        hidden = {test.number for test in runs.course.process.tests if test.visibility == "hidden"}
    finally:
        runs.course.process.close()
    assert hidden == {"first", "second"}
