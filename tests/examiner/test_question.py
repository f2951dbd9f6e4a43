"""What staff are shown of a question to a box."""

import pytest

from viva.examiner.boxes.question import SHOWN_CAP, Question

REPLY = {"value": 3, "changed": [], "differs": False, "raised": None}


@pytest.mark.parametrize(
    ("question", "asked", "answered"),
    [
        (Question("call", "f", {"args": [1, "a"], "kwargs": {"k": None}}, value=3), "f(1, 'a', k=None)", "3"),
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
        (Question("find", "f", {}, value={"found": False}), "find f", "not defined"),
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
