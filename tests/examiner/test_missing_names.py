"""A name that is missing points to the place that failed, and a call that raises to functions with other parameters."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, Examined, by_name, examiner_fixture, write_course
from tests.support.table_rows import Rows
from tests.support.words_course import notebook
from viva.examiner.other_parameters import other_parameters
from viva.submissions.starter_code import parameters_of

TESTS = """
from viva.grading import agree

def test_double(student, key):
    agree(student.double(2), key.double(2))
"""
KEY = "def double(n): return 2 * n\n"
OTHER = "def other():\n    return 1\n"
ENDLESS = "next(n for n in iter(int, 1) if n)"
NESTED = "def outer():\n    def double(n):\n        return 2 * n"


examined = examiner_fixture(tests=TESTS, key=KEY, settings="limits: {load_s: 1}\n")


FAILED = "defines it and did not run to its end"
INSIDE = "defines it inside a function or a class."


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"work.ipynb": notebook("x = 1", "double = undefined(2)")}, f"cell 2 of work.ipynb {FAILED}: NameError"),
        ({"work.ipynb": notebook("x = 1", f"double = {ENDLESS}")}, f"cell 2 of work.ipynb {FAILED}"),
        ({"solution.py": f"{OTHER}\n\nclass A:\n    def double(self): pass\n"}, f"solution.py line 6 {INSIDE}"),
        ({"work.ipynb": notebook("x = 1", NESTED)}, f"cell 2 of work.ipynb, line 2 {INSIDE}"),
        (
            {"solution.py": "class double:\n    size = 1\n    other = missing\n"},
            f"solution.py line 1 {FAILED}: NameError",
        ),
    ],
)
def test_place_that_failed_is_named(examined: Examined, files: dict[str, str], said: str) -> None:
    message = by_name(examined.score(files))["test_double"].message
    assert message.startswith(f"`double` is not defined in your submission: {said}"), message


@pytest.mark.parametrize(
    "files",
    [
        {"work.ipynb": notebook("doubled = undefined(2)", "print(double)")},
        {"work.ipynb": notebook("undefined()", "def dobule(n):\n    return 2 * n")},
        {"solution.py": f"{OTHER}\nclass Model:\n    double = missing\n"},
        {"solution.py": OTHER},
    ],
)
def test_other_failures_are_not_blamed(examined: Examined, files: dict[str, str]) -> None:
    message = by_name(examined.score(files))["test_double"].message
    assert "not defined in your submission" in message and "did not run" not in message


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"solution.py": "double = ...\n"}, "`double` is still `...`: write your answer in its place."),
        (
            {"work.ipynb": notebook("double = ...", "def f():\n    double = 1")},
            "`double` is still `...`: write your answer in its place.",
        ),
        (
            {"work.ipynb": notebook("double = ...", "double = undefined(2)")},
            "`double` is not defined in your submission: cell 2 of work.ipynb defines it and did not run to its end",
        ),
    ],
)
def test_name_that_is_still_open(examined: Examined, files: dict[str, str], said: str) -> None:
    assert by_name(examined.score(files))["test_double"].message.startswith(said)


def test_submission_for_another_assignment(tmp_path: Path) -> None:
    course = write_course(tmp_path, tests=TESTS, key=KEY)
    for name, title, function in ((NAME, "Small", "double"), ("large", "Large", "triple")):
        folder = tmp_path / "assignments" / name
        (folder / "starter").mkdir(parents=True)
        (folder / "starter" / "solution.py").write_text(f"def {function}(n): pass\n", "utf-8")
        (folder / "assignment.yaml").write_text(f"title: {title}\n", "utf-8")
    (tmp_path / "grader.yaml").write_text(f"course: tiny\nassignments: [{NAME}, large]\n", "utf-8")
    sources = ("def triple(n): return 3 * n", "def other(n): return n", "def double(n): return n")
    with Examined(course) as examined:
        notes = [" ".join(examined.score(source).notes) for source in sources]
    none = "This was graded as “Small”, and your submission defines none of the names asked for (such as `double`)"
    assert notes == [f"{none}, but `triple` of “Large”: is it for that assignment?", f"{none}.", ""]


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
    "class Model:\n    def __init__(self, ntoken, nhead, dropout=0.1): pass\n    def helper(self): pass",
    "scaled = lambda factor, x: x",
]
OTHER_PARAMETERS = [
    ("def scaled(factor, x, shift=0): pass", "`scaled(factor, x, shift)` where the starter has `(x, factor, shift)`"),
    ("def scaled(x): pass", "`scaled(x)` where the starter has `(x, factor, shift)`"),
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


def test_parameters_without_exception() -> None:
    assert note("def scaled(factor, x, shift=0): pass", "in forward, output = Model(3, 4)") == ""


def test_other_parameters_are_named() -> None:
    with Rows() as row:
        for source, said in OTHER_PARAMETERS:
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
