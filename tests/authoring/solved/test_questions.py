"""Questions of a solved notebook or module: headings, markers and metadata; what students write belongs to one."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.support.solved_course import cells_of
from tests.support.table_rows import Rows
from viva.plugins.authoring.solved.comment_headings import questions_in
from viva.plugins.authoring.solved.from_solution import with_own_marks
from viva.plugins.authoring.solved.questions import Question, has_markers, questions_of
from viva.plugins.authoring.solved.solution_regions import with_markers
from viva.plugins.authoring.source.solution_markers import TODO, stripped
from viva.plugins.authoring.source.source_cells import ANSWER_HERE, Cell, without_solutions
from viva.plugins.authoring.source.starter import read_source


def markdown(text: str) -> Cell:
    return Cell("markdown", text, 1)


def code(text: str, **nbgrader: object) -> Cell:
    return Cell("code", text, 2, nbgrader or None)


FUNCTION = code("def f(x):\n    return x")


def first(*cells: Cell) -> Question:
    return questions_of(cells)[0]


def points_of(cells: Sequence[Cell], names: str) -> list[tuple[Any, ...]]:
    """Number, points and the names of a kind, question by question."""
    return [(question.number, question.points, getattr(question, names)) for question in questions_of(cells)]


def test_heading_tells_number_title_and_points() -> None:
    with Rows() as row:
        for heading, number, title, points in [
            ("## 2.1 Attention (5 points)", "2.1", "Attention", 5),
            ("### Question 3: Masks [2.5 pts]", "3", "Masks", Fraction(5, 2)),
            ("# Problem 1a. Softmax", "1a", "Softmax", None),
            ("## 2.4 Beams\nWorth 6 points.", "2.4", "Beams", 6),
            ("#### 3(c)\nrubric={points:3}", "3c", "", 3),
            ("## 5 (2 points) Greedy", "5", "Greedy", 2),
        ]:
            with row(heading):
                found = first(markdown(heading), FUNCTION)
                assert (found.number, found.title, found.points) == (number, title, points)


def test_section_whose_parts_add_up_is_no_question() -> None:
    given, own = code("def read():\n    return 1"), FUNCTION
    with Rows() as row:
        for headings, numbers in [
            (["## 1 Counts (5 points)", "### 1.1 (2 points)", "### 1.2 (3 points)"], ["1.1", "1.2"]),
            (["## 1 Counts (5 points)", "### 1a (2 points)", "### 1b (3 points)"], ["1a", "1b"]),
            (["## 1 Counts (5 points)", "### 1.1 (2 points)", "### 1.2 (2 points)"], ["1", "1.1", "1.2"]),
            (["## 1 Counts (5 points)", "### 2.1 (2 points)", "### 10 (3 points)"], ["1", "2.1", "10"]),
        ]:
            with row(headings):
                cells = [markdown(headings[0]), given, markdown(headings[1]), own, markdown(headings[2])]
                assert [question.number for question in questions_of(cells)] == numbers


def test_names_of_questions() -> None:
    found = questions_of(cells_of("structures"))
    assert [(q.number, q.functions, q.classes) for q in found] == [
        ("1", [], ["Stack"]),
        ("2", ["flatten", "fibonacci"], []),
        ("3", ["reverse", "greet"], []),
    ]


def test_question_in_words() -> None:
    *_, last = questions_of(cells_of("attention"))
    assert last.is_written and last.number == "2.3" and last.points == 3
    sections = questions_of([markdown("## 2 Attention (10 points)"), markdown("## 2.1 Masks (4 points)"), FUNCTION])
    assert [question.number for question in sections] == ["2.1"]


def test_prose_of_a_question() -> None:
    asked, part = markdown("## 2.3 Why? (3 points)"), markdown("## Part B\nMore.")
    answers = [markdown("### So\nBecause."), markdown("## Your answer\nTherefore.")]
    question = first(asked, *answers, part, markdown("Text"))
    assert question.prose == [answer.source for answer in answers]
    cells = with_markers([asked, *answers, part, FUNCTION], [question])
    assert [cell.source for cell in without_solutions(cells)] == [
        "## 2.3 Why? (3 points)",
        ANSWER_HERE,
        ANSWER_HERE,
        "## Part B\nMore.",
        FUNCTION.source,
    ]


def test_nbgrader_and_otter() -> None:
    solution = code("def f(x):\n    return x", solution=True, grade=False, grade_id="sum")
    tests = code("assert f(1) == 1", grade=True, points=2, grade_id="test_sum")
    assert points_of([solution, tests, tests], "functions") == [("sum", 4, ["f"])]
    generated = code("def f(x):\n    return x", solution=True, grade=True, points=2, grade_id="cell-0123456789abcdef")
    assert points_of([markdown("### 1.1 Sums"), generated], "functions") == [("1.1", 2, ["f"])]
    begins = Cell("raw", "# BEGIN QUESTION\nname: q1\npoints: 3", 1)
    marked = code("def f(x):\n    return x # SOLUTION")
    assert points_of([begins, marked], "functions") == [("q1", 3, ["f"])]
    own = [Cell("raw", "# BEGIN SOLUTION", 3), FUNCTION, Cell("raw", "# END SOLUTION", 4), code("def helper(): pass")]
    assert [(q.number, q.functions) for q in questions_of([begins, *own])] == [("q1", ["f"])]


def test_jupytext_cells_are_read_with_their_markers(tmp_path: Path) -> None:
    text = (
        '# %% [markdown]\n"""\n## 1 Sums\nGo on.\n"""\n'
        '# %% nbgrader={"grade": false, "grade_id": "f", "solution": true}\ndef f():\n    return 1\n'
        '# %% nbgrader={"grade": true, "grade_id": "t", "locked": true, "points": 5}\nassert f() == 1\n'
        "# %% [markdown]\n# ### BEGIN SOLUTION\n# %%\ng = 1\n# %% [markdown]\n# ### END SOLUTION\n"
    )
    (tmp_path / "m.py").write_text(text, "utf-8")
    cells = read_source(tmp_path / "m.py")
    assert cells[0].source == "## 1 Sums\nGo on."
    assert [(cell.kind, cell.source) for cell in cells[3:]] == [
        ("raw", "# BEGIN SOLUTION"), ("code", "g = 1"), ("raw", "# END SOLUTION"),
    ]  # fmt: skip
    assert points_of(cells, "names") == [("f", 5, ["f", "g"])]
    assert [cell.source for cell in without_solutions(cells)][1:] == [f"{TODO}\n...", "assert f() == 1", f"{TODO}\n..."]


def test_comment_about_a_solution() -> None:
    cells = [markdown("## 1 Sum (2 points)"), code("def f(x):\n    ## SOLUTION: it is short\n    return x")]
    assert not has_markers(cells) and first(*cells).functions == ["f"]
    assert has_markers([code("### BEGIN SOLUTION (part a)\nx = 1\n### END SOLUTION")])


def test_with_markers() -> None:
    source = '''@cached
def f(x):
    """Doubles."""
    # a hint that only the author needs
    y = 2 * x

    return y

class C:
    """A class."""
    size = 3

    def g(self): return 1

    def h(self,
          x):
        return x
print(f(2))'''
    [cell] = with_markers([code(source)], [Question("1", functions=["f"], classes=["C"])])
    starter, marked = stripped(cell.source)
    assert marked
    compile(cell.source, "marked", "exec")
    compile(starter, "starter", "exec")
    assert starter.count("raise NotImplementedError") == 3
    assert (
        "2 * x" not in starter and "a hint" not in starter and "return x" not in starter and "return 1" not in starter
    )
    assert all(kept in starter for kept in ('"""Doubles."""', "size = 3", "print(f(2))", "@cached"))


def test_answers_in_variables() -> None:
    """The form that the student guide names: without a marker, the starter held the solution."""
    cells = [
        markdown("## 7.2 Choice (3 points)\n\n* (A) one\n* (B) two"),
        code('answer_7_2 = "A"  # not B\nseed = 3; q7_2 = "A"'),
        markdown("## 8 Counts (2 points)"),
        code('answers = {\n    "8.1": 12,  # all of them\n    "8.2": [3, 4],\n}\na1 = 5'),
    ]
    questions = questions_of(cells)
    assert [question.values for question in questions] == [["answer_7_2", "q7_2"], ["answers"]]
    marked = with_markers(cells, questions)
    starter = [cell.source for cell in without_solutions(marked)]
    assert starter[1] == "answer_7_2 = ...\nseed = 3\nq7_2 = ..." and starter[3] == "answers = ...\na1 = 5"
    for cell in marked:
        compile(cell.source if cell.kind == "code" else "", "marked", "exec")


MODULE = '''"""Homework.

# ## 9 Not a heading (5 points)
"""
import math

# ## 1.1 Area (5 points)
# Of a circle.
# BEGIN SOLUTION
def area(r):
    # ## 7 Inside (2 points)
    return math.pi * r ** 2
# END SOLUTION


# A comment without a number.
# %% [markdown]
# 1.2 Length and angle (2.5 pts)
#
# Both of a vector.
# %%
def length(v):  # SOLUTION
    return math.hypot(*v)

def angle(v):  # SOLUTION
    return math.atan2(*v)

# ## 2 Why? (3 points)
# In words.
'''


def questions_of_module(text: str) -> list[tuple[str, str, object, list[str]]]:
    questions = questions_in([Cell("code", text, 1)])
    return [(each.number, each.title, each.points, each.names) for each in questions]


def test_headings_in_comments() -> None:
    assert questions_of_module(MODULE) == [
        ("1.1", "Area", 5, ["area"]),
        ("1.2", "Length and angle", 2.5, ["length", "angle"]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# 1. first\n# 2. second\ndef f(x):\n    return x\n",
        "# BEGIN SOLUTION\ndef f(x):\n    return x\n# ## 3 Inside (2 points)\n# END SOLUTION\n",
    ],
)
def test_other_comments(text: str) -> None:
    ((_, _, points, names),) = questions_of_module(text)
    assert points is None and names == ["f"]


BODY = "    y = 2 * x  # the secret"
PAIRS = [
    ("    # YOUR CODE STARTS HERE", "    # YOUR CODE ENDS HERE"),
    ("    # *****START OF YOUR CODE (DO NOT DELETE/MODIFY THIS LINE)*****",
     "    # *****END OF YOUR CODE (DO NOT MODIFY THIS LINE)*****\n    #####\n    #  END OF YOUR CODE  #"),
    ("    ### YOUR CODE HERE (~3 lines)", "    ### END YOUR CODE"),
    ("    ### SOLUTION", "    ### TEMPLATE\n    # # INSERT YOUR CODE HERE\n    ### END SOLUTION"),
]  # fmt: skip


def test_course_markers() -> None:
    with Rows() as row:
        for begin, end in PAIRS:
            with row(begin):
                found = with_own_marks([Cell("code", f"def f(x):\n{begin}\n{BODY}\n{end}\n    return y", 1)])
                assert has_markers(found)
                released = without_solutions(found)[0].source
                assert "secret" not in released and released.endswith("    return y")


def test_other_headings() -> None:
    with Rows() as row:
        for heading in [
            "## Attention is all you need",
            "Some 2 words",
            "**2 of 3** are right",
            "# 2024: a year in NLP",
        ]:
            with row(heading):
                assert first(markdown(heading), FUNCTION).number == "1"  # its place, as nothing numbers it


def test_headings_in_otter_questions() -> None:
    begins, ends = (
        Cell("raw", "# BEGIN QUESTION\nname: q1\npoints:\n    - 1\n    - 2", 1),
        Cell("raw", "# END QUESTION", 9),
    )
    solved = code(
        "f = None\n# BEGIN SOLUTION\nf = 3\n# END SOLUTION", grade_id="c", solution=True, grade=True, points=0
    )
    cells = [markdown("## Exercise 1"), begins, markdown("### 1.1 Sums"), solved, ends, markdown("### 2 (4 points)")]
    cells.append(code("g = 1  # SOLUTION"))
    assert points_of(cells, "values") == [("q1", 3, ["f"]), ("2", 4, ["g"])]


def test_no_course_markers() -> None:
    for source in [
        f"def f(x):\n    # YOUR CODE HERE\n{BODY}",
        f"def f(x):\n{BODY}\n    ### END CODE HERE ###",
        f"def f(x):\n    # YOUR CODE HERE\n    ### BEGIN SOLUTION\n{BODY}\n    ### END SOLUTION",
        f"def f(x):\n    ### SOLUTION\n{BODY}",
        "print('### START CODE HERE ###')\nx = 1\n# the end of your code",
    ]:
        cells = [Cell("code", source, 1), Cell("markdown", f"{PAIRS[0][0]}\n{PAIRS[0][1]}", 2)]
        assert with_own_marks(cells) == cells
