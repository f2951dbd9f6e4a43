"""What counts of what markers said, and how it is in a score."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.prose import entry, place, said, score
from viva.examiner.outcome import judge
from viva.grading.signals import NeedsReview
from viva.model import Case, Status
from viva.model.hand_grading import APPEAL, FIRST, SECOND, SETTLED, CurrentDecision, Judgement, Place, Review
from viva.plugins.records.hand_grading import apply_decisions, current_decisions

DRAFT = said(4, done=False)
WHERE = {FIRST: place(), SECOND: place(round=SECOND), SETTLED: place(kind=SETTLED)}


def rows(**said_by: tuple[Place, Judgement]) -> list[Review]:
    """Each row by the name of its marker, in order."""
    return [
        Review(number, f"a{number}", where, judgement, name, "", f"2026-11-0{number}")
        for number, (name, (where, judgement)) in enumerate(said_by.items(), 1)
    ]


def of(latest: list[Review]) -> CurrentDecision:
    return current_decisions(latest)["00", "2.1"]


@pytest.mark.parametrize(
    ("first", "second", "settled", "counts", "by"),
    [
        (said(3), None, None, 3, ("grace",)),
        (said(0), None, None, 0, ("grace",)),
        (said(3), DRAFT, None, 3, ("grace",)),
        (said(3), said(3, comment="also"), None, 3, ("grace", "alan")),
        (said(3), said(2), None, None, ()),
        (None, said(2), None, None, ()),
        (DRAFT, said(4), None, None, ()),
        (DRAFT, None, None, None, ()),
        (said(3), said(2), said(1), 1, ("ada",)),
        (None, None, said(1), 1, ("ada",)),
        (said(3), None, DRAFT, 3, ("grace",)),
        (said(3), said(2), DRAFT, None, ()),
    ],
)
def test_decision_of_two_markers(
    first: Judgement | None,
    second: Judgement | None,
    settled: Judgement | None,
    counts: int | None,
    by: tuple[str, ...],
) -> None:
    told = {"grace": (FIRST, first), "alan": (SECOND, second), "ada": (SETTLED, settled)}
    found = of(rows(**{name: (WHERE[where], what) for name, (where, what) in told.items() if what is not None}))
    assert (found.judgement and found.judgement.earned, found.by) == (counts, by)
    differ = None not in (first, second) and counts is None and first != DRAFT
    assert found.why_open.startswith("Two markers came to different points") is bool(differ)
    assert not [name for name in told if name in found.why_open]


def test_words_and_time_of_a_decision() -> None:
    found = of(rows(grace=(WHERE[FIRST], said(3, comment="mine")), alan=(WHERE[SECOND], said(3, comment="his"))))
    assert found.judgement == said(3, comment="mine") and found.at == "2026-11-02"
    assert of(rows(grace=(WHERE[FIRST], said(3)), Grace=(WHERE[SECOND], said(3)))).by == ("grace", "Grace")


def test_latest_row_of_a_place() -> None:
    every = rows(grace=(WHERE[FIRST], said(3)), alan=(WHERE[FIRST], said(1)), ada=(place("01"), said(2)))
    for latest in (every, every[::-1]):
        found = current_decisions(latest)
        assert {where: one.by for where, one in found.items()} == {("00", "2.1"): ("alan",), ("01", "2.1"): ("ada",)}


def test_appeal_changes_nothing_yet() -> None:
    asked = (place(kind=APPEAL), Judgement())
    assert of(rows(grace=(WHERE[FIRST], said(3)), ada=asked)).by == ("grace",)
    assert of(rows(ada=asked)) == CurrentDecision(None)
    assert current_decisions([]) == {}


@pytest.mark.parametrize(
    ("earned", "status"), [(4, Status.PASSED), (9, Status.PASSED), (Fraction(1, 3), Status.PARTIAL), (0, Status.FAILED)]
)
def test_graded_answer(earned: Fraction, status: Status) -> None:
    mark = CurrentDecision(said(0, earned=Fraction(earned), comment="Which one?"), ("grace", "alan"), "2026-11-02")
    *others, prose = apply_decisions(score(), {"2.1": mark, "2.2": mark}).entries
    assert others == list(score().entries[:-1])
    assert (prose.status, prose.earned, prose.rubric, prose.written) == (status, min(earned, 4), "2.1", "Because.")
    assert prose.message == "The reason is there.\nWhich one?\nNoticed, without taking points:\n- no number is named"
    assert prose.staff_message == f"Graded by hand with {min(earned, 4)} of 4 points by grace and alan, 2026-11-02."
    assert [case.wall_s for case in prose.cases] == [0.25]
    assert apply_decisions(score(), {"2.1": mark}).still_open == 0


def test_markers_who_differ() -> None:
    prose = apply_decisions(score(), {"2.1": CurrentDecision(None, why_open="Two differ.")}).entries[-1]
    assert prose.status is Status.NEEDS_REVIEW and prose.earned == 0
    assert prose.message == score().entries[-1].message, "students read that it is not graded yet"
    assert prose.staff_message == "Two differ."
    other = CurrentDecision(said(4))
    for nothing in ({}, {"2.1": CurrentDecision(None)}, {"2.2": other}, {"": other}):
        assert apply_decisions(score(), nothing) == score()


def test_other_open_tests_are_left_alone() -> None:
    """Also what the tests decided, although a rubric's question is named there."""
    for status in set(Status) - {Status.NEEDS_REVIEW}:
        other = score("ada", entry(status=status))
        assert apply_decisions(other, {"2.1": CurrentDecision(said(4), ("grace",))}) == other


def test_graded_answer_does_not_say_ungraded() -> None:
    """In the words of real tests, with what a hidden one tells staff alone, and with several cases."""
    for signal in (NeedsReview("Because.", "2.1", ("short",)), NeedsReview("", "2.1", ())):
        message = judge(signal, answered=False).message
        case = Case("a", Status.NEEDS_REVIEW, Fraction(0), Fraction(2), message, message)
        open_ = replace(entry(), cases=(case, replace(case, label="b")))
        (*_, prose) = apply_decisions(score("ada", open_), {"2.1": CurrentDecision(said(4), ("grace",))}).entries
        assert "Not graded yet" in open_.message and "Not graded yet" not in prose.message + prose.staff_message
        assert ("- short" in prose.message) is bool(signal.findings)
