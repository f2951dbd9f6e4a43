"""A public test that shows the right answer in its own source is found, however it is written; others are not."""

import textwrap

import pytest

from viva.release.answers_in_tests import asking_for_answers, written_answers

TOLD = {
    "a formula": 'agree_formula(submission.answers["4"], "4*d**2", ["d"])',
    "a choice": 'agree_choice(submission.answers["4"], ["A", "C"])',
    "a number by keyword": 'agree_number(submission.answers["4"], expected=0.375)',
    "an equation": 'assert submission.answers["4"].strip().lower() == "d"',
    "the other way round": 'assert "d" == submission.answers["4"]',
    "one of several": 'assert submission.answers["4"] in {"4d", "4*d"}',
    "through names": 'right = 4 * 64\nanswer = float(submission.answers["4"])\nagree(answer, right)',
    "a constant of the file": 'agree_formula(submission.answers["4"], RIGHT["4"], ["d"])',
    "in a loop": 'for name, right in [("4", "d"), ("5", "e")]:\n    agree_choice(submission.answers[name], right)',
    "in a helper": 'check(submission.answers["4"])',
    "in a helper by keyword": 'check(answer=submission.answers["4"])',
    "by a library": 'assert math.isclose(float(submission.answers["4"]), 0.375, rel_tol=1e-3)',
    "by a difference": 'assert abs(float(submission.answers["4"]) - 0.375) < 1e-3',
    "by pytest": 'assert float(submission.answers["4"]) == pytest.approx(0.375)',
    "by raising": 'if submission.answers["4"] != "d":\n    raise AssertionError("Your answer is not right.")',
    "by failing": 'if submission.answers["4"] != "d":\n    pytest.fail("Your answer is not right.")',
    "by cases": 'match submission.answers["4"]:\n    case "d":\n        return\nraise AssertionError("no")',
    "computed": 'agree_number(submission.answers["4"], math.sqrt(16) * 2)',
}
KEPT = {
    "the key": 'agree_formula(submission.answers["4"], key.answers["4"], ["d"])',
    "the key through a name": 'right = key.answers["4"]\nagree_formula(submission.answers["4"], right, ["d"])',
    "what the key computes": 'agree(submission.answers["4"], key.pad([[1, 2], [3]], 0))',
    "a list that is filled": 'right = []\nright.append(key.f(1))\nagree(submission.answers["4"], right)',
    "the form": 'answer = submission.answers["4"]\nassert len(answer) == 3\nassert np.asarray(answer).shape == (3, 3)',
    "a range": 'assert 0 < float(submission.answers["4"]) < 1',
    "empty": 'assert submission.answers["4"] != ""\nassert submission.answers.get("4") is not None',
    "how it is read": 'kind = "row" if submission.answers["4"] == "row" else "column"\nagree(kind, key.kind(1))',
    "code": "agree(student.f(2), 4)",
    "code next to an answer": 'scale = submission.answers["4"]\nagree(student.f(2), 4)',
    "a parameter of the test": 'agree(submission.answers["4"], right_by_fixture)',
}
FILE = """
RIGHT = {{"4": "4*d**2"}}

def check(answer):
    assert answer == "4*d**2"

def test_it(submission, student, key, right_by_fixture):
{body}

def test_hidden(submission):
    agree_formula(submission.answers["5"], "5*d", ["d"])
"""


@pytest.mark.parametrize("how", TOLD)
def test_a_test_that_tells_its_answer_is_found(how: str) -> None:
    (found,) = written_answers(FILE.format(body=textwrap.indent(TOLD[how], "    ")), ["test_it"])
    assert found.test == "test_it" and found.line in range(4, 12)


@pytest.mark.parametrize("how", KEPT)
def test_a_test_that_tells_nothing_is_not(how: str) -> None:
    assert written_answers(FILE.format(body=textwrap.indent(KEPT[how], "    ")), ["test_it"]) == []


def test_an_answer_given_by_parametrize_is_found() -> None:
    source = '@pytest.mark.parametrize("name, right", [("4", "d")])\ndef test_it(submission, name, right):\n'
    assert written_answers(source + "    agree_choice(submission.answers[name], right)\n", ["test_it"])
    assert (
        written_answers(source + "    agree_choice(submission.answers[name], key.answers[name])\n", ["test_it"]) == []
    )


def test_tests_that_look_an_answer_up_are_found_also_through_helpers() -> None:
    source = """
def expected(key, number):
    return key.answers[number]

def checked(key): return expected(key, "1") == 1
def test_helper(submission, key): assert checked(key)
def test_itself(submission, key): assert key.answers.get("2") is None
def test_other(submission, key): assert submission.answers["2"] == key.half(4)
"""
    assert asking_for_answers(source) == {"expected", "checked", "test_helper", "test_itself"}
