"""Which wrong answers are one, and how often each was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from tests.support.report_class import entry, marked
from viva.model import Status
from viva.report.class_page.clusters import UNKNOWN, normalised, wrong_answers

HIDDEN = "This test is hidden: what it asks and what went wrong is not shown."


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("f(3) is 0.5; expected 1.", "f(17) is -2e-3; expected 1.", True),
        ("gave [1, 2, 3]; expected [1]", "gave [4, 5]; expected [9]", True),
        ("`bleu` is not defined.", "`blue` is not defined.", False),
        ("The mask is wrong\n  cell 3", "The mask is wrong\n  cell 8", True),
        ("4*d**2 is not right: at d = 3 it gives 36.", "4*d**2 is not right: at d = 5 it gives 100.", True),
        ("4*d**2 is not right", "3*d**2 is not right", False),
        ("2(d+1) is not right", "3(d+1) is not right", False),
        ("11/12 is not right", "11/13 is not right", False),
        ("x1 is wrong", "x2 is wrong", False),  # a name, no number
        ("a is 1. It equals a known mistake: M.", "b is 2. It equals a known mistake: M.", True),
    ],
)
def test_messages_that_differ_in_numbers_alone_are_one(one: str, two: str, same: bool) -> None:
    assert (normalised(one) == normalised(two)) is same


def test_students_are_counted_once_each() -> None:
    wrong = "g is 1. It equals a known mistake: no clipping."
    class_ = [marked(f"s{i}", entry("1.1", Status.FAILED, message=wrong)) for i in range(5)]
    class_ += [marked("own", entry("1.1", Status.ERROR, message="Your code raised KeyError."))]
    class_ += [marked("right", entry("1.1"))]
    (found,) = wrong_answers(class_)
    assert found.students == 6
    assert [(c.text, c.is_known_mistake, c.count, c.example) for c in found.clusters] == [
        ("no clipping", True, 5, "s0")
    ]
    assert found.others == 1


def test_what_went_wrong_in_a_hidden_test_is_told_by_what_staff_read() -> None:
    def hidden(name: str, staff: str) -> object:
        return marked(name, entry("1.1", Status.FAILED, message=HIDDEN, staff=staff, visibility="hidden"))

    (found,) = wrong_answers([hidden("a", "h(1) is 2"), hidden("b", "h(7) is 9"), hidden("c", ""), hidden("d", "")])
    assert [(c.text, c.count) for c in found.clusters] == [("h(#) is #", 2), (UNKNOWN, 2)]


def test_open_and_skipped_tests_are_no_wrong_answers() -> None:
    open_ = [entry("1", status, message="x") for status in (Status.DEFERRED, Status.GRADER_ERROR, Status.SKIPPED)]
    assert wrong_answers([marked("s", *open_)]) == []


def test_what_a_marker_wrote_is_no_wrong_answer() -> None:
    """Neither to students nor, of a hidden test, to staff."""
    marks = [
        entry(
            "1", Status.PARTIAL, earned=1, message="Which mask?", staff="Marked by grace.", rubric="1", visibility=how
        )
        for how in ("visible", "hidden")
    ]
    assert wrong_answers([marked(name, mark) for name in "abc" for mark in marks]) == []


@given(draw.text(max_size=300))
def test_any_text_has_a_key_in_one_line(text: str) -> None:
    key, known = normalised(text)
    assert "\n" not in key and len(key) < 500
    assert known == ("It equals a known mistake: " in text and known)
    assert normalised(key)[0] == normalised(normalised(key)[0])[0]
