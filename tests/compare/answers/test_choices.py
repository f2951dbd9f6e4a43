# ruff: noqa: E501  (tables of answers, one group to a line)
"""Choices as students write them: sets of letters, true and false, words."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.grading import Disagreement, agree_choice

SEVERAL = [
    "A, C", "A,C", "AC", "CA", "A C", "a c", "A and C", "A & C", "A+C", "A;C", "A/C", "A | C", "(A), (C)", "[A, C]",
    "{C, A}", "['a', 'c']", '["A","C"]', "a), c)", "a) c)", "A, C.", "A. C.", "А, С", "Ａ，Ｃ", "**A, C**", "A\nC",
    "$\\{A, C\\}$", "“A, C”", "A、C", "\\boxed{A, C}", ["a", "c"], ["C", "A"], ("A", "C"),
    {"C": None, "A": None}, {"C", "A"}, frozenset("ac"), {"A": True, "B": False, "C": True}, {"a": 1, "c": "x", "d": ""},
    {"A": "yes", "C": "Y"}, np.array(["A", "C"]), ["AC"], [" A ", "С"],
]  # fmt: skip
ONE = ["C", "c", "C.", "C)", "(C)", "[c]", "Ｃ", "С", "**C**", "`C`", "'C'", " c\n", ["C"], ("c",), {"C"},
       {"A": False, "C": True}, "C!", "$C$", "\\textbf{C}"]  # fmt: skip
FOR_A_PERSON = [
    "A or C", "A, C, maybe E", "not A, C", "all but B and D", "A-E", "A to E", "either A or C", "A, C, but not C", "C, not B",
    "C or B", "C is wrong", "I think C", "C because A is wrong", "The answer is C", "option C", "C?", "ac", "1. A\n2. C", "A ✓ C ✓",
    "the first one", "because", "none", "xyz", "42", "A,?", 3, 2.5, [1, 3], "A" * 600, ["A"] * 49 + [["A"]],
    {10**5000: True}, [["A"], ["C"]], ["A. foo", "C"],
]  # fmt: skip
"""Sentences are not read: whoever marks decides what they say."""


def test_sentence_is_left_to_a_person() -> None:
    with Rows() as row:
        for n, answer in enumerate(FOR_A_PERSON):
            for right in ({"A", "C"}, {"C"}):
                with row(n), pytest.raises(Disagreement, match="cannot be read as a choice") as raised:
                    agree_choice(answer, right)
                assert raised.value.is_unreadable and raised.value.share is None
                assert str(raised.value).isprintable() and len(str(raised.value)) < 300


def test_several_letters() -> None:
    with Rows() as row:
        for answer in SEVERAL:
            with row(answer):
                agree_choice(answer, {"A", "C"})
                agree_choice(answer, ["c", "a"])
                agree_choice(answer, {"A", "C"}, partial=True)


def test_one_letter() -> None:
    with Rows() as row:
        for answer in ONE:
            with row(answer):
                agree_choice(answer, "C")
                agree_choice(answer, {"c"})


@pytest.mark.parametrize(
    ("answer", "share"),
    [("A", Fraction(1, 2)), ("A, B", Fraction(1, 3)), ("ABC", Fraction(2, 3)), ("A C E", Fraction(2, 3)), ("B", 0), ("BD", 0),
     (["A", "B", "C", "D"], Fraction(1, 2)), ({"A": True, "B": True}, Fraction(1, 3))],
)  # fmt: skip
def test_partial_credit(answer: Any, share: Fraction | int) -> None:
    with pytest.raises(Disagreement) as raised:
        agree_choice(answer, {"A", "C"}, partial=True)
    assert raised.value.share == share
    with pytest.raises(Disagreement) as raised:
        agree_choice(answer, {"A", "C"})
    assert raised.value.share is None


def test_message_hides_the_right_options() -> None:
    with pytest.raises(Disagreement) as raised:
        agree_choice("B", "D", name="your answer to 1.6")
    assert str(raised.value) == "Your answer to 1.6 B is not right."
    assert raised.value.expected == "d"


@pytest.mark.parametrize("answer", ["", None, " ", [], {}, {"A": False}])
def test_empty_choice_is_wrong(answer: Any) -> None:
    with pytest.raises(Disagreement, match="empty") as raised:
        agree_choice(answer, {"A", "C"})
    assert not raised.value.is_unreadable


def test_no_text() -> None:
    for answer, words in [
        (object(), "an object of class `object`, which cannot be read as a choice"),
        (" ", "is empty"),
    ]:
        with pytest.raises(Disagreement, match=words) as raised:
            agree_choice(answer, {"A", "C"})
        assert not raised.value.is_unreadable


TRUE = [
    True, "True", "true", "TRUE", "T", "t", "yes", "Y", "1", 1, 1.0, "True.", "(true)", "**True**", np.True_, np.array([True]), [True], ["true"],
]  # fmt: skip
FALSE = [False, "False", "f", "no", "N", "0", 0, "False!", "`false`", np.False_, np.array(0), ["False"]]


@pytest.mark.parametrize(("answers", "right"), [(TRUE, True), (FALSE, False)])
def test_true_or_false(answers: list[Any], right: bool) -> None:
    with Rows() as row:
        for answer in answers:
            with row(answer):
                for expected in (right, str(right), {str(right).lower()}):
                    agree_choice(answer, expected)
                with pytest.raises(Disagreement, match="is not right"):
                    agree_choice(answer, not right)


@pytest.mark.parametrize(
    "answer",
    ["maybe", "partly true", 2, -1, "It is false", "True or false", "true because", 0.5, [True, False], "false?"],
)
def test_neither_true_nor_false(answer: Any) -> None:
    for expected in (True, False):
        with pytest.raises(Disagreement, match="write True or False") as raised:
            agree_choice(answer, expected)
        assert raised.value.is_unreadable


def test_long_choice_is_cut() -> None:
    many = [f"the option of number {number}" for number in range(50)]
    for answer in (many, dict.fromkeys(many, True), ["\x1b[2J", "both"]):
        with pytest.raises(Disagreement, match="is not right") as raised:
            agree_choice(answer, {"left to right", "right to left"})
        assert len(str(raised.value)) < 300
        assert str(raised.value).isprintable()


def test_words_are_compared_as_sets_without_case() -> None:
    answer: Any
    for answer in ("S2S", "s2s", " S2S. ", ["S2S"], {"S2S"}):
        agree_choice(answer, "S2S")
    for answer in ("the first student", "The  first student.", ["The first student"]):
        agree_choice(answer, "the first student")
    for answer in ("encoder, decoder", ["Decoder", "encoder"], "decoder and encoder"):
        agree_choice(answer, {"encoder", "decoder"})
    for answer in ("Enc", "S2S, Enc", "S", "", None, 5):
        with pytest.raises(Disagreement):
            agree_choice(answer, "S2S")


@pytest.mark.parametrize("expected", [[], "", {""}, set()])
def test_no_expected_option(expected: Any) -> None:
    with pytest.raises(ValueError, match="at least one option"):
        agree_choice("A", expected)


@given(st.sets(st.sampled_from("ABCDEFG"), min_size=1), st.sets(st.sampled_from("ABCDEFG"), min_size=1), st.data())
def test_only_the_right_set_passes(chosen: set[str], right: set[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(sorted(chosen)))
    forms: list[Callable[[list[str]], Any]] = [
        list, tuple, set, ", ".join, lambda x: "".join(x).upper(), " and ".join, lambda x: " ".join(x).lower(),
        lambda x: dict.fromkeys(x, True),
    ]  # fmt: skip
    answer = data.draw(st.sampled_from(forms))(order)
    if chosen == right:
        agree_choice(answer, right)
        return
    with pytest.raises(Disagreement) as raised:
        agree_choice(answer, right, partial=True)
    assert raised.value.share == Fraction(len(chosen & right), len(chosen | right)) < 1


def test_same_choice_for_all_questions() -> None:
    with pytest.raises(Disagreement, match="is the same as for the other 2 of these questions") as raised:
        agree_choice("A", "A", beside=["a", "(A)"])
    assert raised.value.share == 0
    for other in (None, "B", "no idea"):
        agree_choice("A", "A", beside=["a", other])
