"""Small assignments as authors of nbgrader and otter write them, each with a class of notebooks.

Every question has a visible and a hidden test. Of five students three are right, one loses a hidden test alone, and one
has answered nothing.
"""

from dataclasses import dataclass
from typing import Any, Final

from bench.small_course import cell, notebook
from bench.tools import nbgrader_metadata


@dataclass(frozen=True)
class Question:
    """One function that students write."""

    name: str
    solution: str
    visible: str
    """An expression that is true for every answer that somebody has tried."""
    hidden: str
    """One that is true for right answers only."""
    nearly: tuple[str, str]
    """What to replace in the solution, and by what, to pass the visible test alone."""


@dataclass(frozen=True)
class Homework:
    """An assignment."""

    name: str
    start: str
    """Its first cell."""
    questions: tuple[Question, ...]
    work: str = ""
    """Its last cell, which computes for a while."""


STUB: Final = "raise NotImplementedError()"
RIGHT, NEARLY, UNTOUCHED = range(3)

_NUMPY: Final = (
    Question(
        "softmax",
        "def softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)",
        "np.allclose(softmax(np.zeros((2, 4))), 0.25)",
        "np.allclose(softmax(np.array([[1000.0, 0.0]])), [[1, 0]])",
        (" - x.max(-1, keepdims=True)", ""),
    ),
    Question(
        "attention",
        "def attention(q, k, v):\n    return softmax(q @ k.T / np.sqrt(q.shape[-1])) @ v",
        "attention(np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5))).shape == (2, 5)",
        "np.allclose(attention(np.eye(2), np.eye(2), np.eye(2))[0, 0], 1 / (1 + np.exp(-2 ** -0.5)))",
        (" / np.sqrt(q.shape[-1])", ""),
    ),
    Question(
        "causal",
        "def causal(n):\n    return np.tril(np.ones((n, n), bool))",
        "causal(3).sum() == 6",
        "not causal(3)[0, 1] and causal(3)[1, 0]",
        ("np.tril", "np.triu"),
    ),
)
_TABLES: Final = (
    Question(
        "totals",
        "def totals(sales):\n    return sales.groupby('shop').amount.sum().to_dict()",
        "totals(sales)['a'] == 3",
        "totals(sales) == {'a': 3, 'b': 5} and totals(sales.iloc[:0]) == {}",
        ("return sales", "return {'a': 3} if len(sales) == 0 else sales"),
    ),
    Question(
        "best",
        "def best(sales):\n    return sales.sort_values('amount').shop.iloc[-1]",
        "best(sales) == 'b'",
        "best(sales.assign(amount=-sales.amount)) == 'a'",
        ("sales.sort_values('amount').shop.iloc[-1]", "'b'"),
    ),
    Question(
        "shares",
        "def shares(sales):\n    return sales.amount / sales.amount.sum()",
        "abs(shares(sales).sum() - 1) < 1e-9",
        "shares(sales).round(3).tolist() == [0.125, 0.25, 0.625]",
        ("sales.amount / sales.amount.sum()", "sales.amount * 0 + 1 / len(sales)"),
    ),
)
_TEXT: Final = (
    Question(
        "ngrams",
        "def ngrams(tokens, n):\n    return list(zip(*(tokens[at:] for at in range(n))))",
        "ngrams('abc', 2) == [('a', 'b'), ('b', 'c')]",
        "ngrams('ab', 3) == [] and len(ngrams('abcd', 3)) == 2",
        ("range(n)", "range(2)"),
    ),
    Question(
        "clipped",
        "def clipped(candidate, reference):\n    return sum((Counter(candidate) & Counter(reference)).values())",
        "clipped('ab', 'ab') == 2",
        "clipped('aaa', 'ab') == 1",
        ("sum((Counter(candidate) & Counter(reference)).values())", "sum(c in reference for c in candidate)"),
    ),
    Question(
        "distance",
        "def distance(a, b):\n    row = list(range(len(b) + 1))\n    for i, x in enumerate(a, 1):\n"
        "        last, row[0] = row[0], i\n        for j, y in enumerate(b, 1):\n"
        "            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))\n    return row[-1]",
        "distance('kitten', 'sitting') == 3",
        "distance('', 'abc') == 3 and distance('ab', 'ba') == 2 and distance('aab', 'b') == 2",
        ("return row[-1]", "return row[-1] if a and b else 0"),
    ),
)
_SALES: Final = "sales = pd.DataFrame({'shop': ['a', 'a', 'b'], 'amount': [1, 2, 5]})"

HOMEWORK: Final = (
    Homework("arrays", "import numpy as np", _NUMPY),
    Homework("tables", f"import numpy as np\nimport pandas as pd\n{_SALES}", _TABLES),
    Homework("magics", f"%time import pandas as pd\n{_SALES}\n!echo ready", _TABLES),
    Homework("text", "from collections import Counter", _TEXT),
    Homework("long", "from collections import Counter", _TEXT, "distance('transfer ' * 150, 'learning ' * 150)"),
)


def kind_of(student: int) -> int:
    """Return what a student's notebook is like."""
    return (RIGHT, NEARLY, RIGHT, UNTOUCHED, RIGHT)[student % 5]


def points_of(homework: Homework, student: int) -> int:
    """Return the points that a student must get: one for each question."""
    return {RIGHT: len(homework.questions), NEARLY: len(homework.questions) - 1, UNTOUCHED: 0}[kind_of(student)]


def answers(homework: Homework, student: int | None) -> list[str]:
    """Return a student's answers, or the author's for None."""
    found = [question.solution for question in homework.questions]
    if student is not None and kind_of(student) == NEARLY:
        question = homework.questions[student % len(found)]
        found[student % len(found)] = question.solution.replace(*question.nearly)
    if student is not None and kind_of(student) == UNTOUCHED:
        found = [f"{solution.partition(':')[0]}:\n    {STUB}" for solution in found]
    return found


def nbgrader_notebook(homework: Homework, student: int | None = None) -> str:
    """Return a student's notebook of nbgrader, or the author's, with solutions and hidden tests."""
    cells = [cell("start", homework.start)]
    for question, answer in zip(homework.questions, answers(homework, student), strict=True):
        tests = f"assert {question.visible}"
        if student is None:
            answer = f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
            tests += f"\n### BEGIN HIDDEN TESTS\nassert {question.hidden}\n### END HIDDEN TESTS"
        cells += [
            cell(question.name, answer, nbgrader_metadata(question.name)),
            cell(f"test_{question.name}", tests, nbgrader_metadata(f"test_{question.name}", 1)),
        ]
    return notebook([*cells, *_work(homework)])


def otter_notebook(homework: Homework, student: int | None = None) -> str:
    """Return a student's notebook of otter, with a check after each answer."""
    cells = [cell("otter", "import otter\ngrader = otter.Notebook()"), cell("start", homework.start)]
    for question, answer in zip(homework.questions, answers(homework, student), strict=True):
        cells += [
            cell(question.name, answer),
            cell(f"check_{question.name}", f"grader.check({question.name!r})"),
        ]
    return notebook([*cells, *_work(homework)])


def otter_tests(homework: Homework) -> dict[str, str]:
    """Return the test files of otter, by their names."""
    return {f"tests/{q.name}.py": f"OK_FORMAT = True\ntest = {_otter_test(q)!r}\n" for q in homework.questions}


def _otter_test(question: Question) -> dict[str, Any]:
    visible = {"code": f">>> bool({question.visible})\nTrue", "hidden": False, "points": 0}
    hidden = {"code": f">>> bool({question.hidden})\nTrue", "hidden": True, "points": 1}
    suite = {"cases": [visible, hidden], "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    return {"name": question.name, "points": None, "suites": [suite]}


def _work(homework: Homework) -> list[dict[str, Any]]:
    return [cell("work", homework.work)] if homework.work else []
