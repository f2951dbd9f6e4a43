"""An answer by hand without its declared form: named before submission, and left to a person, never zero."""

from collections.abc import Iterator

import pytest

from tests.support.course_of_texts import NAME, Examined, by_name, write_course
from viva.model.grade_request import GradeOptions
from viva.plugins.authoring.source.answers_starter import refresh_answers

TESTS = """
from viva.grading import Unreadable, agree_choice, agree_formula, visibility

@visibility("hidden")
def test_who_is_right(submission, key):
    agree_choice(submission.answers["1h"], key.answers["1h"])

def test_size(submission):
    agree_formula(submission.answers["2"], "2*d", ["d"])

def test_own_form(submission):
    if submission.answers["3"] == "?":
        raise Unreadable("write a letter", submission.answers["3"])

def test_others(submission):
    assert submission.answers.readable(["1h", "2", "9"]) == [None, "2d", None]
"""
SETTINGS = 'answers: {"1h": "choice [first, second]", "2": formula in d, "3": text}\n'


@pytest.fixture(scope="module")
def examined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    root = tmp_path_factory.mktemp("examined")
    course = write_course(root, tests=TESTS, key='answers = {"1h": "first"}', settings=SETTINGS)
    course.assignment(NAME).starter.mkdir()
    refresh_answers(course.assignment(NAME))
    with Examined(course) as examiner:
        yield examiner


def answers(**texts: str) -> dict[str, str]:
    lines = [f'  "{number.removeprefix("q")}": "{text}"' for number, text in texts.items()]
    return {"answers.yaml": "\n".join(["answers:", *lines])}


@pytest.mark.parametrize("written", ["first", "FIRST.", "'first'"])
def test_answer_of_the_declared_form(examined: Examined, written: str) -> None:
    assert examined.entry(answers(q1h=written), "test_who_is_right").status == "passed"


def test_unreadable_answer_is_read_by_a_person(examined: Examined) -> None:
    entry = examined.entry(answers(q1h="the 1st one, since it is shorter"), "test_who_is_right")
    assert entry.status == "needs_review" and entry.earned == 0
    assert entry.written == "the 1st one, since it is shorter"
    assert entry.rubric == f"unreadable.{entry.test_id.replace('.py::', '.')}"
    assert "Your answer to 1h cannot be read as first or second" in entry.cases[0].staff_message


@pytest.mark.parametrize("written", ["", "  "])
def test_empty_answer_is_missing(examined: Examined, written: str) -> None:
    entry = examined.entry(answers(q2=written), "test_size")
    assert entry.status == "failed" and "No answer to question 2 was found" in entry.message


def test_grader_reads_an_answer_itself(examined: Examined) -> None:
    found = by_name(examined.score(answers(q1h="who knows", q2="2d", q3="?")))
    assert found["test_own_form"].status == "needs_review"
    assert found["test_own_form"].written == "?"
    assert "Your answer cannot be read: write a letter." in found["test_own_form"].message
    assert found["test_others"].status == "passed"


def test_check_names_every_unreadable_answer(examined: Examined) -> None:
    files = answers(q1h="the 1st one, since it is shorter", q2="2d + k", q3="a")
    notes = examined.grade(files, GradeOptions(visible_only=True)).score.notes
    about = [note for note in notes if " must be " in note]
    assert not any("No answer to" in note for note in notes)
    assert len(about) == 2
    assert about[0].startswith("`1h` must be first or second; got 'the 1st one, since it is shorter'")
    assert about[1].startswith("`2` must be a formula in d; got '2d + k'")
    assert not any(" must be " in note for note in examined.score(files).notes)
