"""Where the student's own code raises, the results say which functions take other arguments than the starter's."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, Examined, write_course
from tests.support.table_rows import Rows
from viva.examiner.other_parameters import other_parameters
from viva.submissions.starter_code import parameters_of

STARTER = """
def scaled(x, factor, shift=0): pass

class Model:
    def __init__(self, ntoken, nhead): pass
    def forward(self, source, mask): pass
"""
FITTING = [
    "def scaled(x, factor): pass",
    "def scaled(a, b, c): pass",
    "def scaled(*args, **kwargs): pass",
    "def scaled(x, factor, shift=0, verbose=False): pass",
    "def another(x): pass",
    "class Model:\n    def __init__(self, ntoken, nhead, dropout=0.1): pass\n    def helper(self): pass",
    "scaled = lambda factor, x: x",
    "def scaled(x, factor",
]
OTHER = [
    ("def scaled(factor, x, shift=0): pass", "`scaled(factor, x, shift)` where the starter has `(x, factor, shift)`"),
    ("def scaled(x): pass", "`scaled(x)` where the starter has `(x, factor, shift)`"),
    ("def scaled(x, factor, shift, log): pass", "`scaled(x, factor, shift, log)` where the starter has"),
    (
        "class Model:\n    def forward(self, source): pass",
        "`Model.forward(source)` where the starter has `(source, mask)`",
    ),
    (
        "class Model:\n    def __init__(self, nhead, ntoken): pass",
        "`Model.__init__(nhead, ntoken)` where the starter has `(ntoken, nhead)`",
    ),
]


def note(source: str, errors: str = "in scaled, in Model") -> str:
    asked = parameters_of("solution.py", STARTER.encode())
    return other_parameters(asked, [parameters_of("solution.py", source.encode())], errors)


def test_fitting_parameters() -> None:
    with Rows() as row:
        for source in FITTING:
            with row(source):
                assert note(source) == ""


def test_parameters_of_function_that_did_not_raise() -> None:
    assert note("def scaled(factor, x, shift=0): pass", "in forward, output = Model(3, 4)") == ""


def test_other_parameters_are_named() -> None:
    with Rows() as row:
        for source, said in OTHER:
            with row(source):
                assert said in note(source)


@pytest.mark.parametrize(
    ("source", "noted"),
    [
        ("def scaled(factor, x): return len(factor) * x", True),  # raises where the arguments arrive
        ("def scaled(factor, x): return 0", False),  # is wrong for another reason
        ("def scaled(x, factor): return len(x)", False),
    ],
)
def test_parameters_noted_if_code_raises(tmp_path: Path, source: str, noted: bool) -> None:
    test = "def test_it(student, key):\n    agree(student.scaled(3, 2), key.scaled(3, 2))\n"
    course = write_course(
        tmp_path, tests=f"from viva.grading import agree\n\n{test}", key="def scaled(x, factor): return x * factor\n"
    )
    folder = tmp_path / "assignments" / NAME / "starter"
    folder.mkdir()
    (folder / "solution.py").write_text("def scaled(x, factor): pass\n", "utf-8")
    with Examined(course) as examined:
        notes = examined.score(source).notes
    said = "Some of your functions take other arguments than tests pass: `scaled(factor, x)` where the starter has"
    assert any(line.startswith(said) for line in notes) == noted
