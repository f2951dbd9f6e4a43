"""Who is asked what next: everything once, by whom it may be."""

import contextlib
import uuid
from fractions import Fraction

import pytest
from desks import ADA, ALAN, GRACE, QUESTION, class_of, desk_of, say
from hypothesis import given
from hypothesis import strategies as st

from viva.model.errors import UsageError
from viva.model.hand_grading import SECOND
from viva.records import Records, hand_grading
from viva.records.hand_grading import Changed
from viva.review import leases as turns_taken
from viva.review.leases import Marker
from viva.review.queue import Desk
from viva.review.written_answers import Answer

SIZE = 12
BLIND = Marker("Grace", SECOND)


def test_a_marker_is_led_through_and_then_there_is_none(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    for place in (0, 2, 3):
        say(desk, ADA, answers[place])
    assert desk.next_for(ADA, QUESTION) is answers[1]
    assert desk.next_for(ADA, QUESTION, answers[1]) is answers[4]
    assert desk.next_for(ADA, QUESTION, answers[-1]) is answers[1], "it goes on at the beginning"
    for answer in answers[4:]:
        say(desk, ADA, answer)
    assert desk.next_for(ADA, QUESTION, answers[1]) is None, "the one that she comes from is no next one"
    assert desk.next_for(ADA, QUESTION) is answers[1]
    say(desk, ADA, answers[1], done=False)
    assert desk.next_for(ADA, QUESTION) is answers[1], "a draft is not marked"
    say(desk, ADA, answers[1])
    assert desk.next_for(ADA, QUESTION) is None
    assert (desk.progress(QUESTION, 1).done, desk.progress(QUESTION, 1).left) == (SIZE, 0)
    assert desk.progress("2.2", 1).left == SIZE == desk.progress(QUESTION, SECOND).left


def test_what_somebody_else_has_opened_comes_last_and_only_in_her_round(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(turns_taken.time, "monotonic", lambda: now)
    answers = desk.answers[QUESTION]
    desk.turns.open(GRACE, answers[0])
    desk.turns.open(ADA, answers[1])
    assert desk.next_for(GRACE, QUESTION) is answers[0], "her own is not kept from her"
    assert desk.next_for(ADA, QUESTION) is answers[1]
    assert desk.next_for(Marker("Alan", SECOND), QUESTION) is answers[0]
    for answer in answers[1:]:
        say(desk, ADA, answer)
    assert desk.next_for(ADA, QUESTION, answers[-1]) is answers[0], "before she is told that all is marked"
    desk.turns.open(GRACE, answers[0])
    now += turns_taken.HELD_S - 1
    assert desk.next_for(ALAN, QUESTION) is answers[0]


def test_what_was_opened_long_ago_is_given_away(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(turns_taken.time, "monotonic", lambda: now)
    first, second = desk.answers[QUESTION][:2]
    desk.turns.open(GRACE, first)
    assert desk.next_for(ADA, QUESTION) is second
    now += turns_taken.HELD_S
    assert desk.next_for(ADA, QUESTION) is first


def test_a_second_marker_gets_none_that_she_marked_at_first(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    say(desk, GRACE, answers[0])
    say(desk, ADA, answers[1])
    say(desk, GRACE, answers[2], done=False)
    assert desk.next_for(BLIND, QUESTION) is answers[1]
    say(desk, BLIND, answers[1])
    assert desk.next_for(BLIND, QUESTION) is answers[3], "nobody has marked it: it is no mark of hers"
    for answer in answers[3:]:
        say(desk, BLIND, answer)
    assert desk.next_for(BLIND, QUESTION) is None and desk.progress(QUESTION, SECOND).left == 2
    before = list(desk.journal.said())
    with pytest.raises(UsageError, match="has to be somebody else's"):
        say(desk, BLIND, answers[0])
    assert list(desk.journal.said()) == before


@pytest.mark.parametrize(
    ("done_by_others", "begins"),
    [([0], 6), ([11], 5), ([0, 1, 2, 3], 8), ([6], 3), ([3], 8), ([1, 10], 6), ([*range(11)], 11)],
)
def test_where_others_mark_somebody_new_begins_in_the_middle_of_the_longest_run(
    desk: Desk, done_by_others: list[int], begins: int
) -> None:
    answers = desk.answers[QUESTION]
    for place in done_by_others:
        say(desk, ADA, answers[place])
    found = desk.next_for(GRACE, QUESTION)
    assert found is answers[begins]
    assert desk.next_for(GRACE, "2.2") is desk.answers["2.2"][0], "nobody marks that one"
    ada = next(place for place in range(SIZE) if place not in done_by_others)
    assert desk.next_for(ADA, QUESTION) is answers[ada]


def test_who_runs_into_another_marker_jumps_away(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    for answer in answers[:4]:
        say(desk, ADA, answer)
    assert desk.next_for(GRACE, QUESTION, answers[3]) is answers[8]
    say(desk, GRACE, answers[8])
    assert desk.next_for(GRACE, QUESTION, answers[8]) is answers[9]


def test_somebody_elses_draft_makes_nobody_jump(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    say(desk, ADA, answers[2], done=False)
    assert desk.next_for(GRACE, QUESTION, answers[2]) is answers[3]


def test_the_neighbours_of_an_answer(desk: Desk) -> None:
    answers = desk.answers[QUESTION]
    assert [desk.position(answer) for answer in answers] == list(range(SIZE))
    assert desk.beside(answers[3], 1) is answers[4] and desk.beside(answers[3], -1) is answers[2]
    assert desk.beside(answers[0], -1) is None and desk.beside(answers[-1], 1) is None


@given(
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["look", "mark", "jump"])), max_size=60),
    st.integers(0, 9),
)
def test_every_answer_is_marked_once_however_two_markers_take_turns(
    records: Records, size: int, turns: list[tuple[int, str]], jump: int
) -> None:
    """Each on a desk of her own; both may look at the same answer, and then the slower one is told."""
    class_, name = class_of([f"text {n}" for n in range(size)]), uuid.uuid4().hex
    with desk_of(records, class_, name=name) as (one, _), desk_of(records, class_, name=name) as (two, _):
        markers = [(one, ADA), (two, GRACE)]
        looks: list[Answer | None] = [None, None]
        kept: list[str] = []
        ends = [(who, "mark") for _ in range(size + 1) for who in (0, 1)]
        for who, what in [*turns, *ends]:
            desk, marker = markers[who]
            here = looks[who]
            if here is None or what == "look":
                desk.refresh()
                looks[who] = here = desk.next_for(marker, "1", here)
                if here is not None:
                    desk.turns.open(marker, here)
            if what == "jump" and size:
                looks[who] = one.answers["1"][jump % size]
            if what != "mark" or here is None:
                continue
            if here.content_hash not in desk.journal.done("1", 1):  # as far as she knows
                judgement = desk.judged(here, ["why"], Fraction(who), "", done=True)
                with contextlib.suppress(Changed):
                    desk.mark(marker, [(here, judgement)], action="", seen={here.content_hash: 0})
                    kept.append(here.content_hash)
                desk.refresh()
            looks[who] = desk.next_for(marker, "1", here)
        assert sorted(kept) == sorted(answer.content_hash for answer in one.answers["1"])
        one.refresh()
        two.refresh()
        assert one.next_for(ADA, "1") is None is two.next_for(GRACE, "1")
        rows = hand_grading.standing_rows(records, name)
        assert len(rows) == size and all(row.judgement.done for row in rows)


@given(st.lists(st.integers(0, 8), max_size=6), st.lists(st.integers(0, 8), max_size=3), st.integers(1, 9))
def test_who_repeats_next_and_mark_reaches_everything_once(
    records: Records, others: list[int], held: list[int], size: int
) -> None:
    with desk_of(records, class_of(["x"] * size), name=uuid.uuid4().hex) as (desk, _):
        answers = desk.answers["1"]
        for place in {each for each in others if each < size}:
            say(desk, GRACE, answers[place], "why")
        for place in {each for each in held if each < size}:
            desk.turns.open(ALAN, answers[place])
        left = {a.content_hash for a in answers} - set(desk.journal.done("1", 1))
        reached = []
        here = desk.next_for(ADA, "1")
        while here is not None:
            reached.append(here.content_hash)
            say(desk, ADA, here)
            here = desk.next_for(ADA, "1", here)
            assert len(reached) <= size
        assert sorted(reached) == sorted(left)
