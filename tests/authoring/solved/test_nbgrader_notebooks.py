"""A notebook of nbgrader is taken over with all that its metadata say: whole cells as solutions, words, tasks."""

import json
from typing import Any

import pytest

from viva.config import load_course
from viva.plugins.authoring.empty_course import make_course
from viva.plugins.authoring.solved.from_solution import from_solution
from viva.plugins.authoring.solved.new_files import Made
from viva.plugins.authoring.source.source_cells import ANSWER_HERE
from viva.submissions.notebook_cells import read_notebook
from viva.submissions.notebook_prose import Questions

SECRET = "because of the tails"


def cell(kind: str, source: str, **about: object) -> dict[str, Any]:
    metadata = {"nbgrader": {"schema_version": 3, **about}} if about else {}
    made = {"cell_type": kind, "id": f"c{abs(hash(source))}", "metadata": metadata, "source": source}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def solution(source: str, name: str, kind: str = "code", **about: object) -> dict[str, Any]:
    return cell(kind, source, grade_id=name, solution=True, locked=False, **{"grade": False, **about})


CELLS = [
    cell("markdown", "# Homework\n\nWrite `spread`."),
    solution(
        "import numpy as np\n\ndef spread(x):\n    '''Return the range.'''\n    return max(x) - min(x)",
        "cell-" + "0" * 16,
    ),
    cell("code", "assert spread([1, 4]) == 3\nspread([2.5, 1.0])", grade_id="t1", grade=True, points=2, locked=True),
    solution("scale = spread([1, 7]) / 2", "scale"),
    cell("code", "assert scale == 3", grade_id="t2", grade=True, points=1, locked=True),
    cell("markdown", "Why is the range rarely used?"),
    solution(SECRET, "why_rarely", "markdown", grade=True, points=4),
    cell("markdown", "Describe a plot.", grade_id="cell-" + "1" * 16, task=True, points=5, locked=True, grade=False),
    solution("import matplotlib.pyplot as plt\nx = 3\nplt.plot([x])", "plot", grade=True, points=2),
    cell("markdown", "Another task, for nothing.", grade_id="x", task=True, points=0, locked=True, grade=False),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The notebook in a new course."""
    folder = tmp_path_factory.mktemp("nbgrader")
    make_course(folder / "course")
    notebook = {"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "hw.ipynb").write_text(json.dumps(notebook))
    return from_solution(load_course(folder / "course"), "hw", folder / "hw.ipynb")


def test_questions_follow_the_metadata(made: Made) -> None:
    assert [(q.number, q.title, float(q.points or 0), q.names) for q in made.questions] == [
        ("1", "", 2, ["spread"]), ("scale", "", 1, ["scale"]), ("3", "Why rarely", 4, []), ("4", "", 5, []),
        ("5", "Plot", 2, []),
    ]  # fmt: skip


def test_starter_hides_solutions_and_model_answers(made: Made) -> None:
    starter = (made.folder / "starter" / "hw.ipynb").read_bytes()
    text = starter.decode()
    for hidden in (SECRET, "max(x)", "scale = spread", "plt.plot"):
        assert hidden not in text
    assert "def spread(x)" in text and "Return the range." in text
    notebook = read_notebook(starter)
    assert "**5 Plot**" in text
    texts = Questions([], ["3", "4", "5"], [notebook]).texts(notebook)
    assert [texts[number,].split("\n")[0] for number in ("3", "4")] == [ANSWER_HERE, ANSWER_HERE]
    assert SECRET in (made.folder / "rubric.yaml").read_text("utf-8")
