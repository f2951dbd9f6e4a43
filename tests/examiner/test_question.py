"""What staff are shown of a question to a box."""

import numpy as np
import pytest

from viva.compare.show import show
from viva.examiner.boxes.question import SHOWN_CAP, Question

REPLY = {"value": 3, "changed": [], "differs": False, "raised": None}


@pytest.mark.parametrize(
    ("question", "asked", "answered"),
    [
        (Question("call", "f", {"args": [1, "a"], "kwargs": {"k": None}}, value=3), "f(1, 'a', k=None)", "3"),
        (Question("call", "f", {"args": [], "kwargs": {}}, value=REPLY), "f()", "3"),
        (Question("call", "f", {"args": [[1], [2]], "each": True}, value=[2, 4]), "f.each([[1], [2]])", "[2, 4]"),
        (
            Question("call", "f", {"args": [[1]]}, value={**REPLY, "raised": {"type": "KeyError", "message": "'x'"}}),
            "f([1])",
            "raises KeyError: 'x'",
        ),
        (
            Question("call", "f", {"args": [[1]]}, value={**REPLY, "changed": ["1"], "differs": True}),
            "f([1])",
            "3; changes its arguments: ['1']; answers differently the second time",
        ),
        (Question("call", "f", {"args": [np.zeros(2)]}, value={"a": 1}), f"f({show(np.zeros(2))})", "{'a': 1}"),
        (Question("find", "f", {}, value={"found": True}), "find f", ""),
        (Question("find", "f", {}, value={"found": False}), "find f", "not defined"),
        (
            Question("run", "", {"argv": ["python", "a.py"], "limit_s": 3}, value={}),
            "run argv=['python', 'a.py']",
            "{}",
        ),
        (Question("read", "the answer to 1", {}, value="B"), "read the answer to 1", "'B'"),
        (Question("call", "f", {"args": []}, outcome="ended"), "f()", "ended"),
    ],
)
def test_question_shown_as_python(question: Question, asked: str, answered: str) -> None:
    _, _, text, outcome = question.shown()
    assert (" ".join(text.split()), outcome) == (asked, answered)


def test_question_shown_is_short() -> None:
    long = "x" * 10 * SHOWN_CAP
    reply = {"raised": {"type": long, "message": long}}
    for question in (
        Question("call", "f", {"args": [long] * 9}, value=long),
        Question("call", "f", {"args": [], "kwargs": {"k": long}}, value=reply),
    ):
        assert all(len(part) <= 2 * SHOWN_CAP for part in question.shown())
