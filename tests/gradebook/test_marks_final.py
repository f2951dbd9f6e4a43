"""One mark for each student: tables of what a class does, and properties that hold for every class."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marks_class import ADA, BO, BY, DUE, KIM, POLICY, RATE, days, handed, hours, share

from viva.config.policy import Adjustment, Attempts, Exceptions, Extension, Policy, Rate, Step
from viva.gradebook import Mark, State, final_grades
from viva.gradebook.final_grades import strangers, unclaimed
from viva.model import Marked, Student

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BEST, LAST = Attempts(which="best"), Attempts(which="last")


def mark_of(
    marked: list[Marked], policy: Policy = POLICY, exceptions: Exceptions | None = None, student: Student = ADA
) -> Mark:
    return next(mark for mark in final_grades(marked, [ADA, BO], policy, exceptions) if mark.student.id == student.id)


def extended(late: timedelta, *ids: str) -> Exceptions:
    return Exceptions(extensions={id_: Extension(DUE + late, BY) for id_ in ids or ("ada",)})


def test_a_late_mark_says_by_how_much_and_what_it_costs() -> None:
    mark = mark_of([handed(70, timedelta(hours=2, minutes=10))])
    assert (mark.state, mark.points, mark.earned, mark.penalty, mark.maximum) == (State.GRADED, 63, 70, 7, 100)
    assert mark.reasons == ("2 h 10 min late: −10 % = −7 points",)
    assert mark.attempt is not None and mark.attempt.name == "ada/1"


def test_in_time_there_is_nothing_to_say() -> None:
    assert mark_of([handed(70)]).reasons == ()


@pytest.mark.parametrize(
    ("policy", "late", "said"),
    [
        (POLICY, 4 * DAY, "4 d late: more than 72h late does not count"),
        (Policy(due=DUE, late=RATE), 2 * DAY, "2 d late, 1d begun 2 times: −20 % = −14 points"),
        (
            Policy(due=DUE, late=(Step(None, share(5, of_maximum=True)),)),
            HOUR,
            "1 h late: −5 % of the maximum = −5 points",
        ),
        (Policy(due=DUE), HOUR, "1 h late: nothing is taken off"),
        (Policy(due=DUE, grace=hours(2)), HOUR, "1 h late, within the grace of 2h: nothing is taken off"),
        (
            Policy(due=DUE, closes=days(1)),
            2 * DAY,
            "2 d late: handed in after 2026-12-02 23:59 +00:00, when nothing counts any more",
        ),
    ],
)
def test_every_penalty_has_its_sentence(policy: Policy, late: timedelta, said: str) -> None:
    assert mark_of([handed(70, late)], policy).reasons == (said,)


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
    mark = mark_of([handed(70, late)], exceptions=extended(extension))
    assert mark.points == points
    assert said in " ".join(mark.reasons) and "is not applied" not in " ".join(mark.reasons)


def test_in_a_team_an_extension_is_that_of_whom_it_was_given() -> None:
    team = [handed(70, HOUR, (ADA, BO))]
    marks = {mark.student.id: mark for mark in final_grades(team, [], POLICY, extended(DAY, "bo"))}
    assert (marks["ada"].points, marks["bo"].points) == (63, 70)
    assert {m.points for m in final_grades(team, [], POLICY, extended(DAY, "ada", "bo"))} == {70}


def test_who_is_excused_has_no_mark_whatever_was_handed_in() -> None:
    excused = Exceptions(excused={"ada": BY})
    mark = mark_of([handed(70)], exceptions=excused)
    assert (mark.state, mark.points) == (State.EXCUSED, None)
    assert mark.reasons == ("excused by M. Weber (ill)", "what was handed in does not count: ada/1")
    assert mark_of([], exceptions=excused).state is State.EXCUSED


@pytest.mark.parametrize(("nothing", "points"), [("blank", None), ("zero", 0)])
def test_who_handed_in_nothing(nothing: str, points: int | None) -> None:
    mark = mark_of([handed(70)], replace(POLICY, nothing=nothing), student=BO)
    assert (mark.state, mark.points, mark.maximum, mark.reasons) == (
        State.MISSING,
        points,
        100,
        ("nothing was handed in",),
    )


def test_nothing_is_missing_before_the_deadline() -> None:
    exceptions = extended(DAY, "bo")
    states = [
        [mark.state for mark in final_grades([], [ADA, BO], replace(POLICY, nothing="zero"), exceptions, now)]
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
    for marked in (ATTEMPTS, ATTEMPTS[::-1]):
        mark = mark_of(marked, replace(POLICY, attempts=attempts))
        assert mark.attempt is not None
        assert (mark.points, mark.attempt.name) == (points, name)


def test_best_is_best_after_penalties() -> None:
    marked = [handed(70, -HOUR, attempt=1), handed(75, HOUR, attempt=2)]
    mark = mark_of(marked, replace(POLICY, attempts=BEST))
    assert (mark.points, mark.reasons) == (70, ("the best of 2 that were handed in",))


def test_the_last_attempt_that_counts_is_not_the_one_that_came_too_late() -> None:
    mark = mark_of([handed(60, -DAY, attempt=1), handed(90, 4 * DAY, attempt=2)])
    assert (mark.points, mark.reasons) == (60, ("what was handed in later came too late to count",))


def test_an_extension_that_would_make_a_worse_attempt_count_is_not_applied() -> None:
    marked = [handed(60, -DAY, attempt=1), handed(10, 4 * DAY, attempt=2)]
    mark = mark_of(marked, exceptions=extended(4 * DAY))
    assert mark.points == 60
    assert "by the extension a later and worse submission would count, so it is not applied" in mark.reasons


def test_open_points_leave_the_mark_open_and_are_not_lost() -> None:
    mark = mark_of([handed(70, still_open=15)])
    assert (mark.state, mark.points, mark.still_open) == (State.OPEN, 70, 15)
    assert mark.reasons == ("15 of 100 points are still open",)


def test_tests_that_were_not_asked_are_open() -> None:
    mark = mark_of([handed(10, points=10)])
    assert (mark.state, mark.points, mark.still_open, mark.maximum) == (State.OPEN, 10, 90, 100)


def test_the_best_is_open_while_another_may_become_better() -> None:
    marked = [handed(80, attempt=1), handed(75, attempt=2, still_open=20)]
    mark = mark_of(marked, replace(POLICY, attempts=BEST))
    assert (mark.state, mark.points) == (State.OPEN, 80)
    assert "ada/2 has 20 points still open and may yet be better" in mark.reasons
    decided = mark_of([marked[0], handed(75, attempt=2, still_open=5)], replace(POLICY, attempts=BEST))
    assert decided.state is State.GRADED


@pytest.mark.parametrize(
    ("given_", "extra_credit", "points"),
    [(5, "keep", 103), (5, "cap", 100), (-5, "keep", 93), (-500, "keep", 0), (2, "cap", 100)],
)
def test_persons_give_and_take_points(given_: int, extra_credit: str, points: int) -> None:
    exceptions = Exceptions(adjustments={"ada": (Adjustment(Fraction(given_), BY),)})
    mark = mark_of([handed(98)], replace(POLICY, extra_credit=extra_credit), exceptions)
    assert (mark.points, mark.adjusted) == (points, given_)
    assert mark.reasons[0] == f"{'+' if given_ > 0 else '−'}{abs(given_)} points by M. Weber (ill)"


def test_everybody_has_one_mark_in_the_order_of_the_list() -> None:
    zoe = Student("zoe", email="zoe@x.edu", also={"canvas": "7"})
    marked = [handed(1, students=(KIM, BO), attempt=1), handed(2, students=(KIM,), attempt=2), handed(3, students=())]
    marks = final_grades([*marked, handed(3, students=(replace(zoe, email=""),))], [Student("zoe", "Zoe"), BO], POLICY)
    assert [mark.student.id for mark in marks] == ["zoe", "bo", "kim"]
    assert (marks[0].student.name, marks[0].student.also) == ("Zoe", {"canvas": "7"})
    assert unclaimed(marked) == ["nobody/1"]
    assert strangers(Exceptions(excused={"bo": BY, "boo": BY}), marks) == ["boo"]


def test_without_declared_points_the_tests_say_the_maximum() -> None:
    marks = final_grades([handed(40, points=50)], [BO], Policy())
    assert [(m.student.id, m.maximum) for m in marks] == [("bo", 50), ("ada", 50)]
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
    late=st.sampled_from([(), POLICY.late, (Step(days(1), share(20)), Step(None, share(45)))]) | RATES,
    closes=st.sampled_from([None, days(2), DUE + 4 * DAY]),
    attempts=st.builds(Attempts, st.sampled_from([None, 1, 2]), st.sampled_from(["best", "last"])),
)


@given(POLICIES, POINTS, LATE, LATE)
def test_later_is_never_more(policy: Policy, earned: Fraction, one: timedelta, two: timedelta) -> None:
    early, late = (mark_of([handed(earned, each)], policy).points for each in sorted([one, two]))
    assert early is not None and late is not None
    assert 0 <= late <= early <= earned


@given(POLICIES, st.lists(st.tuples(POINTS, LATE), min_size=1, max_size=4), LATE)
def test_an_extension_never_lowers(
    policy: Policy, attempts: list[tuple[Fraction, timedelta]], extension: timedelta
) -> None:
    marked = [handed(earned, late, attempt=n) for n, (earned, late) in enumerate(attempts, 1)]
    without = mark_of(marked, policy).points
    extended_ = mark_of(marked, policy, extended(extension)).points
    assert without is not None and extended_ is not None
    assert without <= extended_ <= max(earned for earned, _ in attempts)


@given(POLICIES, st.lists(st.tuples(POINTS, LATE), min_size=1, max_size=4))
def test_what_is_shown_adds_up(policy: Policy, attempts: list[tuple[Fraction, timedelta]]) -> None:
    marked = [handed(earned, late, attempt=n) for n, (earned, late) in enumerate(attempts, 1)]
    mark = mark_of(marked, policy)
    assert mark.points == mark.earned - mark.penalty + mark.adjusted
    best = mark_of(marked, replace(policy, attempts=replace(policy.attempts, which="best"))).points
    assert best is not None and mark.points is not None and best >= mark.points
