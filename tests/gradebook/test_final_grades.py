"""One grade for each student: tables of what a class does, and properties that hold for every class."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gradebook_class import ADA, BO, BY, DUE, KIM, POLICY, RATE, days, handed, hours, share
from viva.config.policy import Adjustment, Attempts, Exceptions, Extension, Policy, Rate, Step
from viva.model import ScoredAttempt, Student
from viva.plugins.cohorts.gradebook.final_grades import (
    Grade,
    State,
    compute_final_grades,
    list_unknown_exceptions,
    list_without_submitter,
)

F = Fraction
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BEST, LAST = Attempts(which="best"), Attempts(which="last")


def grade_of(
    scored: list[ScoredAttempt], policy: Policy = POLICY, exceptions: Exceptions | None = None, student: Student = ADA
) -> Grade:
    return next(
        grade for grade in compute_final_grades(scored, [ADA, BO], policy, exceptions) if grade.student.id == student.id
    )


def extended(late: timedelta, *ids: str) -> Exceptions:
    return Exceptions(extensions={id_: Extension(DUE + late, BY) for id_ in ids or ("ada",)})


def test_late_grade() -> None:
    grade = grade_of([handed(70, timedelta(hours=2, minutes=10))])
    assert grade.state is State.GRADED
    assert [grade.points, grade.earned, grade.penalty, grade.maximum] == [F(63), F(70), F(7), F(100)]
    assert grade.reasons == ("2 h 10 min late: −10 % = −7 points",)
    assert grade.attempt is not None and grade.attempt.name == "ada/1"


def test_grade_in_time() -> None:
    assert grade_of([handed(70)]).reasons == ()


@pytest.mark.parametrize(
    ("policy", "late", "said"),
    [
        (POLICY, 4 * DAY, "4 d late: more than 72h late does not count"),
        (Policy(due=DUE, late=RATE), 2 * DAY, "2 d late, 1d begun 2 times: −20 % = −14 points"),
        (
            Policy(due=DUE, late=(Step(None, minus=share(5, of_maximum=True)),)),
            HOUR,
            "1 h late: −5 % of the maximum = −5 points",
        ),
        (Policy(due=DUE), HOUR, "1 h late: nothing is taken off"),
        (Policy(due=DUE, grace=hours(2)), HOUR, "1 h late, within the grace of 2h: nothing is taken off"),
        (
            Policy(due=DUE, closes=days(1)),
            2 * DAY,
            "2 d late: submitted after 2026-12-02 23:59 +00:00, when nothing counts any more",
        ),
    ],
)
def test_sentence_of_each_penalty(policy: Policy, late: timedelta, said: str) -> None:
    assert grade_of([handed(70, late)], policy).reasons == (said,)


@pytest.mark.parametrize(
    ("extension", "late", "points", "said"),
    [
        (DAY, DAY, 70, "extended to 2026-12-02 23:59 +00:00 by M. Weber (ill)"),
        (DAY, DAY + HOUR, 63, "1 h late: −10 % = −7 points"),
        (DAY, -HOUR, 70, "extended to 2026-12-02 23:59 +00:00 by M. Weber (ill)"),
        (-DAY, -HOUR, 70, "the extension to 2026-11-30 23:59 +00:00 by M. Weber (ill) is not later than the deadline"),
        (timedelta(0), HOUR, 63, "is not later than the deadline"),
    ],
)
def test_extension_never_moves_back(extension: timedelta, late: timedelta, points: int, said: str) -> None:
    grade = grade_of([handed(70, late)], exceptions=extended(extension))
    assert grade.points == points
    assert said in " ".join(grade.reasons) and "is not applied" not in " ".join(grade.reasons)


def test_extension_in_a_team() -> None:
    team = [handed(70, HOUR, (ADA, BO))]
    grades = {grade.student.id: grade for grade in compute_final_grades(team, [], POLICY, extended(DAY, "bo"))}
    assert [grades[name].points for name in ("ada", "bo")] == [63, 70]
    assert {m.points for m in compute_final_grades(team, [], POLICY, extended(DAY, "ada", "bo"))} == {70}


def test_excused_student() -> None:
    excused = Exceptions(excused={"ada": BY})
    grade = grade_of([handed(70)], exceptions=excused)
    assert (grade.state, grade.points) == (State.EXCUSED, None)
    assert grade.reasons == ("excused by M. Weber (ill)", "what was submitted does not count: ada/1")
    assert grade_of([], exceptions=excused).state is State.EXCUSED


@pytest.mark.parametrize(("nothing", "points"), [("blank", None), ("zero", 0)])
def test_who_handed_in_nothing(nothing: Literal["blank", "zero"], points: int | None) -> None:
    grade = grade_of([handed(70)], replace(POLICY, nothing=nothing), student=BO)
    assert (grade.state, grade.reasons) == (State.MISSING, ("nothing was submitted",))
    assert grade.points == points and grade.maximum == 100


def test_nothing_is_missing_before_the_deadline() -> None:
    exceptions = extended(DAY, "bo")
    states = [
        [grade.state for grade in compute_final_grades([], [ADA, BO], replace(POLICY, nothing="zero"), exceptions, now)]
        for now in (DUE, DUE + HOUR, DUE + DAY + HOUR, None)
    ]
    late, early = State.MISSING, State.OPEN
    assert states == [[early, early], [late, early], [late, late], [late, late]]


ATTEMPTS = [handed(60, -DAY, attempt=1), handed(90, HOUR, attempt=2), handed(80, 2 * HOUR, attempt=3)]


@pytest.mark.parametrize(
    ("attempts", "points", "name"),
    [
        (LAST, 72, "ada/3"),
        (BEST, 81, "ada/2"),
        (Attempts(2, "last"), 81, "ada/2"),
        (Attempts(1, "best"), 60, "ada/1"),
        (Attempts(9, "best"), 81, "ada/2"),
    ],
)
def test_which_attempt_counts(attempts: Attempts, points: int, name: str) -> None:
    for scored in (ATTEMPTS, ATTEMPTS[::-1]):
        grade = grade_of(scored, replace(POLICY, attempts=attempts))
        assert grade.attempt is not None
        assert grade.points == points and grade.attempt.name == name


def test_best_is_best_after_penalties() -> None:
    scored = [handed(70, -HOUR, attempt=1), handed(75, HOUR, attempt=2)]
    grade = grade_of(scored, replace(POLICY, attempts=BEST))
    assert grade.points == 70 and grade.reasons == ("the best of 2 that were submitted",)


def test_last_attempt_that_came_too_late() -> None:
    grade = grade_of([handed(60, -DAY, attempt=1), handed(90, 4 * DAY, attempt=2)])
    assert grade.points == 60 and grade.reasons == ("a later submission came too late to count",)


def test_extension_for_a_worse_attempt() -> None:
    scored = [handed(60, -DAY, attempt=1), handed(10, 4 * DAY, attempt=2)]
    grade = grade_of(scored, exceptions=extended(4 * DAY))
    assert grade.points == 60
    assert "by the extension a later and worse submission would count, so it is not applied" in grade.reasons


def test_pending_points_leave_the_grade_open() -> None:
    grade = grade_of([handed(70, still_open=15)])
    assert grade.state is State.OPEN and [grade.points, grade.still_open] == [F(70), F(15)]
    assert grade.reasons == ("15 more points are pending: they are not graded yet",)


def test_missing_tests_are_pending() -> None:
    grade = grade_of([handed(10, points=10)])
    assert grade.state is State.OPEN and [grade.points, grade.still_open, grade.maximum] == [F(10), F(90), F(100)]


def test_best_attempt_may_change() -> None:
    scored = [handed(80, attempt=1), handed(75, attempt=2, still_open=20)]
    grade = grade_of(scored, replace(POLICY, attempts=BEST))
    assert grade.state is State.OPEN and grade.points == 80
    assert "ada/2 has 20 points that are not graded yet and may still improve" in grade.reasons
    decided = grade_of([scored[0], handed(75, attempt=2, still_open=5)], replace(POLICY, attempts=BEST))
    assert decided.state is State.GRADED


@pytest.mark.parametrize(
    ("adjustment", "extra_credit", "points"),
    [(5, "keep", 103), (5, "cap", 100), (-5, "keep", 93), (-500, "keep", 0), (2, "cap", 100)],
)
def test_persons_give_and_take_points(adjustment: int, extra_credit: Literal["keep", "cap"], points: int) -> None:
    exceptions = Exceptions(adjustments={"ada": (Adjustment(F(adjustment), BY),)})
    grade = grade_of([handed(98)], replace(POLICY, extra_credit=extra_credit), exceptions)
    assert [grade.points, grade.adjusted] == [F(points), F(adjustment)]
    assert grade.reasons[0] == f"{'+' if adjustment > 0 else '−'}{abs(adjustment)} points by M. Weber (ill)"


def test_one_grade_for_everybody() -> None:
    zoe = Student("zoe", email="zoe@x.edu", also={"canvas": "7"})
    scored = [handed(1, students=(KIM, BO), attempt=1), handed(2, students=(KIM,), attempt=2), handed(3, students=())]
    grades = compute_final_grades(
        [*scored, handed(3, students=(replace(zoe, email=""),))], [Student("zoe", "Zoe"), BO], POLICY
    )
    assert [grade.student.id for grade in grades] == ["zoe", "bo", "kim"]
    assert (grades[0].student.name, grades[0].student.also) == ("Zoe", {"canvas": "7"})
    assert list_without_submitter(scored) == ["nobody/1"]
    assert list_unknown_exceptions(Exceptions(excused={"bo": BY, "boo": BY}), grades) == ["boo"]


def test_maximum_without_declared_points() -> None:
    grades = compute_final_grades([handed(40, points=50)], [BO], Policy())
    assert {grade.student.id: int(grade.maximum) for grade in grades} == {"bo": 50, "ada": 50}
    assert compute_final_grades([], [], Policy()) == []


POINTS = st.fractions(0, 100, max_denominator=30)
LATE = st.timedeltas(timedelta(days=-3), timedelta(days=9))
RATES = st.builds(
    Rate,
    st.sampled_from([days(1), hours(1), hours(36)]),
    st.sampled_from([share(10), share(7, of_maximum=True)]),
    st.sampled_from([share(0), share(40), share(30, of_maximum=True)]),
)
POLICIES = st.builds(
    Policy,
    due=st.just(DUE),
    maximum=st.just(Fraction(100)),
    grace=st.sampled_from([hours(1), days(1)]),
    late=st.sampled_from([(), POLICY.late, (Step(days(1), minus=share(20)), Step(None, minus=share(45)))]) | RATES,
    closes=st.sampled_from([None, days(2), DUE + 4 * DAY]),
    attempts=st.builds(Attempts, st.sampled_from([None, 1, 2]), st.sampled_from(["best", "last"])),
)


@given(POLICIES, POINTS, LATE, LATE)
def test_later_is_never_more(policy: Policy, earned: Fraction, one: timedelta, two: timedelta) -> None:
    early, late = (grade_of([handed(earned, each)], policy).points for each in sorted([one, two]))
    assert early is not None and late is not None
    assert 0 <= late <= early <= earned


@given(POLICIES, st.lists(st.tuples(POINTS, LATE), min_size=1, max_size=4), LATE)
def test_extension_never_lowers(
    policy: Policy, attempts: list[tuple[Fraction, timedelta]], extension: timedelta
) -> None:
    scored = [handed(earned, late, attempt=n) for n, (earned, late) in enumerate(attempts, 1)]
    without = grade_of(scored, policy).points
    extended_ = grade_of(scored, policy, extended(extension)).points
    assert without is not None and extended_ is not None
    assert without <= extended_ <= max(earned for earned, _ in attempts)


@given(POLICIES, st.lists(st.tuples(POINTS, LATE), min_size=1, max_size=4))
def test_what_is_shown_adds_up(policy: Policy, attempts: list[tuple[Fraction, timedelta]]) -> None:
    scored = [handed(earned, late, attempt=n) for n, (earned, late) in enumerate(attempts, 1)]
    grade = grade_of(scored, policy)
    assert grade.points == grade.earned - grade.penalty + grade.adjusted
    best = grade_of(scored, replace(policy, attempts=replace(policy.attempts, which="best"))).points
    assert best is not None and grade.points is not None and best >= grade.points
