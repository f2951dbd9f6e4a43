"""What people decide: marks set by hand, proposals of a regrade; nothing of it overwrites anything."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support import prose, samples
from viva.model import Score, Status
from viva.model.errors import UsageError
from viva.model.reason import Reason
from viva.plugins.records.hand_grading import append, undo
from viva.plugins.records.overrides import ByHand, apply_overrides, decided, list_overrides, override
from viva.plugins.records.proposals import Change, NewGrading, decide, pending_proposal, propose
from viva.plugins.records.store import Records, StoredScore
from viva.plugins.records.tables import Override

BY = Reason("grace", "a fairer tolerance")


def gain(change: Change) -> Fraction:
    return change.score.earned - change.kept.scored.score.earned


def keep(records: Records, name: str, *earned: int) -> StoredScore:
    (number,) = records.add_attempts("small", [(samples.attempt(name), "00")])
    made = records.add_score(number, samples.score(name, *earned), samples.made("m1"), Reason("ada"), once=False)
    (kept,) = [k for k in records.current("small") if k.id == made]
    return kept


def proposal_for(records: Records, *found: tuple[StoredScore, Score]) -> None:
    propose(records, "small", [new(kept, score) for kept, score in found], BY)


def new(kept: StoredScore, score: Score, call_log: bytes = b"", *, differs: bool = True) -> NewGrading:
    return NewGrading(kept, score, samples.made("m2"), differs, call_log)


def test_override_above_the_score(records: Records) -> None:
    kept = keep(records, "ada", 4, 1)
    score = kept.scored.score
    override(records, score, "ada", "2", Fraction(5, 2), BY)
    held = ByHand.read(records, "small").held("ada")
    by_hand = apply_overrides(score, held).entries[1]
    assert (by_hand.status, by_hand.earned) == (Status.PARTIAL, Fraction(5, 2))
    assert by_hand.message == "Set by hand to 2.5 of 4 points: a fairer tolerance"
    assert "by grace" in by_hand.staff_message and "(was partial, 1)" in by_hand.staff_message
    assert (by_hand.word, by_hand.symbol) == ("graded", Status.NEEDS_REVIEW.symbol)
    assert apply_overrides(score, held).earned == Fraction(13, 2)
    override(records, score, "ada", "test_2", None, BY)
    assert ByHand.read(records, "small").held("ada") == {} and len(list_overrides(records, "small")) == 2
    assert apply_overrides(score, {}) is score


def test_override_holds_for_later_attempts(records: Records) -> None:
    def hand_in(attempt: int) -> None:
        (number,) = records.add_attempts("small", [(samples.attempt(number=attempt), "00")])
        records.add_score(number, samples.score("ada", 1, 1), samples.made(), BY)

    for attempt, points in ((1, 2), (2, 3), (3, None)):
        hand_in(attempt)
        if points is not None:
            override(records, samples.score(), "ada", "2", Fraction(points), BY)
    assert [kept.scored.score.entries[1].earned for kept in decided(records, "small")] == [2, 3, 3]


def test_override_of_what_is_worth_less_now(records: Records) -> None:
    held = {
        "test_it.py::test_1": Override(
            name="ada", test_id="test_it.py::test_1", earned=Fraction(9), by="grace", why="so", at="now"
        )
    }
    entry = apply_overrides(samples.score(), held).entries[0]
    assert entry.status is Status.PASSED and entry.earned == 4


def test_override_above_graded_prose(records: Records) -> None:
    """A mark is about bytes, whoever handed them in, at whichever attempt; an override about one submission."""
    for name, content_hash in (("ada", "00"), ("bob", "00"), ("cem", "01")):
        (number,) = records.add_attempts("small", [(samples.attempt(name), content_hash)])
        graded = prose.score(name, content_hash=content_hash)
        records.add_score(number, graded, samples.made(), BY)
    assert ByHand.read(records, "small") == ByHand({}, {})
    append(records, "small", "a1", [(prose.place(), prose.said(3))], BY)
    append(records, "small", "a2", [(prose.place("01"), prose.said(4, done=False))], BY)
    override(records, graded, "bob", "3", Fraction(1), BY)
    ada, bob, cem = (kept.scored.score for kept in decided(records, "small"))
    assert [s.earned for s in (ada, bob, cem)] == [8, 6, 5] and [s.still_open for s in (ada, bob, cem)] == [0, 0, 4]
    assert "(was partial, 3)" in bob.entries[2].staff_message
    by_hand = ByHand.read(records, "small")
    assert all(map(by_hand.touches, records.current("small"))), "a draft may have been a mark before"
    undo(records, "small", "u1", BY, 1)
    assert [kept.scored.score.earned for kept in decided(records, "small")] == [8, 6, 5]
    undo(records, "small", "u2", BY, 1)
    assert [kept.scored.score.earned for kept in decided(records, "small")] == [5, 6, 5]


@pytest.mark.parametrize(
    ("test", "earned", "reason", "said"),
    [
        ("7", 1, BY, "no test '7'; ask for one of: test_1, test_2"),
        ("1", 5, BY, "has 4 points; 5 cannot be given"),
        ("1", -1, BY, "-1 cannot be given"),
        ("1", 1, Reason("grace"), "needs who decided it and why"),
        ("1", 1, Reason("", "why"), "needs who decided it and why"),
    ],
)
def test_wrong_override(records: Records, test: str, earned: int, reason: Reason, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        override(records, samples.score(), "ada", test, Fraction(earned), reason)
    assert list_overrides(records, "small") == []


def test_proposal_is_applied(records: Records) -> None:
    ada, bob = keep(records, "ada", 1, 1), keep(records, "bob", 4, 4)
    proposal_for(records, (ada, samples.score("ada", 4, 1)), (bob, samples.score("bob", 4, 2)))
    proposal = pending_proposal(records, "small")
    assert proposal is not None and [gain(change) for change in proposal.changes] == [3, -2]
    (test,) = [*proposal.changes][1].tests
    assert (test.test_id, test.before, test.after, test.message) == ("test_it.py::test_2", 4, 2, "expected 3")
    assert [kept.scored.score.earned for kept in records.current("small")] == [2, 8]

    done = decide(records, proposal, BY, applied=True, chosen=lambda change: gain(change) > 0)
    assert done == ["ada"]
    first, second = records.current("small")
    assert (first.kind, first.made_with, first.by) == ("regraded", "m2", "grace")
    assert first.scored.score.earned == 5
    assert second == bob
    rest = pending_proposal(records, "small")
    assert rest is not None and [gain(change) for change in rest.changes] == [-2]
    assert decide(records, proposal, BY, applied=True, chosen=lambda change: gain(change) > 0) == []

    decide(records, rest, BY, applied=False)
    assert records.current("small")[1] == bob
    assert (after := pending_proposal(records, "small")) is not None and not after.changes
    assert [kept.scored.score.earned for kept in records.history("ada")] == [2, 5]


def test_proposal_for_an_old_score_is_void(records: Records) -> None:
    ada = keep(records, "ada", 1, 1)
    proposal_for(records, (ada, samples.score("ada", 4, 1)))
    keep(records, "ada", 4, 4)
    proposal = pending_proposal(records, "small")
    assert proposal is not None and not proposal.changes


def test_unchanged_scores_are_kept_at_once(records: Records) -> None:
    ada, bob, cem = (keep(records, name, 2, 2) for name in ("ada", "bob", "cem"))
    later = keep(records, "cem", 4, 4)
    same = [new(each, each.scored.score, b"said", differs=False) for each in (bob, cem)]
    propose(records, "small", [new(ada, samples.score("ada", 3, 3)), *same], BY)
    proposal = pending_proposal(records, "small")
    assert proposal is not None and [change.kept.id for change in proposal.changes] == [ada.id]
    first, second, third = records.current("small")
    assert (first, third) == (ada, later), "nothing takes the place of a score that came meanwhile"
    assert second.scored == bob.scored and second.conditions == samples.made("m2")
    assert (second.kind, second.made_with, second.by, second.why) == ("regraded", "m2", BY.by, BY.why)
    assert records.call_log(second.call_log_id) == b"said"


def test_later_of_two_proposals(records: Records) -> None:
    ada = keep(records, "ada", 1, 1)
    proposal_for(records, (ada, samples.score("ada", 2, 1)))
    proposal_for(records, (ada, samples.score("ada", 3, 1)))
    proposal = pending_proposal(records, "small")
    assert proposal is not None and [gain(change) for change in proposal.changes] == [2]
    assert pending_proposal(records, "other") is None


def test_tests_that_came_and_went(records: Records) -> None:
    ada = keep(records, "ada", 1, 1)
    first, second = ada.scored.score.entries
    renamed = replace(second, test_id="test_it.py::test_3", points=Fraction(9))
    proposal_for(records, (ada, replace(ada.scored.score, entries=(first, renamed))))
    proposal = pending_proposal(records, "small")
    assert proposal is not None
    (change,) = proposal.changes
    assert [(t.test_id, t.before, t.after) for t in change.tests] == [
        ("test_it.py::test_3", None, 1),
        ("test_it.py::test_2", 1, None),
    ]
    assert change.tests[1].message == "The test does not exist any more."
