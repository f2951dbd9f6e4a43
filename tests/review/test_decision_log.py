"""Decisions are stored once, even if they are sent twice, and never overwrite unseen decisions of others."""

import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.review_class import NAME, fill, hash_of
from tests.support.review_queues import QUESTION, reader, refreshed_log
from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, FIRST, MARK, SECOND, SETTLED, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records import hand_grading
from viva.plugins.records.hand_grading import Changed
from viva.plugins.records.store import Records
from viva.plugins.review.decision_log import DecisionLog

F = Fraction
KEY = hash_of(0), QUESTION
HERE, BLIND, ABOVE = Place(*KEY), Place(*KEY, MARK, SECOND), Place(*KEY, SETTLED, 0)
ADA, GRACE = Reason("Ada"), Reason("Grace")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    with reader(tmp_path_factory.mktemp("class") / "records.db") as opened:
        fill(opened, 2)
        yield opened


@pytest.fixture
def name() -> str:
    """Return the name of an assignment without decisions."""
    return uuid.uuid4().hex


@pytest.fixture
def decisions(records: Records, name: str) -> DecisionLog:
    return refreshed_log(records, name)


def said(comment: str = "", earned: int = 1, *, done: bool = True) -> Judgement:
    return Judgement(("limits",), F(0), comment, done, F(earned), F(4), f"+1  limits\n\n{comment}")


def kept(records: Records, name: str) -> list[Review]:
    return hand_grading.since(records, name, 0)


# --- the same thing twice


def test_same_decision_is_stored_once(records: Records, name: str, decisions: DecisionLog) -> None:
    (first,) = decisions.append([(HERE, said())], ADA, action="a")
    (again,) = decisions.append([(HERE, said())], ADA, action="b")
    (by_another,) = decisions.append([(HERE, said())], GRACE, action="c", seen={HERE: first.id})
    assert first == again == by_another and kept(records, name) == [first]
    with_reason = decisions.append([(HERE, said())], Reason("Grace", "the rubric has changed"), action="d")
    assert [row.why for row in kept(records, name)] == ["", "the rubric has changed"] and with_reason[0].id > first.id


def test_only_new_decisions_are_stored(records: Records, name: str, decisions: DecisionLog) -> None:
    other = replace(HERE, content_hash=hash_of(1))
    decisions.append([(HERE, said())], ADA, action="a")
    rows = decisions.append([(HERE, said()), (other, said())], ADA, action="b")
    assert [row.place for row in rows] == [HERE, other]
    assert [(row.action, row.place) for row in kept(records, name)] == [("a", HERE), ("b", other)]


def test_lost_reply(records: Records, name: str, decisions: DecisionLog) -> None:
    """The action is sent twice: nothing is added, also where another queue answers the second time."""
    rows = decisions.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0})
    assert decisions.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0}) == rows
    late = refreshed_log(records, name)
    assert late.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0}) == rows
    assert kept(records, name) == rows


def test_lost_reply_with_more_text(records: Records, name: str, decisions: DecisionLog) -> None:
    decisions.append([(HERE, said("half a sen", done=False))], ADA, action="a", seen={HERE: 0})
    (now,) = decisions.append([(HERE, said("half a sentence"))], ADA, action="a", seen={HERE: 0})
    assert now.judgement == said("half a sentence") and now.action != "a"
    assert [row.judgement.comment for row in kept(records, name)] == ["half a sen", "half a sentence"]
    (once,) = decisions.append([(HERE, said("half a sentence"))], ADA, action="a", seen={HERE: 0})
    assert once == now and len(kept(records, name)) == 2


def test_lost_reply_overwrites_nobody(records: Records, name: str, decisions: DecisionLog) -> None:
    (first,) = decisions.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0})
    refreshed_log(records, name).append([(HERE, said("by Grace"))], GRACE, action="g", seen={HERE: first.id})
    with pytest.raises(Changed, match="by Grace"):
        decisions.append([(HERE, said("one and two"))], ADA, action="a", seen={HERE: 0})
    assert [row.judgement.comment for row in kept(records, name)] == ["one", "by Grace"]


@pytest.mark.parametrize("knows", [False, True], ids=["a log that has not looked", "a log that has"])
def test_lost_reply_returns_the_own_row(records: Records, name: str, decisions: DecisionLog, knows: bool) -> None:
    """With the number of a row that she has not seen her page would go on, and write over it."""
    (first,) = decisions.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0})
    refreshed_log(records, name).append([(HERE, said("by Grace"))], GRACE, action="g", seen={HERE: first.id})
    if knows:
        decisions.refresh()
    assert decisions.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0}) == [first]
    with pytest.raises(Changed, match="by Grace"):
        decisions.append([(HERE, said("one and two"))], ADA, action="b", seen={HERE: first.id})


def test_old_action_with_new_decisions(records: Records, name: str, decisions: DecisionLog) -> None:
    """Similar answers get a mark; with the browser's Back one more is chosen, and the form is sent again."""
    other = replace(HERE, content_hash=hash_of(1))
    (first,) = decisions.append([(HERE, said())], ADA, action="a", seen={HERE: 0, other: 0})
    rows = decisions.append([(HERE, said("more")), (other, said("more"))], ADA, action="a", seen={HERE: 0, other: 0})
    assert [(row.place, row.judgement) for row in rows] == [(HERE, said("more")), (other, said("more"))]
    assert kept(records, name) == [first, *rows]
    third = replace(HERE, content_hash=hash_of(2))
    refreshed_log(records, name).append([(third, said("by Grace"))], GRACE, action="")
    with pytest.raises(Changed, match="by Grace"):
        decisions.append([(HERE, said()), (third, said())], ADA, action="a", seen={third: 0})


# --- two at once


def test_unseen_decision_is_not_overwritten(records: Records, name: str, decisions: DecisionLog) -> None:
    other = replace(HERE, content_hash=hash_of(1))
    (grace,) = refreshed_log(records, name).append([(HERE, said("by Grace"))], GRACE, action="g")
    with pytest.raises(Changed) as changed:
        decisions.append([(other, said()), (HERE, said("by Ada"))], ADA, action="a", seen={HERE: 0})
    assert changed.value.rows == (grace,) and kept(records, name) == [grace]
    with pytest.raises(Changed):
        decisions.append([(HERE, said("by Ada"))], ADA, action="b")  # nothing said of what was seen: what it knew
    decisions.refresh()
    assert decisions.append([(HERE, said("by Ada"))], ADA, action="c", seen={HERE: grace.id})[0].by == "Ada"
    with pytest.raises(Changed):
        decisions.append([(HERE, said("again"))], ADA, action="d", seen={HERE: 10**30})


def test_concurrent_threads(records: Records, name: str, decisions: DecisionLog) -> None:
    places = [replace(HERE, content_hash=hash_of(number)) for number in range(24)]
    threads = [
        threading.Thread(
            target=lambda part=part: [decisions.append([(place, said())], ADA, action="") for place in part]
        )
        for part in (places[:8], places[8:16], places[16:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row.place for row in kept(records, name)} == set(places)
    assert decisions.done(QUESTION, FIRST) == {place.content_hash for place in places}
    assert decisions.refresh() == set()


def test_refresh_reads_decisions_of_others(records: Records, name: str, decisions: DecisionLog) -> None:
    elsewhere = refreshed_log(records, name)
    (row,) = elsewhere.append([(HERE, said("x"))], GRACE, action="")
    assert (decisions.at(HERE), decisions.seen(HERE)) == (None, 0)
    assert decisions.refresh() == {KEY} and decisions.refresh() == set()
    assert (decisions.at(HERE), decisions.seen(HERE)) == (row, row.id)
    assert decisions.history(KEY) == [row] == refreshed_log(records, name).current()
    elsewhere.append([(HERE, said("x", done=False))], GRACE, action="")
    assert decisions.done(QUESTION, FIRST) == {hash_of(0)}
    decisions.refresh()
    assert decisions.done(QUESTION, FIRST) == set()
    assert refreshed_log(records, NAME).current() == [], "another assignment"


# --- what counts, and what is told of it


def test_comments_of_a_round(decisions: DecisionLog) -> None:
    other, third = replace(HERE, content_hash=hash_of(1)), replace(HERE, content_hash=hash_of(2))
    decisions.append([(HERE, said("the first says"))], ADA, action="")
    decisions.append([(BLIND, said("the second says"))], GRACE, action="")
    decisions.append([(other, said("a draft", done=False))], ADA, action="")
    decisions.append([(third, said("overwritten"))], ADA, action="")
    decisions.append([(third, said(""))], ADA, action="")
    decisions.append([(replace(HERE, question="2.2"), said("of another question"))], ADA, action="")
    decisions.append([(ABOVE, said("settled"))], Reason("Ada", "why"), action="")
    assert decisions.comments(QUESTION, FIRST) == ["the first says"]
    assert decisions.comments(QUESTION, SECOND) == ["the second says"]


def test_times_of_a_marker(decisions: DecisionLog) -> None:
    (row,) = decisions.append([(HERE, said())], ADA, action="")
    decisions.append([(replace(HERE, content_hash=hash_of(1)), said())], GRACE, action="")
    decisions.append([(replace(HERE, content_hash=hash_of(2)), said(done=False))], ADA, action="")
    decisions.append([(BLIND, said())], ADA, action="")
    assert decisions.times(QUESTION, "Ada", FIRST) == [row.at] and decisions.times("2.2", "Ada", FIRST) == []
    assert len(decisions.times(QUESTION, "Ada", SECOND)) == 1 and decisions.times(QUESTION, "Alan", FIRST) == []


def test_settled_decision(decisions: DecisionLog) -> None:
    decisions.append([(HERE, said("one", 1))], ADA, action="")
    assert decisions.standing(KEY).by == ("Ada",) and decisions.differing() == []
    decisions.append([(BLIND, said("two", 2))], GRACE, action="")
    assert (
        decisions.differing() == [KEY] and decisions.standing(KEY).judgement is None and decisions.settled(KEY) is None
    )
    decisions.append([(ABOVE, said("three", 3))], Reason("Ada", "seen together"), action="")
    assert decisions.standing(KEY).judgement == said("three", 3) and decisions.differing() == []
    assert decisions.undo("Ada", FIRST)[0].place == ABOVE
    assert decisions.settled(KEY) is None and decisions.differing() == [KEY]


def test_regrade_requests(decisions: DecisionLog) -> None:
    assert decisions.appealed() == {} and decisions.appeals(KEY) == ()
    decisions.append([(HERE, said())], ADA, action="")
    decisions.append([(ABOVE, said())], Reason("Ada", "before anybody asked"), action="")
    decisions.appeal(KEY, "  Please look again.\n", "Ada")
    assert decisions.appealed() == {KEY: True} and [row.why for row in decisions.appeals(KEY)] == ["Please look again."]
    decisions.append([(ABOVE, said("", 2))], Reason("Ada", "it is there"), action="")
    assert decisions.appealed() == {KEY: False}
    decisions.appeal(KEY, "And again.", "Grace")
    assert decisions.appealed() == {KEY: True} and len(decisions.appeals(KEY)) == 2
    with pytest.raises(UsageError, match="needs its text"):
        decisions.appeal(KEY, " \n", "Ada")
    assert not [row for row in decisions.current() if row.place.kind == APPEAL]


# --- undo


def test_undo_goes_back_step_by_step(decisions: DecisionLog) -> None:
    decisions.append([(HERE, said("", done=False))], ADA, action="")
    for text in ("A", "A se", "A sentence."):
        decisions.append([(HERE, said(text, done=False))], ADA, action="")
    decisions.append([(HERE, said("A sentence."))], ADA, action="")
    comments = []
    while rows := decisions.undo("Ada", FIRST):
        comments.append((rows[0].judgement.comment, rows[0].judgement.done, rows[0].judgement.items))
    assert comments == [("A sentence.", False, ("limits",)), ("", False, ("limits",)), ("", False, ())]
    assert len(decisions.history(KEY)) == 8, "nothing is deleted"
    assert decisions.done(QUESTION, FIRST) == set()
