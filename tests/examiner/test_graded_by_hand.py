"""What a person grades is there for them whatever the code does: prose and answers are read before any code runs."""

import pytest

from tests.support.course_of_texts import Examined, by_name, examiner_fixture
from tests.support.editable_submission import zipped
from tests.support.table_rows import Rows
from tests.support.words_course import cell, notebook

TESTS = """
from viva.grading import agree_choice, needs_review

def test_prose(submission):
    needs_review(submission.written["2.1"], rubric="2.1")

def test_choice(submission, key):
    agree_choice(submission.answers["2.2"], key.answers["2.2"])

def test_code(submission):
    needs_review(submission.code("plot", "SIZE"), rubric="3")
"""
KEY = 'answers = {"2.2": "B"}\n\n\ndef plot():\n    return None\n'
SETTINGS = 'submission: {notebook: "*.ipynb", module: solution.py}\nlimits: {load_s: 1, submission_s: 30}\n'
PLOT = "@functools.lru_cache\ndef plot():\n    return '```'"
CODE = f"import functools\nSIZE = 3\n\n\n{PLOT}"
ENDS, HANGS = "import os\nos._exit(3)", "while True:\n    pass"
ANSWERS = 'answers:\n  "2.2": B\n'


examined = examiner_fixture(tests=TESTS, key=KEY, settings=SETTINGS)


def answered(last: str) -> str:
    """A notebook whose last cell is `last`."""
    return notebook(cell("## 2.1 Why?", "markdown"), cell("Because.", "markdown"), CODE, last)


def packed(files: dict[str, str]) -> dict[str, bytes]:
    """The files in an archive, as some learning platforms hand them over."""
    return {"homework.zip": zipped({f"homework/{path}": text for path, text in files.items()})}


@pytest.mark.parametrize("last", ["x = 1", ENDS, pytest.param(HANGS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("in_archive", [False, True])
def test_code_that_ends_its_box_costs_no_prose(examined: Examined, last: str, in_archive: bool) -> None:
    files = {"answers.yaml": ANSWERS, "mine.ipynb": answered(last)}
    found = by_name(examined.score(packed(files) if in_archive else files))
    assert found["test_prose"].written == "Because." and found["test_prose"].status == "needs_review"
    assert found["test_choice"].status == "passed"
    assert found["test_code"].written == f"````python\n{PLOT}\n\n\nSIZE = 3\n````"


def test_notebook_beside_module_that_exits(examined: Examined) -> None:
    found = by_name(examined.score({"solution.py": ENDS, "mine.ipynb": answered("x = 1")}))
    assert found["test_prose"].written == "Because."
    assert "def plot" in found["test_code"].written and "os._exit" not in found["test_code"].written


PROSE = [
    ({"answers.yaml": "answers: {Q2.1: Because.}"}, "Because."),
    ({"answers.yaml": "answers: {“2.1”: Because.}"}, "Because."),
    ({"answers (1).yaml": "written: {'2,1': Because.}"}, "Because."),
    ({"answers.yaml": "written: {2.1: One.}", "solution.py": "answers = {'2.1': 'Two.'}"}, "One."),
    ({"solution.py": "answers = {'2.1': 'One.'}\nanswers = {'2.2': 'B'}"}, "One."),
    ({"solution.py": "written = {'Q2.1': 'O' + 'ne.'}"}, "One."),
    ({"solution.py": "answer_2_1 = 'One.'\nimport os\nos._exit(3)"}, "One."),
]


def test_text_counts_wherever_it_is_declared(examined: Examined) -> None:
    with Rows() as row:
        for files, text in PROSE:
            with row(str(files)):
                score = examined.score({"solution.py": "x = 1", **files})
                assert by_name(score)["test_prose"].written == text


def test_missing_answer_in_archive(examined: Examined) -> None:
    assert examined.entry(packed({"solution.py": ENDS}), "test_prose").status == "needs_review"


def test_what_belongs_to_no_question_is_listed(examined: Examined) -> None:
    files = {"mine.ipynb": answered("x = 1").replace("## 2.1 Why?", "## Why?"), "answers.yaml": "9.9: B\n2.2: B\n"}
    notes = examined.score({**files, "answers-old.yaml": "2.1: A", "answers.txt": "2.1: A"}).notes
    assert "These names in the file of answers belong to no question: 9.9." in notes
    assert "This text belongs to no question that is answered in words: “## Why? Because.”." in notes
    assert "Ignored: answers-old.yaml; answers are read from answers.yaml." in notes
    assert "Ignored: answers.txt; answers are read from answers.yaml." in examined.score({"answers.txt": "x"}).notes


def test_code_of_every_file(examined: Examined) -> None:
    again = "def plot():\n    return 1\n\n\ndef plot():\n    return 2\n"
    found = examined.entry({"solution.py": again, "other.py": "plot = 1", "broken.py": "def plot(:"}, "test_code")
    assert found.written == ("```python\n# other.py\nplot = 1\n\n\n# solution.py\ndef plot():\n    return 2\n```")


def test_missing_code_is_empty_text(examined: Examined) -> None:
    assert examined.entry("def other(): pass", "test_code").written == ""
