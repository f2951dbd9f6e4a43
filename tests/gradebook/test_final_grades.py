"""One grade for each student: tables of what a class does, and properties that hold for every class."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.gradebook_class import ADA, BO, BY, DUE, KIM, POLICY, RATE, days, handed, hours, share
from viva.config.policy import Adjustment, Attempts, Exceptions, Extension, Policy, Rate, Step
from viva.gradebook import Grade, State, final_grades
from viva.gradebook.final_grades import unknown_exceptions, without_submitter
from viva.model import ScoredAttempt, Student

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BEST, LAST = Attempts(which="best"), Attempts(which="last")


def grade_of(
    scored: list[ScoredAttempt], policy: Policy = POLICY, exceptions: Exceptions | None = None, student: Student = ADA
) -> Grade:
    return next(
        grade for grade in final_grades(scored, [ADA, BO], policy, exceptions) if grade.student.id == student.id
    )


def extended(late: timedelta, *ids: str) -> Exceptions:
    return Exceptions(extensions={id_: Extension(DUE + late, BY) for id_ in ids or ("ada",)})


def test_a_late_grade_says_by_how_much_and_what_it_costs() -> None:
    grade = grade_of([handed(70, timedelta(hours=2, minutes=10))])
    assert (grade.state, grade.points, grade.earned, grade.penalty, grade.maximum) == (State.GRADED, 63, 70, 7, 100)
    assert grade.reasons == ("2 h 10 min late: −10 % = −7 points",)
    assert grade.attempt is not None and grade.attempt.name == "ada/1"


def test_in_time_there_is_nothing_to_say() -> None:
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
def test_every_penalty_has_its_sentence(policy: Policy, late: timedelta, said: str) -> None:
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
def test_an_extension_moves_a_students_deadline_and_never_back(
    extension: timedelta, late: timedelta, points: int, said: str
) -> None:
    grade = grade_of([handed(70, late)], exceptions=extended(extension))
    assert grade.points == points
    assert said in " ".join(grade.reasons) and "is not applied" not in " ".join(grade.reasons)


def test_in_a_team_an_extension_is_that_of_whom_it_was_given() -> None:
    team = [handed(70, HOUR, (ADA, BO))]
    grades = {grade.student.id: grade for grade in final_grades(team, [], POLICY, extended(DAY, "bo"))}
    assert (grades["ada"].points, grades["bo"].points) == (63, 70)
    assert {m.points for m in final_grades(team, [], POLICY, extended(DAY, "ada", "bo"))} == {70}


def test_who_is_excused_has_no_grade_whatever_was_handed_in() -> None:
    excused = Exceptions(excused={"ada": BY})
    grade = grade_of([handed(70)], exceptions=excused)
    assert (grade.state, grade.points) == (State.EXCUSED, None)
    assert grade.reasons == ("excused by M. Weber (ill)", "what was submitted does not count: ada/1")
    assert grade_of([], exceptions=excused).state is State.EXCUSED


@pytest.mark.parametrize(("nothing", "points"), [("blank", None), ("zero", 0)])
def test_who_handed_in_nothing(nothing: str, points: int | None) -> None:
    grade = grade_of([handed(70)], replace(POLICY, nothing=nothing), student=BO)
    assert (grade.state, grade.points, grade.maximum, grade.reasons) == (
        State.MISSING,
        points,
        100,
        ("nothing was submitted",),
    )


def test_nothing_is_missing_before_the_deadline() -> None:
    exceptions = extended(DAY, "bo")
    states = [
        [grade.state for grade in final_grades([], [ADA, BO], replace(POLICY, nothing="zero"), exceptions, now)]
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
        assert (grade.points, grade.attempt.name) == (points, name)


def test_best_is_best_after_penalties() -> None:
    scored = [handed(70, -HOUR, attempt=1), handed(75, HOUR, attempt=2)]
    grade = grade_of(scored, replace(POLICY, attempts=BEST))
    assert (grade.points, grade.reasons) == (70, ("the best of 2 that were submitted",))


def test_the_last_attempt_that_counts_is_not_the_one_that_came_too_late() -> None:
    grade = grade_of([handed(60, -DAY, attempt=1), handed(90, 4 * DAY, attempt=2)])
    assert (grade.points, grade.reasons) == (60, ("a later submission came too late to count",))


def test_an_extension_that_would_make_a_worse_attempt_count_is_not_applied() -> None:
    scored = [handed(60, -DAY, attempt=1), handed(10, 4 * DAY, attempt=2)]
    grade = grade_of(scored, exceptions=extended(4 * DAY))
    assert grade.points == 60
    assert "by the extension a later and worse submission would count, so it is not applied" in grade.reasons


def test_open_points_leave_the_grade_open_and_are_not_lost() -> None:
    grade = grade_of([handed(70, still_open=15)])
    assert (grade.state, grade.points, grade.still_open) == (State.OPEN, 70, 15)
    assert grade.reasons == ("15 more points are pending: they are not graded yet",)


def test_tests_that_were_not_asked_are_open() -> None:
    grade = grade_of([handed(10, points=10)])
    assert (grade.state, grade.points, grade.still_open, grade.maximum) == (State.OPEN, 10, 90, 100)


def test_the_best_is_open_while_another_may_become_better() -> None:
    scored = [handed(80, attempt=1), handed(75, attempt=2, still_open=20)]
    grade = grade_of(scored, replace(POLICY, attempts=BEST))
    assert (grade.state, grade.points) == (State.OPEN, 80)
    assert "ada/2 has 20 points that are not graded yet and may still improve" in grade.reasons
    decided = grade_of([scored[0], handed(75, attempt=2, still_open=5)], replace(POLICY, attempts=BEST))
    assert decided.state is State.GRADED


@pytest.mark.parametrize(
    ("given_", "extra_credit", "points"),
    [(5, "keep", 103), (5, "cap", 100), (-5, "keep", 93), (-500, "keep", 0), (2, "cap", 100)],
)
def test_persons_give_and_take_points(given_: int, extra_credit: str, points: int) -> None:
    exceptions = Exceptions(adjustments={"ada": (Adjustment(Fraction(given_), BY),)})
    grade = grade_of([handed(98)], replace(POLICY, extra_credit=extra_credit), exceptions)
    assert (grade.points, grade.adjusted) == (points, given_)
    assert grade.reasons[0] == f"{'+' if given_ > 0 else '−'}{abs(given_)} points by M. Weber (ill)"


def test_everybody_has_one_grade_in_the_order_of_the_list() -> None:
    zoe = Student("zoe", email="zoe@x.edu", also={"canvas": "7"})
    scored = [handed(1, students=(KIM, BO), attempt=1), handed(2, students=(KIM,), attempt=2), handed(3, students=())]
    grades = final_grades([*scored, handed(3, students=(replace(zoe, email=""),))], [Student("zoe", "Zoe"), BO], POLICY)
    assert [grade.student.id for grade in grades] == ["zoe", "bo", "kim"]
    assert (grades[0].student.name, grades[0].student.also) == ("Zoe", {"canvas": "7"})
    assert without_submitter(scored) == ["nobody/1"]
    assert unknown_exceptions(Exceptions(excused={"bo": BY, "boo": BY}), grades) == ["boo"]


def test_without_declared_points_the_tests_say_the_maximum() -> None:
    grades = final_grades([handed(40, points=50)], [BO], Policy())
    assert [(m.student.id, m.maximum) for m in grades] == [("bo", 50), ("ada", 50)]
    assert final_grades([], [], Policy()) == []


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
def test_an_extension_never_lowers(
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
