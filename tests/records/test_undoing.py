"""Taking back walks through all that a marker did, the last first, and writes over no one."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.prose import ALAN, GRACE, WHY, place, said
from viva.model.hand_grading import SECOND, SETTLED, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records.hand_grading import Changed, append, current_decisions, history, latest_rows, since, undo
from viva.plugins.records.store import Records

NOTHING = Judgement(points=Fraction(4))
State = dict[Place, Judgement]


def state(records: Records, assignment: str = "small") -> State:
    """What is at each place of which something is said."""
    found = {row.place: row.judgement for row in latest_rows(records, assignment)}
    return {where: judgement for where, judgement in found.items() if judgement != NOTHING}


def test_undo_takes_back_ones_own_last_mark(records: Records) -> None:
    (first,) = append(records, "small", "a1", [(place(), said(1))], ALAN)
    append(records, "small", "a2", [(place(), said(3))], GRACE)
    (row,) = undo(records, "small", "u1", replace(GRACE, why="too much"), 1)
    assert (row.place, row.judgement, row.by, row.why, row.undoes) == (
        place(), first.judgement, "grace", "too much", "a2",
    )  # fmt: skip
    assert undo(records, "small", "u2", GRACE, 1) == [], "the other mark is not hers"
    (row,) = undo(records, "small", "u3", ALAN, 1)
    assert (row.judgement, row.undoes) == (NOTHING, "a1")
    assert [each.action for each in history(records, "small", "00", "2.1")] == ["a1", "a2", "u1", "u3"]
    assert undo(records, "small", "u4", ALAN, 1) == undo(records, "other", "u5", GRACE, 1) == []


def test_undo_of_a_group(records: Records) -> None:
    places = [place(f"{n:04}") for n in range(1100)]
    append(records, "small", "a1", [(places[7], said(1)), (places[8], said(2))], ALAN)
    append(records, "small", "a2", [(each, said(3)) for each in places], GRACE)
    rows = undo(records, "small", "u1", GRACE, 1)
    assert [row.place for row in rows] == places and {row.undoes for row in rows} == {"a2"}
    assert state(records) == {places[7]: said(1), places[8]: said(2)}


def test_undo_of_a_changed_group(records: Records) -> None:
    append(records, "small", "a1", [(place("00"), said(1)), (place("01"), said(1))], GRACE)
    (now,) = append(records, "small", "a2", [(place("01"), said(2))], ALAN)
    before = since(records, "small", 0)
    with pytest.raises(Changed, match="by alan") as caught:
        undo(records, "small", "u1", GRACE, 1)
    assert caught.value.rows == (now,) and since(records, "small", 0) == before
    undo(records, "small", "u2", ALAN, 1)
    assert len(undo(records, "small", "u3", GRACE, 1)) == 2, "what another one has taken back himself is no change"
    assert state(records) == {}


def test_request_sent_twice(records: Records) -> None:
    for number in (1, 2):
        append(records, "small", f"a{number}", [(place(), said(number))], GRACE)
    first = undo(records, "small", "u1", GRACE, 1)
    assert undo(records, "small", "u1", GRACE, 1) == first and state(records) == {place(): said(1)}


def test_sentence_goes_as_a_whole(records: Records) -> None:
    append(records, "small", "a0", [(place("01"), said(1))], GRACE)
    append(records, "small", "a1", [(place(), said(3))], GRACE)
    for number, text in enumerate(("Go", "Good", "Good, but"), 2):
        append(records, "small", f"a{number}", [(place(), said(3, comment=text))], GRACE)
    (row,) = undo(records, "small", "u1", GRACE, 1)
    assert (row.judgement, row.undoes) == (said(3), "a2")
    append(records, "small", "a5", [(place(), said(3, comment="Bad"))], GRACE)
    undo(records, "small", "u2", GRACE, 1)
    assert state(records) == {place("01"): said(1), place(): said(3)}
    (row,) = undo(records, "small", "u3", GRACE, 1)
    assert (row.judgement, row.undoes) == (NOTHING, "a1")
    undo(records, "small", "u4", GRACE, 1)
    assert state(records) == {}


def test_two_sentences(records: Records) -> None:
    append(records, "small", "a1", [(place(), said(3, comment="by alan"))], ALAN)
    append(records, "small", "a2", [(place(), said(3, comment="by grace"))], GRACE)
    append(records, "small", "a3", [(place("01"), said(1))], GRACE)
    append(records, "small", "a4", [(place(), said(3, comment="by grace, later"))], GRACE)
    comments = []
    for number in range(3):
        undo(records, "small", f"u{number}", GRACE, 1)
        comments.append((state(records)[place()].comment, place("01") in state(records)))
    assert comments == [("by grace", True), ("by grace", False), ("by alan", False)]


def test_sentence_is_taken_back_once(records: Records) -> None:
    """Between its last row and its end lies another action, which went before it."""
    for number, comment in ((1, "Go"), (2, "Good")):
        append(records, "small", f"a{number}", [(place(), replace(NOTHING, comment=comment))], GRACE)
    append(records, "small", "a3", [(place(), said(3))], GRACE)
    undone = [undo(records, "small", f"u{number}", GRACE, 1) for number in range(3)]
    assert [[row.undoes for row in rows] for rows in undone] == [["a3"], ["a1"], []]


def test_rounds_and_settlements_are_apart(records: Records) -> None:
    second, settled = place(round=SECOND), place(kind=SETTLED)
    append(records, "small", "a1", [(place(), said(1))], GRACE)
    append(records, "small", "a2", [(second, said(2))], GRACE)
    append(records, "small", "a3", [(settled, said(3))], WHY)
    assert undo(records, "small", "u1", ALAN, 1) == undo(records, "small", "u1", ALAN, 2) == []
    (row,) = undo(records, "small", "u2", GRACE, 2)
    assert (row.place, row.judgement.done) == (settled, False)
    assert current_decisions(latest_rows(records, "small"))["00", "2.1"].judgement is None, "the two differ again"
    (row,) = undo(records, "small", "u3", GRACE, 1)
    assert row.place == place() and undo(records, "small", "u4", GRACE, 1) == []
    assert state(records) == {second: said(2)}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    """Records for many examples, each in an assignment of its own."""
    with Records.open("sqlite:///records.db", tmp_path_factory.mktemp("undoing")) as opened:
        yield opened


FRESH = count()
POINTS = st.integers(0, 4)
PLACES = st.sets(st.sampled_from([place("00"), place("01"), place("02")]), min_size=1)


@pytest.mark.long
@given(st.lists(st.tuples(PLACES, POINTS), max_size=6))
def test_each_step_back(kept: Records, actions: list[tuple[set[Place], int]]) -> None:
    assignment = f"alone {next(FRESH)}"
    states = [state(kept, assignment)]
    for number, (places, points) in enumerate(actions):
        judgement = said(points, items=(f"item {number}",))
        append(kept, assignment, f"a{number}", [(each, judgement) for each in sorted(places)], GRACE)
        states.append(state(kept, assignment))
    for number in range(len(actions)):
        assert state(kept, assignment) == states.pop()
        assert undo(kept, assignment, f"u{number}", GRACE, 1)
    assert [state(kept, assignment)] == states
    assert undo(kept, assignment, "one more", GRACE, 1) == []


@dataclass(eq=False)
class Act:
    """One action in the model."""

    by: Reason
    said: State


@dataclass
class Model:
    """What undoing means, with lists that are changed in place."""

    acts: list[Act] = field(default_factory=list)

    def there(self, where: Place, before: Act | None = None) -> Act | None:
        acts = self.acts if before is None else self.acts[: self.acts.index(before)]
        return next((act for act in reversed(acts) if where in act.said), None)

    def judgement(self, where: Place, before: Act | None = None) -> Judgement:
        act = self.there(where, before)
        return act.said[where] if act else NOTHING

    def is_sentence(self, act: Act) -> bool:
        return all(
            replace(self.judgement(where, act), comment="", told="") == replace(judgement, comment="", told="")
            for where, judgement in act.said.items()
        )

    def may_go(self, act: Act) -> bool:
        return all(self.there(where) is act for where in act.said)

    def undo(self, by: Reason) -> bool | None:
        """True: something was taken back; False: it was changed; None: there is nothing."""
        mine = [act for act in self.acts if act.by == by]
        if not mine:
            return None
        last = mine.pop()
        if not self.may_go(last):
            return False
        going_on = self.is_sentence(last)
        self.acts.remove(last)
        while going_on and mine and set(mine[-1].said) == set(last.said):
            if not self.may_go(mine[-1]) or not self.is_sentence(mine[-1]):
                break
            self.acts.remove(mine.pop())
        return True


STEPS = st.lists(
    st.tuples(
        st.sampled_from([GRACE, ALAN]),
        st.none() | st.tuples(PLACES, st.none() | POINTS, st.sampled_from(["", "a", "b"])),
    ),
    max_size=14,
)


@pytest.mark.long
@given(STEPS)
def test_undo_is_that_of_a_simple_model(
    kept: Records, steps: list[tuple[Reason, tuple[set[Place], int | None, str] | None]]
) -> None:
    """None is an undo; a step without points writes a comment next to what stands there."""
    assignment, model = f"several {next(FRESH)}", Model()
    rows: list[Review] = []
    for number, (by, step) in enumerate(steps):
        if step is None:
            expected = model.undo(by)
            try:
                assert bool(undo(kept, assignment, f"u{number}", by, 1)) == (expected is True)
            except Changed:
                assert expected is False
        else:
            places, points, comment = step
            judgements = {
                where: replace(
                    model.judgement(where) if points is None else said(points), comment=comment, told=comment
                )
                for where in sorted(places)
            }
            append(kept, assignment, f"a{number}", list(judgements.items()), by)
            model.acts.append(Act(by, judgements))
        stands = {where: model.judgement(where) for act in model.acts for where in act.said}
        assert state(kept, assignment) == {where: what for where, what in stands.items() if what != NOTHING}
        before, rows = rows, since(kept, assignment, 0)
        assert rows[: len(before)] == before, "rows are added, never changed"
