"""`%%viva_test` in a shell of IPython: what the author reads, and what becomes of such cells."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from viva.authoring.empty_course import make_course
from viva.authoring.live.magic import without_old_definitions
from viva.authoring.solved.from_solution import from_solution
from viva.authoring.source.source_cells import Cell
from viva.config import load_course
from viva.model.errors import UsageError

pytestmark = pytest.mark.long

SOLUTION = """
import numpy as np

SCALE = 2.0

def scaled(x):
    return SCALE * np.asarray(x, dtype=float)

def total(x):
    "The sum of the scaled values, 0 for none."
    return float(scaled(x).sum())
"""
WEAK = "%%viva_test 1.1\nagree(student.total([0]), key.total([0]))"
USES = "%%viva_test 1.1\nagree(student.total(np.arange(3)), SCALE * np.sum(range(3)))"
STRONG = "%%viva_test 1.1\nagree_on(student.total, key.total, sequences(numbers(), (0, 4)))"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A shell that knows the magic and has run the solution."""
    made = InteractiveShell()
    made.run_cell("%load_ext viva", store_history=True)
    made.run_cell(SOLUTION, store_history=True)
    yield made
    made.history_manager.end_session()


def said(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert shell.run_cell(cell, store_history=True).success
    return capsys.readouterr().out


def test_a_weak_test_misses_mistakes_and_a_strong_one_does_not(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    weak = said(shell, WEAK, capsys)
    assert weak.startswith("1.1:\nYour solution passes.\n") and "not caught:" in weak
    strong = said(shell, STRONG, capsys)
    assert "not caught:" not in strong
    assert "`total`: " in strong and "`scaled`: " in strong


def test_a_test_that_the_solution_fails_says_why(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Your solution does not pass: Your answer is 2; expected 3." in said(
        shell, "%%viva_test\nagree(student.total([1]), 3)", capsys
    )


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%viva_test\nagree(1, 1)", "asks about nothing"),
        ("%%viva_test\nagree(student.other(), 1)", "`other` is not defined yet"),
        (
            "%%viva_test\nagree(student.total([1]), missing)",
            "uses `missing`, which neither the notebook nor viva defines",
        ),
        ("%%viva_test\nagree(student.total([1]), total([1]))", "students write `total`: ask for `student.total`"),
        ("%%viva_test\nagree(student.total(", "line 1 of the test is not valid Python"),
    ],
)
def test_what_cannot_be_tried_is_said_in_a_sentence(
    cell: str, words: str, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    said_ = said(shell, cell, capsys)
    assert said_.startswith("viva: ") and words in said_ and "Traceback" not in said_


def test_a_test_has_what_the_notebook_imports_and_defines(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Your solution passes." in said(shell, USES, capsys)


def test_a_function_that_is_defined_again_counts_in_its_newest_form(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    said(shell, "def total(x):\n    return len(x)", capsys)
    assert "passes" in said(shell, "%%viva_test\nagree(student.total([5, 5]), 2)", capsys)
    cells = [Cell("code", "def f(): return 1\ny = 2", 1), Cell("code", "def f(): return 3", 2)]
    assert [cell.source for cell in without_old_definitions(cells)] == ["y = 2", "def f(): return 3"]


def taken_over(folder: Path, *tests: str, helpers: str = "") -> Path:
    """A notebook with tests as an assignment; the course's folder."""
    cells = [
        nbformat.v4.new_code_cell("%load_ext viva"),
        nbformat.v4.new_code_cell(helpers),
        nbformat.v4.new_markdown_cell("## 1.1 Sums (4 points)"),
        nbformat.v4.new_code_cell(SOLUTION),
        *(nbformat.v4.new_code_cell(test) for test in tests),
    ]
    path = folder / "solved.ipynb"
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), "utf-8")
    make_course(folder / "course")
    from_solution(load_course(folder / "course"), "sums", path)
    return folder / "course"


def test_tests_in_a_solved_notebook_become_the_tests_and_students_do_not_get_them(tmp_path: Path) -> None:
    root = taken_over(tmp_path, STRONG, "%%viva_test\nagree(student.total([1]), 2.0)")
    tests = (root / "assignments/sums/tests.py").read_text("utf-8")
    assert tests.count("def test_total(student, key):") == 1
    assert (
        "    agree_on(student.total, key.total, sequences(numbers(), (0, 4)))\n    agree(student.total([1]), 2.0)"
        in tests
    )
    assert "`scaled`" in tests, "it has no test of its own"
    for path in root.rglob("*.ipynb"):
        sources = ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]
        assert not [source for source in sources if "viva" in source]


def test_what_a_test_uses_of_the_notebook_comes_with_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/words.txt").write_text("a b c", "utf-8")
    read = "open('data/words.txt').read().split()"
    helpers = f"WORDS = {read}\ndef read():\n    return {read}"
    reads = "%%viva_test 1.1\nagree(student.read(), WORDS)\nagree(student.read(), key.read())"
    root = taken_over(tmp_path, USES, reads, helpers=helpers)
    tests = (root / "assignments/sums/tests.py").read_text("utf-8")
    given = ["import numpy as np", "", "from viva.grading import agree, number, weight"]
    assert tests.splitlines()[2:9] == [*given, "", f"WORDS = {read}", "", "SCALE = 2.0"]
    subprocess.run([sys.executable, "-m", "viva", "verify", "sums", "--no-mutants"], cwd=root, check=True)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("agree(1, 1)", "asks about nothing"),
        ("agree(", "is not valid Python"),
        ("agree(student.total([1]), tripled(1))", "`tripled`, which needs `scaled`, which students write"),
        ("agree(student.total(days), 1)", "`days` of the notebook, and viva has that name too"),
        ("agree(student.total([1]), twice(days))", "`days` of the notebook, and viva has that name too"),
        ("agree(student.total([1]), anything)", "neither the notebook nor viva"),
    ],
)
def test_a_test_that_cannot_be_written_is_refused(test: str, words: str, tmp_path: Path) -> None:
    helpers = "days = [1, 2]\ntripled = lambda x: scaled(x) * 1.5\ntwice = lambda x: [*x, *days]"
    with pytest.raises(UsageError, match=f"Cell .: .*{words}"):
        taken_over(tmp_path, f"%%viva_test\n{test}", helpers=helpers)
