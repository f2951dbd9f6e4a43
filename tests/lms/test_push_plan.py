"""The plan: a pure function of our grades and what the platform has."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.lms_grades import ADA, BO, grade
from tests.support.table_rows import Rows
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.plugins.cohorts.lms.feedback_files import FeedbackFile
from viva.plugins.cohorts.lms.platform import Account, Present, Task
from viva.plugins.cohorts.lms.pushing import CHANGES, Action, Row, Rules, plan_push

TASK = Task("Words", Fraction(100))
PAGE = FeedbackFile(Path("ada.html"), "0123456789abcdef")
ACCOUNT = Account(101, "Ada", {"canvas": "101", "login": "ada", "email": "ada@x.edu", "sis": "4711"})


def there(points: str | None, **fields: Any) -> Present:
    exact = None if points is None else Fraction(points)
    return Present(ACCOUNT, exact, **fields)


def planned(ours: ReturnedGrade, present: Present, rules: Rules | None = None, *, page: bool = False) -> Row:
    return plan_push([ours], [present], TASK, rules or Rules(), {"ada": PAGE} if page else {})[0]


GRADED, EXCUSED = grade(ADA, "80"), grade(ADA, None, "excused")
ACTIONS = [
    (GRADED, there(None), Action.SET),
    (GRADED, there("79.9999"), Action.RAISE),
    (GRADED, there("80"), Action.SAME),
    (GRADED, there("80.00001"), Action.SAME),
    (GRADED, there("80.0001"), Action.HIGHER_THERE),
    (GRADED, there(None, excused=True), Action.EXCUSED_THERE),
    (GRADED, there(None, is_assigned=False), Action.NOT_ASSIGNED),
    (grade(ADA, "0"), there(None), Action.SET),
    (grade(ADA, "0"), there("0"), Action.SAME),
    (grade(ADA, "0"), there("0.01"), Action.HIGHER_THERE),
    (grade(ADA, None, "open"), there("5"), Action.NOT_COMPLETE),
    (grade(ADA, None, "missing"), there("5"), Action.NO_GRADE),
    (grade(ADA, "30", "open"), there(None), Action.SET),  # --with-open
    (EXCUSED, there(None), Action.EXCUSE),
    (EXCUSED, there("5"), Action.GRADED_THERE),
    (EXCUSED, there(None, excused=True), Action.SAME),
    (EXCUSED, there(None, is_assigned=False), Action.NOT_ASSIGNED),
    (replace(GRADED, student=BO), there(None), Action.NOT_ENROLLED),
    (grade(BO, None, "open"), there(None), Action.NOT_COMPLETE),
    (grade(BO, None, "missing"), there(None), Action.NO_GRADE),
]


def test_action_follows_from_both_grades() -> None:
    with Rows() as row:
        for number, (ours, present, action) in enumerate(ACTIONS):
            with row(number, action):
                found = planned(ours, present)
                assert found.action is action
                assert (found.change is not None) == (action in CHANGES)


def test_lower_allows_a_lower_grade_or_an_excuse() -> None:
    allowed = Rules(lower=True)
    assert planned(GRADED, there("81"), allowed).action is Action.LOWER
    assert planned(EXCUSED, there("81"), allowed).action is Action.EXCUSE
    assert planned(GRADED, there(None, excused=True), allowed).action is Action.EXCUSED_THERE
    change = planned(EXCUSED, there("81"), allowed).change
    assert change is not None and change.excuse and change.points is None


def test_moodle_has_no_excuses() -> None:
    assert planned(EXCUSED, there(None), Rules(excuses=False)).action is Action.NO_GRADE


FEEDBACK = [
    (GRADED, there(None), True),
    (GRADED, there("80"), True),
    (GRADED, there("90"), False),  # the page would show other points than the platform
    (GRADED, there(None, excused=True), False),
    (grade(ADA, None, "open"), there(None), False),
    (GRADED, there("80", files=frozenset({PAGE.name})), False),
    (GRADED, there("80", files=frozenset({"feedback-0123456789abcdef-1.html"})), False),
    (GRADED, there("80", files=frozenset({"feedback-0123456789abcdee.html", "x"})), True),
    (GRADED, there("80", files=None), True),  # the student's turn shows whether it is there
]


def test_page_goes_with_its_grade() -> None:
    with Rows() as row:
        for number, (ours, present, sent) in enumerate(FEEDBACK):
            with row(number):
                assert (planned(ours, present, page=True).feedback is PAGE) == sent
    same = planned(GRADED, there("80"), page=True).change
    assert same is not None and same.points is None and same.feedback is PAGE


def test_another_maximum() -> None:
    task = Task("Words\x1b[2J", Fraction(30))
    with pytest.raises(UsageError, match="has a maximum of 30 points, and the assignment has 100"):
        plan_push([GRADED], [there(None)], task, Rules(), {})
    ours = grade(ADA, "33.33", exact=Fraction(100, 3))
    assert plan_push([ours], [there(None)], task, Rules(rescale=True), {})[0].ours == 10


def people(*identifiers: dict[str, str]) -> list[Present]:
    return [Present(Account(i, "", each)) for i, each in enumerate(identifiers)]


def test_no_one_gets_the_grade_of_another() -> None:
    """By the platform's identifiers, else by the course's id; never by name, and never if two fit."""
    table: list[tuple[str, Student, list[Present], int | None]] = [
        ("the platform's number", Student("x", also={"canvas": "7"}), people({"canvas": "7"}, {"sis": "x"}), 0),
        ("the id of the course", Student("X "), people({"login": "y"}, {"sis": "x"}), 1),
        ("an email address as login", Student("x", email="A@b"), people({"login": "a@B"}, {"login": "a"}), 0),
        ("another platform's", Student("x", also={"moodle": "7"}), people({"canvas": "7"}, {"user": "7"}), None),
        ("two accounts", Student("x", email="a", also={"login": "c"}), people({"email": "a"}, {"login": "c"}), None),
        ("an identifier of two", Student("x"), people({"login": "x"}, {"login": "X"}), None),
        ("the name alone", Student("x", name="Ada"), [Present(Account(0, "Ada", {}))], None),
        ("empty identifiers", Student(""), people({"login": ""}, {"sis": ""}), None),
        ("what pull called them", Student("moodle-user-7"), people({"user": "moodle-user-7"}), 0),
    ]  # fmt: skip
    with Rows() as row:
        for name, student, presents, expected in table:
            with row(name):
                found = plan_push([grade(student, "5")], presents, TASK, Rules(), {})[0]
                assert (found.present.account.number if found.present else None) == expected


def test_two_students_of_one_account() -> None:
    ours = [grade(Student("ada"), "5"), grade(Student("y", also={"canvas": "101"}), "6")]
    assert [row.action for row in plan_push(ours, [there(None)], TASK, Rules(), {})] == [Action.SHARED] * 2


NUMBERS = st.integers(0, 8).map(str)
STUDENTS = st.builds(
    Student, NUMBERS, email=NUMBERS, also=st.dictionaries(st.sampled_from(["canvas", "login", "sis"]), NUMBERS)
)
POINTS = st.none() | st.fractions(0, 120, max_denominator=10_000)
OURS = st.builds(
    lambda student, points, state: replace(
        grade(student, None, state),
        points=None if points is None or state == "excused" else Fraction(round(points * 100), 100),
    ),
    STUDENTS, POINTS, st.sampled_from(["graded", "open", "missing", "excused"]),
)  # fmt: skip
ACCOUNTS = st.dictionaries(st.sampled_from(["canvas", "login", "sis", "email"]), NUMBERS)
CLASSES = st.tuples(
    st.lists(OURS, max_size=6, unique_by=lambda each: each.student.id),
    st.lists(st.tuples(ACCOUNTS, POINTS, st.booleans(), st.booleans()), max_size=6).map(
        lambda rows: [
            Present(Account(i, "", ids), None if excused else points, excused=excused, is_assigned=assigned)
            for i, (ids, points, excused, assigned) in enumerate(rows)
        ]
    ),
)


def after(presents: Sequence[Present], rows: Sequence[Row]) -> list[Present]:
    """What the platform has when a plan was sent."""
    changed = {}
    for row in rows:
        if (change := row.change) is not None and (before := row.present) is not None:
            now = replace(before, grade=None, excused=True) if change.excuse else before
            now = now if change.points is None else replace(now, grade=change.points, excused=False)
            files = frozenset() if now.files is None else now.files
            now = now if change.feedback is None else replace(now, files=files | {change.feedback.name})
            assert before.account.number not in changed, "an account is changed twice"
            changed[before.account.number] = now
    return [changed.get(present.account.number, present) for present in presents]


@given(CLASSES, st.booleans())
def test_sending_twice_changes_nothing(class_: tuple[list[ReturnedGrade], list[Present]], lower: bool) -> None:
    ours, presents = class_
    rules, pages = Rules(lower=lower), {each.student.id: PAGE for each in ours}
    first = plan_push(ours, presents, TASK, rules, pages)
    assert len(first) == len(ours)
    second = plan_push(ours, after(presents, first), TASK, rules, pages)
    assert [row.change for row in second if row.change is not None] == []


@given(CLASSES)
def test_nothing_is_lowered_unless_told(class_: tuple[list[ReturnedGrade], list[Present]]) -> None:
    ours, presents = class_
    for before, now in zip(presents, after(presents, plan_push(ours, presents, TASK, Rules(), {})), strict=True):
        if before.grade is not None:
            assert now.grade is not None and now.grade >= before.grade
        if before.excused or not before.is_assigned:
            assert now == before


@given(CLASSES, st.integers(0, 6))
def test_interrupted_run_is_continued(class_: tuple[list[ReturnedGrade], list[Present]], sent: int) -> None:
    ours, presents = class_
    rows = plan_push(ours, presents, TASK, Rules(), {})
    between = after(presents, rows[:sent])
    assert after(between, plan_push(ours, between, TASK, Rules(), {})) == after(presents, rows)
