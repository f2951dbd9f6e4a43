"""Reports hold what students may see: no hidden test, nothing of staff, each name once, messages with their cases."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.ci_results import HIDDEN, SECRET, TEXTS, entry, one_of_each, report, results, spoiled
from viva.model import Case, Status
from viva.model.errors import UsageError
from viva.plugins.ci.public_view import messages_of_cases, report_of

F = Fraction


def test_report_counts_what_it_shows() -> None:
    shown = report_of(one_of_each())
    assert [shown.totals.earned, shown.totals.points, shown.totals.still_open] == [F(3), F(18), F(6)]
    assert shown.left_out == 1 and shown.left_out_points == 3
    assert shown.total == "3 of 12 points, 6 more pending"
    assert shown.hidden_line == "Not shown here: 1 test worth 3 points that are not visible yet."
    assert not any("hidden" in test.title for test in shown.tests)


def test_report_with_hidden_tests() -> None:
    everything = one_of_each()
    shown = report_of(everything, hidden=True)
    assert [shown.totals.earned, shown.totals.points] == [F(3), F(21)] and shown.left_out == 0
    assert Fraction(everything.extra_data.points) == shown.totals.points
    (test,) = [test for test in shown.tests if test.message == HIDDEN]
    assert test.cases == () and SECRET not in repr(shown) and "for staff" not in repr(shown)


def test_result_that_is_not_visible() -> None:
    whole = one_of_each().model_copy(update={"visibility": "after_published"})
    shown = report_of(whole)
    assert shown.tests == () and shown.notes == "" and shown.environment == () and shown.left_out == len(whole.tests)


def test_cases_of_hidden_tests_are_not_named() -> None:
    half = Fraction(1, 2)
    cases = tuple(Case(label, Status.FAILED, Fraction(0), half, HIDDEN) for label in ("n=13", "n=17"))
    (test,) = report(entry(1, Status.FAILED, 0, 1, visibility="hidden", cases=cases), hidden=True).tests
    assert test.cases == ()


@given(st.lists(st.sampled_from(["a", "b", "a (2)", "a (3)", "", "a [n=1]"]), max_size=12))
def test_every_name_is_given_once(names: list[str]) -> None:
    cases = tuple(Case(label, Status.FAILED, Fraction(0), Fraction(1), "x") for label in ("n=1", "n=1", ""))
    shown = report(*(entry(1, Status.FAILED, 0, 3, name=name, number="", cases=cases) for name in names))
    given = [name for test in shown.tests for name in (test.name, *(case.name for case in test.cases))]
    assert len(given) == len(set(given)) == 4 * len(names) and all(given)


def test_messages_go_with_their_cases() -> None:
    said = "n=1: gave 3\nexpected 4\nn=2: raised E: n=1: no\nn=1: again"
    assert messages_of_cases(said, ["n=1", "n=2", "n=3"]) == ["gave 3\nexpected 4", "raised E: n=1: no\nn=1: again", ""]
    assert messages_of_cases("a: b: c", ["a: b", "b"]) == ["c", ""]
    assert messages_of_cases("no label", ["", "x"]) == ["", ""]


def test_title_of_a_working_folder() -> None:
    assert (report(submission=".").title, report(submission="homework").title) == ("masks", "homework")


@given(TEXTS)
def test_no_text_breaks_a_report(text: str) -> None:
    shown = report_of(spoiled(one_of_each(), text), hidden=True)
    for name in (shown.submission, shown.assignment, *(test.name for test in shown.tests)):
        assert name and "\n" not in name and name.encode()
    assert all(test.message.encode() is not None and "\0" not in test.message for test in shown.tests)


def test_long_messages_are_cut_once() -> None:
    (test, *_) = report_of(spoiled(one_of_each(), "x" * 10_000_000, names=False)).tests
    assert len(test.message) < 8200
    before = results(entry(1, Status.FAILED, message="y" * 9000))
    assert report_of(before).tests[0].message == before.tests[0].output


def test_numbers_beyond_any_course() -> None:
    with pytest.raises(UsageError, match="1,000,000,000 points"):
        report(entry(points=10**10))
    with pytest.raises(UsageError, match="seconds"):
        report(entry(), wall_s=1e300)
