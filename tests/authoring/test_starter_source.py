"""Solutions are taken out of one source: the markers of nbgrader and otter; the starter as notebook and as module."""

import json
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.release_course import write_course
from viva.model.errors import CourseError
from viva.plugins.authoring.source import starter_from
from viva.plugins.authoring.source.solution_markers import Unbalanced, stripped
from viva.plugins.authoring.source.source_cells import Cell, without_solutions

TODO = "# YOUR CODE HERE"
FUNCTION = "def f():\n    {}\n    return 2\n    {}\n"
EMPTY = f"def f():\n    {TODO}\n    raise NotImplementedError\n"
OWN_WORDS = '# BEGIN SOLUTION\na = 1\n# END SOLUTION\n""" # BEGIN PROMPT\na = ... # a number\n""" # END PROMPT'


@pytest.mark.parametrize(
    ("source", "starter"),
    [
        (FUNCTION.format("### BEGIN SOLUTION", "### END SOLUTION"), EMPTY),
        ("### BEGIN SOLUTION\nx = 4\n### END SOLUTION\nprint(1)", f"{TODO}\n...\nprint(1)"),
        ("assert f(1)\n### BEGIN HIDDEN TESTS\nassert f(907)\n### END HIDDEN TESTS\n", "assert f(1)\n"),
        ("x = 3 # SOLUTION\ny = x == 3\n", "x = ...\ny = x == 3\n"),
        ("x, y = f(a=1) # SOLUTION", "x, y = ..."),
        ("import secret # SOLUTION NO PROMPT\nz = 1", "z = 1"),
        ("## SOLUTION: how it works\nx = 3", "## SOLUTION: how it works\nx = 3"),
        ("# BEGIN SOLUTION NO PROMPT\na = 1\n# END SOLUTION\nb = 2", "b = 2"),
        (OWN_WORDS, "a = ... # a number"),
        ("nothing = 'to take out'  # the SOLUTION is yours", "nothing = 'to take out'  # the SOLUTION is yours"),
    ],
)
def test_marked_lines(source: str, starter: str) -> None:
    assert stripped(source)[0] == starter


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("### BEGIN SOLUTION\nx", "line 1: BEGIN SOLUTION has no END"),
        ("x\n### END SOLUTION", "line 2: END SOLUTION has no BEGIN"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", "line 2: BEGIN SOLUTION is inside"),
    ],
)
def test_unbalanced_marker(source: str, said: str) -> None:
    with pytest.raises(Unbalanced, match=said):
        stripped(source)


@given(st.lists(st.sampled_from(["x = 1", "", "    y = 2", "# text", "print('SOLUTION')"])))
def test_text_without_markers(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert stripped(text) == (text, False)


OTTER = [
    ("raw", "# ASSIGNMENT CONFIG\nname: x"),
    ("markdown", "# Title"),
    ("raw", "# BEGIN QUESTION\nname: q1\npoints: 2"),
    ("markdown", "How many?"),
    ("raw", "# BEGIN SOLUTION"),
    ("code", "answer = 42"),
    ("raw", "# END SOLUTION"),
    ("raw", "# BEGIN TESTS"),
    ("code", "assert answer == 42"),
    ("raw", "# END TESTS"),
    ("raw", "# END QUESTION"),
    ("raw", "# BEGIN QUESTION\nname: q2\nmanual: true"),
    ("raw", "# BEGIN PROMPT"),
    ("markdown", "Write here."),
    ("raw", "# END PROMPT"),
    ("raw", "# BEGIN SOLUTION"),
    ("markdown", "The answer is long."),
    ("raw", "# END SOLUTION"),
    ("raw", "# END QUESTION"),
]


def cells(pairs: list[tuple[str, str]]) -> list[Cell]:
    return [Cell(kind, source, number) for number, (kind, source) in enumerate(pairs, 1)]


def test_sections_of_otter() -> None:
    assert [(c.kind, c.source) for c in without_solutions(cells(OTTER))] == [
        ("markdown", "# Title"),
        ("markdown", "How many?"),
        ("code", "# YOUR CODE HERE\n..."),
        ("markdown", "Write here."),
    ]
    with pytest.raises(Unbalanced, match="BEGIN SOLUTION has no END"):
        without_solutions(cells(OTTER[:6]))


def test_solution_cells_of_nbgrader() -> None:
    solution: dict[str, object] = {"solution": True, "grade": False}
    made = without_solutions([Cell("code", "x = 1", 1, solution), Cell("markdown", "Because.", 2, solution)])
    assert [c.source for c in made] == ["# YOUR CODE HERE\n...", "*Your answer here.*"]


def test_notebook_and_module_of_one_source(tmp_path: Path) -> None:
    course = write_course(tmp_path)
    assignment = course.assignment("sums")
    assert starter_from(assignment) is None
    source = "# %% [markdown]\n# # Sums\n#\n# Add.\n\n# %%\n%matplotlib inline\nx = 3 # SOLUTION\n"
    (assignment.folder / "source.py").write_text(source)
    made = starter_from(assignment)
    assert made is not None and set(made) == {"sums.ipynb", "solution.py"}
    notebook = json.loads(made["sums.ipynb"])
    nbformat.validate(notebook)
    assert ["".join(c["source"]) for c in notebook["cells"]] == ["# Sums\n\nAdd.", "%matplotlib inline\nx = ..."]
    assert made["solution.py"].decode().endswith("# %%\n# %matplotlib inline\nx = ...\n")
    (assignment.folder / "source.py").unlink()
    (assignment.folder / "source.ipynb").write_bytes(made["sums.ipynb"])
    assert starter_from(assignment) == made


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("source.ipynb", "{", "cannot be read as a notebook: the notebook breaks off"),
        ("source.py", "### BEGIN SOLUTION", r"source.py: cell 1 of all cells, line 1: BEGIN"),
    ],
)
def test_invalid_source(tmp_path: Path, name: str, text: str, said: str) -> None:
    assignment = write_course(tmp_path).assignment("sums")
    (assignment.folder / name).write_text(text)
    with pytest.raises(CourseError, match=said):
        starter_from(assignment)
