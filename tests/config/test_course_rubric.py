"""What a marker's choice is worth: groups, bounds, items that exclude each other; and the evidence next to it."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from viva.config.rubric import Group, Item, Question, earned, evidence
from viva.model import Entry, Status
from viva.model.errors import UsageError

F = Fraction
QUESTION = Question(
    "2.1",
    "Why?",
    F(4),
    (
        Item("why", F(2), "the reason"),
        Item("one", F(1), "one example", "examples"),
        Item("two", F(1), "another example", "examples"),
        Item("three", F(1), "a third example", "examples"),
        Item("whole", F(1), "all is said", "scope"),
        Item("part", F(1, 2), "a part is said", "scope"),
        Item("mask", F(-1), "mixes up the masks", "slips"),
        Item("scale", F(-1), "forgets the scale", "slips"),
        Item("copied", F(-9), "copied from the handout"),
    ),
    (Group("examples", cap=F(1)), Group("scope", exclusive=True), Group("slips", floor=F(-3, 2))),
)


@pytest.mark.parametrize(
    ("chosen", "points"),
    [
        ("", 0),
        ("why one two three whole", 4),  # the cap of the examples
        ("why scale mask", F(1, 2)),  # the floor of the slips
        ("mask", 0),
        ("why one whole copied", 0),
        ("why why", 2),
    ],
)
def test_earned_points_respect_groups_and_bounds(chosen: str, points: Fraction) -> None:
    assert earned(QUESTION, chosen.split()) == points
    assert earned(QUESTION, reversed(chosen.split())) == points


def test_most_is_the_best_choice() -> None:
    """By trying every choice that is allowed."""
    wide = replace(QUESTION, points=F(99))
    ids = [item.id for item in QUESTION.items]
    choices = [c for n in range(len(ids) + 1) for c in combinations(ids, n) if not {"whole", "part"} <= set(c)]
    assert max(earned(wide, choice) for choice in choices) == QUESTION.most() == 4


def test_items_that_exclude_each_other() -> None:
    with pytest.raises(UsageError, match=r"^Question 2\.1: `whole` and `part` exclude each other \(group `scope`\)"):
        earned(QUESTION, ["part", "whole"])


def test_unknown_item() -> None:
    with pytest.raises(UsageError, match=r"^Question 2\.1 has no rubric item `reason`; there are: why, one, "):
        earned(QUESTION, ["reason", "why"])


@st.composite
def questions(draw: st.DrawFn) -> Question:
    worth = st.fractions(-3, 3, max_denominator=4)
    groups = tuple(
        Group(name, draw(st.none() | st.fractions(0, 3)), draw(st.none() | st.fractions(-3, 0)), draw(st.booleans()))
        for name in draw(st.sets(st.sampled_from("ab")))
    )
    names = st.sampled_from(["", *(group.name for group in groups)])
    items = tuple(Item(str(i), draw(worth), "text", draw(names)) for i in range(draw(st.integers(1, 6))))
    return Question("1", "T", draw(st.fractions(0, 6, max_denominator=4)), items, groups)


@given(questions(), st.data())
def test_points_are_bounded_in_any_order(question: Question, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from([item.id for item in question.items])))
    groups = {group.name: group for group in question.groups}
    taken = [item.group for item in question.items if item.id in chosen]
    twice = any(group.exclusive and taken.count(name) > 1 for name, group in groups.items())
    if twice:
        with pytest.raises(UsageError, match="exclude each other"):
            earned(question, chosen)
        return
    points = earned(question, chosen)
    assert 0 <= points <= question.points
    assert points <= max(question.most(), F(0))
    assert points == earned(question, data.draw(st.permutations(chosen)))


@given(questions(), st.data())
def test_good_item_never_costs(question: Question, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from([item.id for item in question.items])))
    more = data.draw(st.sampled_from(question.items))
    assume(more.id not in chosen)
    try:
        before, after = earned(question, chosen), earned(question, chosen | {more.id})
    except UsageError:
        return
    assert after >= before if more.points >= 0 else after <= before


def entry(test_id: str, number: str, status: Status = Status.PASSED, rubric: str = "") -> Entry:
    return Entry(test_id, "name", number, "visible", status, F(0), F(1), (), rubric=rubric)


def test_evidence_by_id_function_and_number() -> None:
    entries = [
        entry("test_a.py::test_scores", "2.1"),
        entry("test_a.py::test_masks", "2.2"),
        entry("test_b.py::test_masks", "2.3"),
        entry("test_b.py::test_sums", "2.4", Status.FAILED),
        entry("test_written.py::test_why", "2.1", Status.NEEDS_REVIEW, rubric="2.1"),
        entry("test_written.py::test_how", "2.1", Status.PARTIAL, rubric="2.2"),  # it is marked already
    ]

    def evidence_of(*names: str) -> list[str]:
        return [e.test_id for e in evidence(replace(QUESTION, evidence=names), entries)]

    assert evidence_of() == [] and evidence_of("2", "test_written.py::test_why", "test_how") == [], "never the prose"
    assert evidence_of("2.1") == ["test_a.py::test_scores"]
    assert evidence_of("test_masks") == ["test_a.py::test_masks", "test_b.py::test_masks"]
    both = evidence_of("test_b.py::test_sums", "2.1", "test_scores")
    assert both == ["test_a.py::test_scores", "test_b.py::test_sums"]
