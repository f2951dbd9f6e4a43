"""A rubric that has changed since: nothing changes by itself, what can follow does, and it can be taken back."""

import uuid
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.review_queues import ADA, GRACE, answer_of, class_of, pages_of, queue_of, say, wait_for_writer
from viva.config.rubric import Item, Question, Rubric
from viva.model.hand_grading import FIRST, SECOND, SETTLED, Place
from viva.plugins.records.hand_grading import Changed
from viva.plugins.records.store import Records
from viva.plugins.review import rubric_change
from viva.plugins.review.decision_log import place_of
from viva.plugins.review.leases import Marker
from viva.plugins.review.rubric_change import RubricChange

F = Fraction
ITEMS = (Item("why", F(2), "Says why."), Item("how", F(1), "Says how."), Item("name", F(1), "Names it."))
OLD = Rubric((Question("1", "Why?", F(4), ITEMS), Question("2", "How?", F(4), ITEMS)))
CLASS = class_of([f"text {number}" for number in range(6)], OLD)
BLIND = Marker("Grace", SECOND)


def changed(*items: Item) -> Rubric:
    """Return the rubric with other items for its first question."""
    return Rubric((replace(OLD.questions[0], items=items), OLD.questions[1]))


@pytest.fixture
def name(records: Records) -> str:
    """Store grades by the old rubric: of both rounds, a draft, a decision, and one of the unchanged question."""
    name = uuid.uuid4().hex
    with queue_of(records, CLASS, OLD, name=name) as (queue, _):
        say(queue, ADA, answer_of(queue, 0, "1"), "why", comment="Well.")
        say(queue, ADA, answer_of(queue, 1, "1"), "how")
        say(queue, ADA, answer_of(queue, 2, "1"), "why", "name")
        say(queue, ADA, answer_of(queue, 3, "1"), "why", done=False)
        say(queue, ADA, answer_of(queue, 4, "1"))
        say(queue, ADA, answer_of(queue, 0, "2"), "why")
        say(queue, BLIND, answer_of(queue, 0, "1"), "why")
        decided = queue.judge(answer_of(queue, 1, "1"), ["why", "how"], F(0), "", done=True)
        queue.settle("Ada", answer_of(queue, 1, "1"), decided, "seen together", action="", seen=0)
        assert rubric_change.find(queue, ADA) is None and rubric_change.apply(queue, ADA) == 0
    return name


@pytest.mark.parametrize(
    ("items", "first", "second"),
    [
        (ITEMS, None, None),
        ((replace(ITEMS[0], points=F(3)), *ITEMS[1:]), RubricChange(4, 0), RubricChange(1, 0)),
        ((replace(ITEMS[0], text="Says why, in words."), *ITEMS[1:]), RubricChange(4, 0), RubricChange(1, 0)),
        ((ITEMS[0], replace(ITEMS[1], points=F(2)), ITEMS[2]), RubricChange(2, 0), None),
        (ITEMS[:2], RubricChange(0, 1), None),
        (ITEMS[1:], RubricChange(0, 4), RubricChange(0, 1)),
        ((replace(ITEMS[0], points=F(3)), ITEMS[1]), RubricChange(3, 1), RubricChange(1, 0)),
        ((*ITEMS, Item("more", F(1), "More.")), None, None),
        (ITEMS[::-1], RubricChange(2, 0), None),  # what the student reads is in another order
    ],
)
def test_find_counts_marks_of_a_changed_rubric(
    records: Records, name: str, items: tuple[Item, ...], first: RubricChange | None, second: RubricChange | None
) -> None:
    with queue_of(records, CLASS, changed(*items), name=name) as (queue, _):
        before = queue.decisions.current()
        assert (rubric_change.find(queue, ADA), rubric_change.find(queue, BLIND)) == (first, second)
        assert rubric_change.find(queue, GRACE) == first, "another first marker may do it as well"
        assert queue.decisions.current() == before


def test_apply_updates_every_mark_that_can_follow(records: Records, name: str) -> None:
    with queue_of(records, CLASS, changed(replace(ITEMS[0], points=F(3)), ITEMS[1]), name=name) as (queue, source):
        wait_for_writer(queue)
        source.stored.clear()
        places = {row.place: row for row in queue.decisions.current()}
        assert rubric_change.apply(queue, GRACE) == 3
        rows = {row.place: row for row in queue.decisions.current() if row != places[row.place]}
        zero, one = (answer_of(queue, number, "1") for number in (0, 1))
        assert set(rows) == {
            place_of(zero.key, FIRST), place_of(zero.key, SECOND), Place(one.content_hash, "1", SETTLED, 0),
        }  # fmt: skip
        assert {(row.by, row.why, row.action) for row in rows.values()} == {
            ("Grace", "the rubric has changed", next(iter(rows.values())).action)
        }
        after = rows[place_of(zero.key, FIRST)].judgement
        assert (after.earned, after.comment, after.items) == (F(3), "Well.", ("why",)) and "+3" in after.told
        assert rubric_change.find(queue, GRACE) == RubricChange(0, 1), "what lost its item waits for a person"
        assert rubric_change.apply(queue, GRACE) == 0
    assert {name for name, _ in source.stored} == {"s0", "s1"}


def test_undo_restores_marks_before_the_change(records: Records, name: str) -> None:
    with queue_of(records, CLASS, changed(replace(ITEMS[0], points=F(3)), *ITEMS[1:]), name=name) as (queue, _):
        before = {row.place: row.judgement for row in queue.decisions.current()}
        assert rubric_change.apply(queue, ADA) == 4
        assert len(queue.undo(ADA)) == 4
        assert {row.place: row.judgement for row in queue.decisions.current()} == before
        assert rubric_change.find(queue, ADA) == RubricChange(4, 0)


def test_apply_in_the_second_round(records: Records, name: str) -> None:
    with queue_of(records, CLASS, changed(replace(ITEMS[0], points=F(3)), *ITEMS[1:]), name=name) as (queue, _):
        assert rubric_change.apply(queue, BLIND) == 1 and rubric_change.find(queue, BLIND) is None
        first = queue.decisions.at(place_of(answer_of(queue, 2, "1").key, FIRST))
        assert first is not None and (first.by, first.judgement.earned) == ("Ada", F(3))
        assert queue.leases.may_mark(BLIND, answer_of(queue, 2, "1"))


def test_apply_after_another_marker(records: Records, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    new = changed(replace(ITEMS[0], points=F(3)), *ITEMS[1:])
    with queue_of(records, CLASS, new, name=name) as (queue, _), queue_of(records, CLASS, new, name=name) as (other, _):
        say(other, GRACE, answer_of(other, 0, "1"), "how")
        with pytest.raises(Changed, match="by Grace"):
            rubric_change.apply(queue, ADA)
        with pages_of(queue) as pages:
            ada = pages.person()
            assert "By the present rubric 3 get other points" in ada.get("/").body
            say(other, GRACE, answer_of(other, 2, "1"), "how")
            monkeypatch.setattr(queue, "refresh", lambda: None)  # it comes between the look and the change
            sent = ada.send("/rubric")
            assert sent.status == 409 and "No grade was changed" in sent.body and "by Grace" in sent.body
            monkeypatch.undo()
            assert ada.send("/rubric").status == 303 and "has changed since" not in ada.get("/").body
            assert "has changed since" not in ada.get("/").body
