"""Which responses and questions are analysed, and what stays away from the numbers."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.support.report_class import entry, marked, shares
from viva.model import Entry, Status
from viva.plugins.report.class_counts import count_outcomes
from viva.plugins.report.item_analysis import analyze_items, group_questions, select_responses


def test_last_attempt_of_a_student_is_the_response() -> None:
    first = marked("ada1", entry("1.1"), students=("ada",), attempt=1)
    second = marked("ada2", entry("1.1"), students=("ada",), attempt=2)
    team = marked("team", entry("1.1"), students=("ada", "eve"))
    unknown = [marked("x", entry("1.1")), marked("y", entry("1.1"))]
    assert select_responses([second, first, team, *unknown]) == [second, team, *unknown]


def test_tests_of_one_number_are_one_question() -> None:
    one = marked("s", entry("1.10"), entry("1.2", test="a"), entry("1.2", test="b", points=3), entry("", test="free"))
    assert [(q.key, float(q.points), len(q.tests)) for q in group_questions([one])] == [
        ("1.2", 5, 2),
        ("1.10", 2, 1),
        ("free", 2, 1),
    ]


def test_few_responses() -> None:
    nine = analyze_items(shares([[1, 0], [0, 1], [1, 1]] * 3))
    assert nine.items == () and nine.alpha is None
    assert "at least 10" in nine.why_none and "9 submissions" in nine.why_none
    assert analyze_items(shares([[1, 0], [0, 1]] * 5)).items


def test_constant_question() -> None:
    found = analyze_items(shares([[1, x / 12, 1 - x / 12] for x in range(12)]))
    constant, up, down = found.items
    assert (constant.difficulty, constant.correlation, constant.discrimination) == (1, None, 0)
    assert "does not distinguish students" in constant.remark(12)
    assert up.correlation == pytest.approx(-1) and "Check the question" in up.remark(12)
    assert down.correlation == pytest.approx(-1)
    assert found.alpha is None  # every total is the same


def test_open_points() -> None:
    """A written part that no one has marked changes nothing of the question that it belongs to."""
    plain = shares([[x / 10, (x % 3) / 2] for x in range(11)])
    with_open = [replace(one, score=replace(one.score, entries=(*one.score.entries, _written()))) for one in plain]
    before, after = analyze_items(plain), analyze_items(with_open)
    assert [i.difficulty for i in before.items] == [i.difficulty for i in after.items]
    assert before.alpha == after.alpha
    assert after.not_analyzed == Fraction(5)


def test_manually_graded_questions() -> None:
    """Two of twelve wait: they are left out, and the marks of the others are marks like any."""
    plain = shares([[x / 11, (x % 3) / 2] for x in range(12)])
    written = [entry("2", Status.PARTIAL, earned=x % 5, points=5, rubric="2", test="written") for x in range(10)]
    waiting = [entry("2", Status.NEEDS_REVIEW, points=5, rubric="2", test="written")] * 2
    joined = [
        replace(one, score=replace(one.score, entries=(*one.score.entries, prose)))
        for one, prose in zip(plain, written + waiting, strict=True)
    ]
    found = analyze_items(joined)
    assert (found.responses, found.left_out, float(found.not_analyzed)) == (10, 2, 0)
    assert found.items[-1].question.key == "2" and found.items[-1].difficulty == pytest.approx(0.4)
    (row,) = [row for row in count_outcomes(joined) if row.entry.test_id == "written"]
    assert row.counts == {Status.PARTIAL: 10, Status.NEEDS_REVIEW: 2}


def test_grader_error() -> None:
    rows = shares([[1, 0], [0, 1]] * 6)
    broken = replace(rows[0].score, entries=(entry("1.1", Status.GRADER_ERROR), rows[0].score.entries[1]))
    found = analyze_items([replace(rows[0], score=broken), *rows[1:]])
    assert (found.responses, found.left_out) == (11, 1)


def _written() -> Entry:
    return entry("1.1", Status.NEEDS_REVIEW, points=5, test="written")
