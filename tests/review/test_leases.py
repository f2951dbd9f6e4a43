"""Each answer is assigned once, and only to a marker who may grade it."""

import contextlib
import uuid
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.review_queues import ADA, ALAN, GRACE, QUESTION, class_of, queue_of, say
from viva.model.errors import UsageError
from viva.model.hand_grading import SECOND
from viva.plugins.records import hand_grading
from viva.plugins.records.hand_grading import Changed
from viva.plugins.records.store import Records
from viva.plugins.review import leases
from viva.plugins.review.leases import Marker
from viva.plugins.review.queue import ReviewQueue
from viva.plugins.review.written_answers import Answer

SIZE = 12
BLIND = Marker("Grace", SECOND)


def test_next_answer_until_the_end(queue: ReviewQueue) -> None:
    answers = queue.answers[QUESTION]
    for place in (0, 2, 3):
        say(queue, ADA, answers[place])
    assert queue.next_for(ADA, QUESTION) is answers[1]
    assert queue.next_for(ADA, QUESTION, answers[1]) is answers[4]
    assert queue.next_for(ADA, QUESTION, answers[-1]) is answers[1], "it goes on at the beginning"
    for answer in answers[4:]:
        say(queue, ADA, answer)
    assert queue.next_for(ADA, QUESTION, answers[1]) is None, "the one that she comes from is no next one"
    assert queue.next_for(ADA, QUESTION) is answers[1]
    say(queue, ADA, answers[1], done=False)
    assert queue.next_for(ADA, QUESTION) is answers[1], "a draft is not marked"
    say(queue, ADA, answers[1])
    assert queue.next_for(ADA, QUESTION) is None
    assert (queue.progress(QUESTION, 1).done, queue.progress(QUESTION, 1).left) == (SIZE, 0)
    assert queue.progress("2.2", 1).left == SIZE == queue.progress(QUESTION, SECOND).left


def test_opened_answer_comes_last(queue: ReviewQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("viva.plugins.review.leases.time.monotonic", lambda: now)
    answers = queue.answers[QUESTION]
    queue.leases.open(GRACE, answers[0])
    queue.leases.open(ADA, answers[1])
    assert queue.next_for(GRACE, QUESTION) is answers[0], "her own is not kept from her"
    assert queue.next_for(ADA, QUESTION) is answers[1]
    assert queue.next_for(Marker("Alan", SECOND), QUESTION) is answers[0]
    for answer in answers[1:]:
        say(queue, ADA, answer)
    assert queue.next_for(ADA, QUESTION, answers[-1]) is answers[0], "before she is told that all is marked"
    queue.leases.open(GRACE, answers[0])
    now += leases.LEASE_S - 1
    assert queue.next_for(ALAN, QUESTION) is answers[0]


def test_expired_lease(queue: ReviewQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("viva.plugins.review.leases.time.monotonic", lambda: now)
    first, second = queue.answers[QUESTION][:2]
    queue.leases.open(GRACE, first)
    assert queue.next_for(ADA, QUESTION) is second
    now += leases.LEASE_S
    assert queue.next_for(ADA, QUESTION) is first


def test_second_round_skips_own_answers(queue: ReviewQueue) -> None:
    answers = queue.answers[QUESTION]
    say(queue, GRACE, answers[0])
    say(queue, ADA, answers[1])
    say(queue, GRACE, answers[2], done=False)
    assert queue.next_for(BLIND, QUESTION) is answers[1]
    say(queue, BLIND, answers[1])
    assert queue.next_for(BLIND, QUESTION) is answers[3], "nobody has marked it: it is no mark of hers"
    for answer in answers[3:]:
        say(queue, BLIND, answer)
    assert queue.next_for(BLIND, QUESTION) is None and queue.progress(QUESTION, SECOND).left == 2
    before = list(queue.decisions.current())
    with pytest.raises(UsageError, match="someone else has to give the second one"):
        say(queue, BLIND, answers[0])
    assert list(queue.decisions.current()) == before


@pytest.mark.parametrize(
    ("done_by_others", "begins"),
    [([0], 6), ([11], 5), ([0, 1, 2, 3], 8), ([6], 3), ([3], 8), ([1, 10], 6), ([*range(11)], 11)],
)
def test_new_marker_starts_mid_gap(queue: ReviewQueue, done_by_others: list[int], begins: int) -> None:
    answers = queue.answers[QUESTION]
    for place in done_by_others:
        say(queue, ADA, answers[place])
    found = queue.next_for(GRACE, QUESTION)
    assert found is answers[begins]
    assert queue.next_for(GRACE, "2.2") is queue.answers["2.2"][0], "nobody marks that one"
    ada = next(place for place in range(SIZE) if place not in done_by_others)
    assert queue.next_for(ADA, QUESTION) is answers[ada]


def test_marker_jumps_past_another(queue: ReviewQueue) -> None:
    answers = queue.answers[QUESTION]
    for answer in answers[:4]:
        say(queue, ADA, answer)
    assert queue.next_for(GRACE, QUESTION, answers[3]) is answers[8]
    say(queue, GRACE, answers[8])
    assert queue.next_for(GRACE, QUESTION, answers[8]) is answers[9]


def test_draft_makes_nobody_jump(queue: ReviewQueue) -> None:
    answers = queue.answers[QUESTION]
    say(queue, ADA, answers[2], done=False)
    assert queue.next_for(GRACE, QUESTION, answers[2]) is answers[3]


def test_neighbor_is_the_next_answer_in_order(queue: ReviewQueue) -> None:
    answers = queue.answers[QUESTION]
    assert [queue.position(answer) for answer in answers] == list(range(SIZE))
    assert queue.neighbor(answers[3], 1) is answers[4] and queue.neighbor(answers[3], -1) is answers[2]
    assert queue.neighbor(answers[0], -1) is None and queue.neighbor(answers[-1], 1) is None


@pytest.mark.long
@given(
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["look", "mark", "jump"])), max_size=60),
    st.integers(0, 9),
)
def test_two_markers_in_any_order(records: Records, size: int, turns: list[tuple[int, str]], jump: int) -> None:
    """Each marker has a queue; both may open the same answer, and then the slower one gets an error."""
    class_, name = class_of([f"text {n}" for n in range(size)]), uuid.uuid4().hex
    with queue_of(records, class_, name=name) as (one, _), queue_of(records, class_, name=name) as (two, _):
        markers = [(one, ADA), (two, GRACE)]
        looks: list[Answer | None] = [None, None]
        kept: list[str] = []
        ends = [(who, "mark") for _ in range(size + 1) for who in (0, 1)]
        for who, what in [*turns, *ends]:
            queue, marker = markers[who]
            here = looks[who]
            if here is None or what == "look":
                queue.refresh()
                looks[who] = here = queue.next_for(marker, "1", here)
                if here is not None:
                    queue.leases.open(marker, here)
            if what == "jump" and size:
                looks[who] = one.answers["1"][jump % size]
            if what != "mark" or here is None:
                continue
            if here.content_hash not in queue.decisions.done("1", 1):  # as far as she knows
                judgement = queue.judge(here, ["why"], Fraction(who), "", done=True)
                with contextlib.suppress(Changed):
                    queue.mark(marker, [(here, judgement)], action="", seen={here.content_hash: 0})
                    kept.append(here.content_hash)
                queue.refresh()
            looks[who] = queue.next_for(marker, "1", here)
        assert sorted(kept) == sorted(answer.content_hash for answer in one.answers["1"])
        one.refresh()
        two.refresh()
        assert one.next_for(ADA, "1") is None is two.next_for(GRACE, "1")
        rows = hand_grading.latest_rows(records, name)
        assert len(rows) == size and all(row.judgement.done for row in rows)


@given(st.lists(st.integers(0, 8), max_size=6), st.lists(st.integers(0, 8), max_size=3), st.integers(1, 9))
def test_next_reaches_every_answer(records: Records, others: list[int], held: list[int], size: int) -> None:
    with queue_of(records, class_of(["x"] * size), name=uuid.uuid4().hex) as (queue, _):
        answers = queue.answers["1"]
        for place in {each for each in others if each < size}:
            say(queue, GRACE, answers[place], "why")
        for place in {each for each in held if each < size}:
            queue.leases.open(ALAN, answers[place])
        left = {a.content_hash for a in answers} - set(queue.decisions.done("1", 1))
        reached = []
        here = queue.next_for(ADA, "1")
        while here is not None:
            reached.append(here.content_hash)
            say(queue, ADA, here)
            here = queue.next_for(ADA, "1", here)
            assert len(reached) <= size
        assert sorted(reached) == sorted(left)
