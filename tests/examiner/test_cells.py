"""What the cells of a notebook printed and displayed, as tests read it from `submission.cells`."""

from tests.support.course_of_texts import Examined, by_name, examiner_fixture
from tests.support.words_course import notebook

TESTS = """
from viva.grading import agree, number

@number("1")
def test_mean(student, key):
    agree(student.mean([1.0, 2.0, 6.0]), key.mean([1.0, 2.0, 6.0]))

@number("2")
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
    "def mean(values):\n    return sum(values) / len(values)",
]

course = examiner_fixture(tests=TESTS, key=KEY, settings="limits: {load_s: 5}\n")


def test_outputs_of_cells(course: Examined) -> None:
    entries = by_name(course.graded({"work.ipynb": notebook(*CELLS)}).score)
    assert [entry.status.value for entry in entries.values()] == ["passed"] * 2, entries


def test_hanging_cell_loses_nothing_else(course: Examined) -> None:
    cells = [*CELLS[:2], "while True: pass", *CELLS[2:]]
    graded = course.graded({"work.ipynb": notebook(*cells)})
    assert [entry.status.value for entry in by_name(graded.score).values()] == ["passed"] * 2
    assert any("cell 3 of work.ipynb" in note and "did not finish in time" in note for note in graded.score.notes), (
        graded.score.notes
    )
