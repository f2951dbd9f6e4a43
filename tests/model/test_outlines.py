"""Small forms of scores."""

from dataclasses import replace
from fractions import Fraction

import pytest

from viva.model import Case, Entry, Score, Status
from viva.model.outlines import Outlines


def score(name: str, *statuses: Status, wall_s: float = 0.1) -> Score:
    entries = tuple(entry(number, status, f"{name} says {number}", wall_s) for number, status in enumerate(statuses))
    return Score(name, name, "small", 1, entries, ("a note",))


def entry(number: int, status: Status, message: str, wall_s: float) -> Entry:
    earned = Fraction(2 if status is Status.PASSED else 0)
    cases = (Case("", status, earned, Fraction(2), message, "for staff", wall_s),)
    return Entry(f"test_it.py::test_{number}", "It.", str(number), "visible", status, earned, Fraction(2), cases)


@pytest.mark.parametrize("statuses", [(), (Status.PASSED,), (Status.PASSED, Status.FAILED, Status.NEEDS_REVIEW)])
def test_points_and_statuses_stay(statuses: tuple[Status, ...]) -> None:
    whole = score("ada", *statuses)
    outline = Outlines().reduce(whole)
    assert (outline.earned, outline.points, outline.still_open) == (whole.earned, whole.points, whole.still_open)
    assert [e.status for e in outline.entries] == [*statuses] and outline.submission == "ada"
    assert not any(e.message or e.staff_message for e in outline.entries)


def test_equal_entries_are_kept_once() -> None:
    outlines = Outlines()
    ada = outlines.reduce(score("ada", Status.PASSED, Status.FAILED))
    bob = outlines.reduce(score("bob", Status.PASSED, Status.FAILED, wall_s=0.2))
    cem = outlines.reduce(score("cem", Status.PASSED, Status.PASSED))
    assert ada.entries is bob.entries and ada.entries[0] is cem.entries[0] and ada.entries[1] != cem.entries[1]


def test_selected_messages_stay_without_times() -> None:
    whole = score("ada", Status.PASSED, Status.FAILED)
    right, wrong = Outlines(lambda entry: entry.status.is_wrong).reduce(whole).entries
    assert right.cases == () and wrong.cases == (replace(whole.entries[1].cases[0], wall_s=0.0),)


def test_notes_stay_where_nothing_was_earned() -> None:
    """The report says with them why."""
    assert Outlines().reduce(score("ada", Status.FAILED)).notes == ("a note",)
    assert Outlines().reduce(score("ada", Status.PASSED)).notes == ()
