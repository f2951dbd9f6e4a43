"""Lateness, attempts and exceptions are read strictly; a mistake is named with its file and line."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.support.table_rows import Rows
from viva.config import Assignment, load_course
from viva.config.policy import Amount, Attempts, Decision, Exceptions, Policy, Rate, Rounding, Span, Step
from viva.model.errors import CourseError

Write = Callable[[str, str], Path]
DUE = "title: M\npoints: 50\ndue: 2026-12-01T23:59:00Z\n"


def masks(write: Write, root: Path, text: str, exceptions: str | None = None) -> Assignment:
    write("assignments/masks/assignment.yaml", text)
    if exceptions is not None:
        write("assignments/masks/exceptions.yaml", exceptions)
    return load_course(root).assignment("masks")


def test_every_key_of_a_policy(write: Write, tmp_path: Path) -> None:
    policy = masks(
        write,
        tmp_path,
        DUE + "policy:\n"
        "  grace: 15m\n"
        "  late: [{until: 24h, minus: 10%}, {until: 2d, minus: 12.5%}, {minus: 50%}]\n"
        "  closes: 7d\n"
        "  attempts: {count: 3, which: best}\n"
        "  nothing: zero\n"
        "  extra_credit: cap\n"
        "  rounding: {to: 0.5, half: up}\n",
    ).policy()
    assert policy == Policy(
        due=datetime(2026, 12, 1, 23, 59, tzinfo=UTC),
        maximum=Fraction(50),
        grace=Span(0, 900, "15m"),
        late=(
            Step(Span(0, 86_400, "24h"), minus=Amount(share=Fraction(1, 10))),
            Step(Span(2, 0, "2d"), minus=Amount(share=Fraction(1, 8))),
            Step(None, minus=Amount(share=Fraction(1, 2))),
        ),
        closes=Span(7, 0, "7d"),
        attempts=Attempts(3, "best"),
        nothing="zero",
        extra_credit="cap",
        rounding=Rounding(Fraction(1, 2), "up"),
    )


def test_rate_with_a_floor(write: Write, tmp_path: Path) -> None:
    policy = masks(
        write, tmp_path, DUE + "policy: {late: {per: 1d, minus: 10% of maximum, floor: 20% of the maximum}}\n"
    ).policy()
    assert policy.late == Rate(
        Span(1, 0, "1d"), Amount(Fraction(1, 10), of_maximum=True), Amount(Fraction(1, 5), of_maximum=True)
    )


def test_no_policy(write: Write, tmp_path: Path) -> None:
    assignment = masks(write, tmp_path, DUE)
    assert assignment.policy() == Policy(due=datetime(2026, 12, 1, 23, 59, tzinfo=UTC), maximum=Fraction(50))
    assert assignment.exceptions() == Exceptions()


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-12-01 23:59 Europe/Vienna", datetime(2026, 12, 1, 22, 59, tzinfo=UTC)),
        ("2026-07-01T23:59:00 Europe/Vienna", datetime(2026, 7, 1, 21, 59, tzinfo=UTC)),
        ("2026-12-01 23:59 UTC", datetime(2026, 12, 1, 23, 59, tzinfo=UTC)),
        # Clocks show this twice: the later one, which takes nothing from anybody.
        ("2026-10-25 02:30 Europe/Vienna", datetime(2026, 10, 25, 1, 30, tzinfo=UTC)),
    ],
)
def test_deadline_with_a_zone(write: Write, tmp_path: Path, written: str, instant: datetime) -> None:
    due = masks(write, tmp_path, f"title: M\ndue: {written}\n").due
    assert due is not None
    assert due.astimezone(UTC) == instant


def test_days_after_a_deadline_know_its_clocks(write: Write, tmp_path: Path) -> None:
    due = masks(write, tmp_path, "title: M\ndue: 2026-10-24 23:59 Europe/Vienna\n").due
    assert due is not None
    assert due.tzinfo == ZoneInfo("Europe/Vienna")
    assert (due + timedelta(days=1)).utcoffset() == timedelta(hours=1) != due.utcoffset()


WRONG = [
    ("{grace: 15}", ["policy.grace: found `15`", "such as 90m, 24h or 2d"]),
    ("{grace: 99999d}", ["policy.grace", "such as 90m"]),
    ("{late: 10%}", ["policy.late", "steps, such as [{until: 24h, minus: 10%}]"]),
    ("{late: [10%]}", ["policy.late.0", "from these: until, minus"]),
    ("{late: [{until: 24h}]}", ["policy.late.0.minus: this key is needed"]),
    ("{late: [{until: 24h, minus: 110%}]}", ["policy.late.0.minus: found `110%`", "10% (of what was earned)"]),
    ("{late: [{until: 2d, minus: 10%}, {until: 24h, minus: 20%}]}", ["policy.late.1", "in the order of time"]),
    ("{late: [{minus: 10%}, {until: 24h, minus: 20%}]}", ["policy.late.1", "only the last may lack `until`"]),
    ("{late: [{until: 1d, minus: 10%}, {minus: 5%}]}", ["policy.late.1", "no smaller penalty"]),
    ("{closes: 2026-11-30T00:00:00Z}", ["policy.closes: this is before the deadline"]),
    ("{attempts: {which: first}}", ["policy.attempts.which: found `first`, expected 'last' or 'best'"]),
    ("{rounding: {to: 0}}", ["policy.rounding.to", "such as 0.01"]),
    ("[late]", ["policy", "keys with values"]),
]


def test_wrong_policy(write: Write, tmp_path: Path) -> None:
    with Rows() as row:
        for policy, said in WRONG:
            with row(policy):
                with pytest.raises(CourseError) as raised:
                    masks(write, tmp_path, f"{DUE}policy: {policy}\n")
                assert all(words in str(raised.value) for words in said), raised.value
                assert "\n" not in str(raised.value)


@pytest.mark.parametrize("policy", ["{grace: 1h}", "{late: [{minus: 10%}]}", "{closes: 7d}"])
def test_lateness_needs_a_deadline(write: Write, tmp_path: Path, policy: str) -> None:
    with pytest.raises(CourseError, match="write `due:` as well"):
        masks(write, tmp_path, f"title: M\npolicy: {policy}\n")


@pytest.mark.parametrize(
    "due",
    [
        "2026-03-29 02:30 Europe/Vienna",
        "2026-12-01 23:59 Mars/Olympus",
    ],
)
def test_time_that_no_clock_shows(write: Write, tmp_path: Path, due: str) -> None:
    with pytest.raises(CourseError, match="2: due: found"):
        masks(write, tmp_path, f"title: M\ndue: {due}\n")


def test_exceptions_are_read_by_student(write: Write, tmp_path: Path) -> None:
    exceptions = masks(
        write,
        tmp_path,
        DUE,
        "exceptions:\n"
        "- {students: [ada, bo], due: 2026-12-05 23:59 UTC, by: M. Weber, reason: ill}\n"
        "- {students: 1234567, excused: true, by: M. Weber, reason: exchange year}\n"
        "- {students: bo, points: -2.5, by: J. Doe, reason: copied 2.1}\n"
        "- {students: bo, points: 1, by: J. Doe, reason: found an error in the handout}\n",
    ).exceptions()
    assert exceptions.students == {"ada", "bo", "1234567"}
    assert exceptions.extensions["bo"].due == datetime(2026, 12, 5, 23, 59, tzinfo=UTC)
    assert exceptions.excused["1234567"] == Decision("M. Weber", "exchange year")
    assert [each.points for each in exceptions.adjustments["bo"]] == [Fraction(-5, 2), 1]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{students: ada, due: 2026-12-05T00:00:00Z, reason: ill}", "by: this key is needed"),
        ("{students: ada, by: A, reason: B}", "exactly one of `due`"),
        ("{students: ada, excused: false, by: A, reason: B}", "expected true"),
        ("{students: [], excused: true, by: A, reason: B}", "a student's id, or a list"),
        ("{students: [ada, ada], excused: true, by: A, reason: B}", "`ada` has such an exception already"),
        ("{students: ada, points: 0, by: A, reason: B}", "points that are given"),
    ],
)
def test_wrong_exception(write: Write, tmp_path: Path, row: str, said: str) -> None:
    assignment = masks(write, tmp_path, DUE, f"exceptions:\n- {row}\n")
    with pytest.raises(CourseError) as raised:
        assignment.exceptions()
    assert "exceptions.yaml:2" in str(raised.value) and said in str(raised.value)


def test_examples_of_the_page_about_grades(write: Write, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "grades.md").read_text("utf-8")
    policy, exceptions = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    assignment = masks(write, tmp_path, policy, exceptions)
    assert (assignment.policy().attempts, assignment.policy().nothing) == (Attempts(5, "best"), "zero")
    assert assignment.exceptions().students == {"ada", "bo", "kim", "zoe"}
    table = set(re.findall(r"^\| `(\w+)[`.]", page, re.M))
    assert {"grace", "late", "closes", "attempts", "nothing", "extra_credit", "rounding"} - table <= {"grace"}


def test_exceptions_are_withheld(write: Write, tmp_path: Path) -> None:
    path = write("assignments/masks/exceptions.yaml", "exceptions: []\n")
    status = path.stat()
    assert (status.st_dev, status.st_ino) in load_course(tmp_path).withheld()
