"""An assignment whose notebooks are run by a stock kernel, from bytes to score."""

import json
from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, Examined, by_name, examiner_fixture, write_course
from tests.support.words_course import notebook
from viva.config import load_course
from viva.model.errors import CourseError
from viva.model.grade_request import GradeOptions

pytestmark = pytest.mark.long

pytest.importorskip("ipykernel", reason="the stock kernel")

TESTS = """
import numpy as np
from viva.grading import agree, number

@number("1")
def test_mean(student, key, rng):
    values = rng.normal(size=5)
    agree(student.mean(values), key.mean(values))

@number("2")
def test_widget(student):
    slider = student.Slider.keep(3)
    slider.move(7)
    agree(slider.position, 7)

@number("3")
def test_cells(submission):
    first, second = submission.cells[:2]
    assert first.shown == ["table"] and first.outputs[0]["data"]["text/html"] == "<table></table>"
    assert second.printed == "hello\\n" and second.status == "ok" and "print" in second.source
"""
KEY = "def mean(values): return sum(values) / len(values)\n"
CELLS = [
    """class Table:
    def _repr_html_(self): return '<table></table>'
    def __repr__(self): return 'table'
Table()""",
    "print('hello')",
    "import numpy as np\ndef mean(values):\n    return np.mean(values)",
    """from comm import create_comm
class Slider:
    def __init__(self, value):
        self.position = value
        self.comm = create_comm(target_name="slider", data={"value": value})
        self.comm.on_msg(lambda m: setattr(self, "position", m["content"]["data"]["value"]))
    def move(self, value):
        message = {"content": {"comm_id": self.comm.comm_id, "data": {"value": value}}}
        get_ipython().kernel.comm_manager.comm_msg(None, None, message)""",
]


course = examiner_fixture(tests=TESTS, key=KEY, settings="kernel: true\nlimits: {load_s: 5}\n")


def test_graders_reach_kernel_objects(course: Examined) -> None:
    entries = by_name(course.graded({"work.ipynb": notebook(*CELLS)}).score)
    assert [entry.status.value for entry in entries.values()] == ["passed"] * 3, entries


def test_hanging_cell_of_kernel(course: Examined) -> None:
    cells = [*CELLS[:2], "while True: pass", *CELLS[2:]]
    graded = course.graded({"work.ipynb": notebook(*cells)})
    assert [entry.status.value for entry in by_name(graded.score).values()] == ["passed"] * 3
    assert any("cell 3 of work.ipynb" in note and "did not finish in time" in note for note in graded.score.notes), (
        graded.score.notes
    )


def test_kernel_that_dies(course: Examined) -> None:
    dead = course.graded({"work.ipynb": notebook("import os\nos._exit(1)")}).score
    assert all(entry.earned == 0 for entry in dead.entries)
    assert all(
        entry.status.value == "passed" for entry in course.graded({"work.ipynb": notebook(*CELLS)}).score.entries
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("kernel: true\nload: definitions\n", "load: run"),
        ("kernel: true\nlimits: {fork: false}\n", "fork: false"),
        ("kernel: [r]\n", "true, false, or the name of an installed kernel"),
        ("kernel: ../r\n", "true, false, or the name of an installed kernel"),
    ],
)
def test_invalid_kernel_settings(tmp_path: Path, settings: str, words: str) -> None:
    write_course(tmp_path, tests=TESTS, key=KEY, settings=settings)
    with pytest.raises(CourseError, match=words):
        load_course(tmp_path).assignment(NAME)


@pytest.mark.parametrize(("written", "kernel"), [("true", "python"), ("false", None), ("ir", "ir")])
def test_kernel_settings(tmp_path: Path, written: str, kernel: str | None) -> None:
    write_course(tmp_path, tests=TESTS, key=KEY, settings=f"kernel: {written}\n")
    assert load_course(tmp_path).assignment(NAME).kernel == kernel


def test_executed_notebook_of_kernel(course: Examined) -> None:
    graded = course.grade({"work.ipynb": notebook(*CELLS)}, GradeOptions(notebook=True))
    table, ready_message, *_ = json.loads(graded.notebook)["cells"]
    assert table["outputs"][0]["data"] == {"text/html": "<table></table>", "text/plain": "table"}
    assert ready_message["outputs"] == [{"output_type": "stream", "name": "stdout", "text": "hello\n"}]
