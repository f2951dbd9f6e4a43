"""What markers have said: kept once, whatever is sent twice; never over what somebody else has said meanwhile."""

import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from desks import QUESTION, looked, reader
from review_class import NAME, fill, hash_of

from viva.model.errors import UsageError
from viva.model.hand_grading import APPEAL, FIRST, MARK, SECOND, SETTLED, Judgement, Place, Review
from viva.records import Records, hand_grading
from viva.records.hand_grading import Changed
from viva.records.store import Reason
from viva.review.decision_log import Journal

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
    """An assignment that nothing is known of."""
    return uuid.uuid4().hex


@pytest.fixture
def journal(records: Records, name: str) -> Journal:
    return looked(records, name)


def said(comment: str = "", earned: int = 1, *, done: bool = True) -> Judgement:
    return Judgement(("limits",), F(0), comment, done, F(earned), F(4), f"+1  limits\n\n{comment}")


def kept(records: Records, name: str) -> list[Review]:
    return hand_grading.since(records, name, 0)


# --- the same thing twice


def test_what_says_the_same_is_not_kept_again(records: Records, name: str, journal: Journal) -> None:
    (first,) = journal.append([(HERE, said())], ADA, action="a")
    (again,) = journal.append([(HERE, said())], ADA, action="b")
    (by_another,) = journal.append([(HERE, said())], GRACE, action="c", seen={HERE: first.id})
    assert first == again == by_another and kept(records, name) == [first]
    with_reason = journal.append([(HERE, said())], Reason("Grace", "the rubric has changed"), action="d")
    assert [row.why for row in kept(records, name)] == ["", "the rubric has changed"] and with_reason[0].id > first.id


def test_of_several_places_only_what_is_new_is_kept(records: Records, name: str, journal: Journal) -> None:
    other = replace(HERE, content_hash=hash_of(1))
    journal.append([(HERE, said())], ADA, action="a")
    rows = journal.append([(HERE, said()), (other, said())], ADA, action="b")
    assert [row.place for row in rows] == [HERE, other]
    assert [(row.action, row.place) for row in kept(records, name)] == [("a", HERE), ("b", other)]


def test_a_reply_that_was_lost_is_given_again(records: Records, name: str, journal: Journal) -> None:
    """The action is sent twice: nothing is added, also where another desk answers the second time."""
    rows = journal.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0})
    assert journal.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0}) == rows
    late = looked(records, name)
    assert late.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0}) == rows
    assert kept(records, name) == rows


def test_a_reply_that_was_lost_while_the_text_went_on(records: Records, name: str, journal: Journal) -> None:
    journal.append([(HERE, said("half a sen", done=False))], ADA, action="a", seen={HERE: 0})
    (now,) = journal.append([(HERE, said("half a sentence"))], ADA, action="a", seen={HERE: 0})
    assert now.judgement == said("half a sentence") and now.action != "a"
    assert [row.judgement.comment for row in kept(records, name)] == ["half a sen", "half a sentence"]
    (once,) = journal.append([(HERE, said("half a sentence"))], ADA, action="a", seen={HERE: 0})
    assert once == now and len(kept(records, name)) == 2


def test_a_reply_that_was_lost_does_not_go_over_what_another_has_said_since(
    records: Records, name: str, journal: Journal
) -> None:
    (first,) = journal.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0})
    looked(records, name).append([(HERE, said("by Grace"))], GRACE, action="g", seen={HERE: first.id})
    with pytest.raises(Changed, match="by Grace"):
        journal.append([(HERE, said("one and two"))], ADA, action="a", seen={HERE: 0})
    assert [row.judgement.comment for row in kept(records, name)] == ["one", "by Grace"]


@pytest.mark.parametrize("knows", [False, True], ids=["a journal that has not looked", "a journal that has"])
def test_nor_is_what_another_said_taken_for_the_markers_own(
    records: Records, name: str, journal: Journal, knows: bool
) -> None:
    """With the number of a row that she has not seen her page would go on, and write over it."""
    (first,) = journal.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0})
    looked(records, name).append([(HERE, said("by Grace"))], GRACE, action="g", seen={HERE: first.id})
    if knows:
        journal.refresh()
    assert journal.append([(HERE, said("one"))], ADA, action="a", seen={HERE: 0}) == [first]
    with pytest.raises(Changed, match="by Grace"):
        journal.append([(HERE, said("one and two"))], ADA, action="b", seen={HERE: first.id})


def test_a_page_that_was_gone_back_to_can_say_more_with_its_old_action(
    records: Records, name: str, journal: Journal
) -> None:
    """Similar answers get a mark; with the browser's Back one more is chosen, and the form is sent again."""
    other = replace(HERE, content_hash=hash_of(1))
    (first,) = journal.append([(HERE, said())], ADA, action="a", seen={HERE: 0, other: 0})
    rows = journal.append([(HERE, said("more")), (other, said("more"))], ADA, action="a", seen={HERE: 0, other: 0})
    assert [(row.place, row.judgement) for row in rows] == [(HERE, said("more")), (other, said("more"))]
    assert kept(records, name) == [first, *rows]
    third = replace(HERE, content_hash=hash_of(2))
    looked(records, name).append([(third, said("by Grace"))], GRACE, action="")
    with pytest.raises(Changed, match="by Grace"):
        journal.append([(HERE, said()), (third, said())], ADA, action="a", seen={third: 0})


# --- two at once


def test_who_has_not_seen_what_stands_there_keeps_nothing(records: Records, name: str, journal: Journal) -> None:
    other = replace(HERE, content_hash=hash_of(1))
    (grace,) = looked(records, name).append([(HERE, said("by Grace"))], GRACE, action="g")
    with pytest.raises(Changed) as changed:
        journal.append([(other, said()), (HERE, said("by Ada"))], ADA, action="a", seen={HERE: 0})
    assert changed.value.rows == (grace,) and kept(records, name) == [grace]
    with pytest.raises(Changed):
        journal.append([(HERE, said("by Ada"))], ADA, action="b")  # nothing said of what was seen: what it knew
    journal.refresh()
    assert journal.append([(HERE, said("by Ada"))], ADA, action="c", seen={HERE: grace.id})[0].by == "Ada"
    with pytest.raises(Changed):
        journal.append([(HERE, said("again"))], ADA, action="d", seen={HERE: 10**30})


def test_many_threads_at_one_journal_lose_nothing(records: Records, name: str, journal: Journal) -> None:
    places = [replace(HERE, content_hash=hash_of(number)) for number in range(24)]
    threads = [
        threading.Thread(target=lambda part=part: [journal.append([(place, said())], ADA, action="") for place in part])
        for part in (places[:8], places[8:16], places[16:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row.place for row in kept(records, name)} == set(places)
    assert journal.done(QUESTION, FIRST) == {place.content_hash for place in places}
    assert journal.refresh() == set()


def test_a_look_brings_what_others_have_added_and_says_of_which_answers(
    records: Records, name: str, journal: Journal
) -> None:
    elsewhere = looked(records, name)
    (row,) = elsewhere.append([(HERE, said("x"))], GRACE, action="")
    assert (journal.at(HERE), journal.seen(HERE)) == (None, 0)
    assert journal.refresh() == {KEY} and journal.refresh() == set()
    assert (journal.at(HERE), journal.seen(HERE)) == (row, row.id)
    assert journal.history(KEY) == [row] == looked(records, name).said()
    elsewhere.append([(HERE, said("x", done=False))], GRACE, action="")
    assert journal.done(QUESTION, FIRST) == {hash_of(0)}
    journal.refresh()
    assert journal.done(QUESTION, FIRST) == set()
    assert looked(records, NAME).said() == [], "another assignment"


# --- what counts, and what is told of it


def test_comments_are_those_of_the_own_round_that_stand(journal: Journal) -> None:
    other, third = replace(HERE, content_hash=hash_of(1)), replace(HERE, content_hash=hash_of(2))
    journal.append([(HERE, said("the first says"))], ADA, action="")
    journal.append([(BLIND, said("the second says"))], GRACE, action="")
    journal.append([(other, said("a draft", done=False))], ADA, action="")
    journal.append([(third, said("overwritten"))], ADA, action="")
    journal.append([(third, said(""))], ADA, action="")
    journal.append([(replace(HERE, question="2.2"), said("of another question"))], ADA, action="")
    journal.append([(ABOVE, said("settled"))], Reason("Ada", "why"), action="")
    assert journal.comments(QUESTION, FIRST) == ["the first says"]
    assert journal.comments(QUESTION, SECOND) == ["the second says"]


def test_times_are_the_markers_own(journal: Journal) -> None:
    (row,) = journal.append([(HERE, said())], ADA, action="")
    journal.append([(replace(HERE, content_hash=hash_of(1)), said())], GRACE, action="")
    journal.append([(replace(HERE, content_hash=hash_of(2)), said(done=False))], ADA, action="")
    journal.append([(BLIND, said())], ADA, action="")
    assert journal.times(QUESTION, "Ada", FIRST) == [row.at] and journal.times("2.2", "Ada", FIRST) == []
    assert len(journal.times(QUESTION, "Ada", SECOND)) == 1 and journal.times(QUESTION, "Alan", FIRST) == []


def test_a_decision_stands_above_both_rounds_until_it_is_taken_back(journal: Journal) -> None:
    journal.append([(HERE, said("one", 1))], ADA, action="")
    assert journal.standing(KEY).by == ("Ada",) and journal.differing() == []
    journal.append([(BLIND, said("two", 2))], GRACE, action="")
    assert journal.differing() == [KEY] and journal.standing(KEY).judgement is None and journal.settled(KEY) is None
    journal.append([(ABOVE, said("three", 3))], Reason("Ada", "seen together"), action="")
    assert journal.standing(KEY).judgement == said("three", 3) and journal.differing() == []
    assert journal.undo("Ada", FIRST)[0].place == ABOVE
    assert journal.settled(KEY) is None and journal.differing() == [KEY]


def test_a_request_waits_until_it_is_decided_and_a_second_one_waits_again(journal: Journal) -> None:
    assert journal.appealed() == {} and journal.appeals(KEY) == ()
    journal.append([(HERE, said())], ADA, action="")
    journal.append([(ABOVE, said())], Reason("Ada", "before anybody asked"), action="")
    journal.appeal(KEY, "  Please look again.\n", "Ada")
    assert journal.appealed() == {KEY: True} and [row.why for row in journal.appeals(KEY)] == ["Please look again."]
    journal.append([(ABOVE, said("", 2))], Reason("Ada", "it is there"), action="")
    assert journal.appealed() == {KEY: False}
    journal.appeal(KEY, "And again.", "Grace")
    assert journal.appealed() == {KEY: True} and len(journal.appeals(KEY)) == 2
    with pytest.raises(UsageError, match="needs its text"):
        journal.appeal(KEY, " \n", "Ada")
    assert not [row for row in journal.said() if row.place.kind == APPEAL]


def test_requests_are_there_again_for_a_new_journal(records: Records, name: str, journal: Journal) -> None:
    journal.appeal(KEY, "One.", "Ada")
    journal.appeal(KEY, "Two.", "Ada")
    assert [row.why for row in looked(records, name).appeals(KEY)] == ["One.", "Two."]


# --- undo


def test_undo_goes_back_action_by_action_and_autosaves_of_one_sentence_go_together(journal: Journal) -> None:
    journal.append([(HERE, said("", done=False))], ADA, action="")
    for text in ("A", "A se", "A sentence."):
        journal.append([(HERE, said(text, done=False))], ADA, action="")
    journal.append([(HERE, said("A sentence."))], ADA, action="")
    comments = []
    while rows := journal.undo("Ada", FIRST):
        comments.append((rows[0].judgement.comment, rows[0].judgement.done, rows[0].judgement.items))
    assert comments == [("A sentence.", False, ("limits",)), ("", False, ("limits",)), ("", False, ())]
    assert len(journal.history(KEY)) == 8, "nothing is deleted"
    assert journal.done(QUESTION, FIRST) == set()


def test_records_in_a_file_that_cannot_be_written_are_a_sentence(tmp_path: Path) -> None:
    with reader(tmp_path / "records.db") as records:
        journal = looked(records, "x")
        with records.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE reviews")
        with pytest.raises(UsageError, match=r"The records cannot be written: no such table: reviews"):
            journal.append([(HERE, said())], ADA, action="a")
