"""The starter's places for answers are made from the declared forms."""

import json
from pathlib import Path

import yaml

from tests.support.course_of_texts import NAME, write_course
from viva.plugins.authoring.source.answers_starter import refresh_answers
from viva.submissions.notebook_cells import read_notebook

FORMS = {"1h": "choice [first, second]; who is right", "1.10": "formula in T, m"}
RUBRIC = "questions:\n  '2': {title: Why, points: 1, items: [{id: right, points: 1, text: Because.}]}\n"


def notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": [text]} for n, text in enumerate(sources)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def test_starter_is_made_from_the_forms(tmp_path: Path) -> None:
    course = write_course(tmp_path, tests="", key="", settings=f"answers: {json.dumps(FORMS)}\n")
    assignment = course.assignment(NAME)
    (assignment.folder / "rubric.yaml").write_text(RUBRIC, "utf-8")
    assignment.starter.mkdir()
    with_cell, without = assignment.starter / "small.ipynb", assignment.starter / "other.ipynb"
    with_cell.write_text(notebook("import torch", "answers = {}"), "utf-8")
    without.write_text(notebook("x = 1"), "utf-8")
    untouched = without.read_bytes()
    assert refresh_answers(assignment) == [assignment.starter / "answers.yaml", with_cell]
    text = (assignment.starter / "answers.yaml").read_text("utf-8")
    assert yaml.safe_load(text) == {"answers": {"1h": None, "1.10": None}, "written": {"2": None}}
    assert '  "1h":                           # first or second; who is right\n' in text
    first, second = read_notebook(with_cell.read_bytes()).code
    assert first.source == "import torch"
    assert second.source.splitlines()[1] == '    "1h": None,                   # first or second; who is right'
    assert without.read_bytes() == untouched
    assert refresh_answers(assignment) == []


def test_assignment_that_declares_no_form(tmp_path: Path) -> None:
    assignment = write_course(tmp_path, tests="", key="").assignment(NAME)
    assignment.starter.mkdir()
    assert refresh_answers(assignment) == []
    assert not [*assignment.starter.iterdir()]
