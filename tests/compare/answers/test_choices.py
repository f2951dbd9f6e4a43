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
    "A, C", "A,C", "AC", "ac", "CA", "A C", "a c", "A and C", "A & C", "A+C", "A;C", "A/C", "A | C", "(A), (C)", "[A, C]",
    "{C, A}", "['a', 'c']", '["A","C"]', "A. Foo bar\nC. Baz", "A) foo; C) bar", "a), c)", "Answer: A, C", "A, C.",
    "Options A and C", "А, С", "Ａ，Ｃ", "A und C", "**A, C**", "A\nC", ["a", "c"], ["C", "A"], ("A", "C"),
    {"C": None, "A": None}, {"C", "A"}, frozenset("ac"), {"A": True, "B": False, "C": True}, {"a": 1, "c": "x", "d": ""}, {"A": "yes", "C": "ja"},
    np.array(["A", "C"]), ["A. foo", "C"], ["AC"], [" A ", "С"],
]  # fmt: skip
ONE = [
    "C", "c", "C.", "C)", "(C)", "[c]", "C) because A is wrong", "C. Both are", "C: it learns", "C - it learns", "C – it",
    "option C", "Answer: C", "Ｃ", "С", "**C**", "`C`", "'C'", " c\n", ["C"], ("c",), {"C"},
    {"A": False, "C": True}, "choice: c", "C!",
]  # fmt: skip


THREE = [
    "A - C - E", "a) c) e)", "A) C) E)", "A–C–E", "A. C. E.", "(a)(c)(e)", "The answers are A, C, E", "A C E are right",
    "1. A\n2. C\n3. E", "- A\n- C\n- E", "* A\n* C\n* E", "• A\n• C\n• E", "A, C, E because they train on pairs",
    "I choose A, C and E", "A, C, E (not B, D)", "A,C,E only", "Only A, C, E", "Correct: A, C, E", "A C and E", "a.c.e",
    "A: yes, C: yes, E: yes", "A: yes, B: no, C: yes, D: no, E: yes", "A, C, E. B and D are wrong", "$A, C, E$",
    "\\textbf{A, C, E}", "A, C, E: a tokenizer may split words", "a, c and e, as a model sees them", "ACE.", "A & C & E",
    "a)\nc)\ne)", "A)C)E)", "Options A, C, and E are correct.", "A, C and e", "A, C and E are true, neither B nor D", ["A", "C and E"],
    "A ✓ C ✓ E ✓", "A ✓, B ✗, C ✓, D ✗, E ✓", "A is right, B is wrong, C is right and E is right", "A, C and E; not B", "A、C、E",
    "Not B but A, C and E", "$\\{A, C, E\\}$", "A: because it is causal. C: since it sees all. E: as it says.", "“A, C, E”",
    "Neither B nor D; A, C and E", "\\boxed{A, C, E}",
]  # fmt: skip
UNDECIDED = [
    "A or C or E", "A, C, maybe E", "not A, C, E", "A, C, E or D", "all but B and D", "A-E", "A to E", "A, C, E... or B",
    "either A, C or E", "A, C, E, D is also right", "A, C, E; also B", "A, C, E are wrong", "A, C, E but also D",
    "A, C, E are not right", "A, C (E?) or B", "A, C, E: no", "B, D are wrong", "A tokenizer, C and E", "A, C, E, and B too",
    "A, C, E, but not C", "A, C and E, not E",
]  # fmt: skip
SENTENCES = [
    "The answer is C", "It is C", "C is correct", "I think C", "Answer C is right", "2) C", "C (same checkpoint)", "$C$",
    "C; the others are wrong", "C because the checkpoint differs", "C, the tokenizer and model are of the same checkpoint",
    "\\textbf{C}", "C: A new tokenizer is needed", "C, not B", "C rather than B", "C. B is wrong", "My choice is C.",
    "C as a tokenizer needs it", "The right option is C", "c, a tokenizer needs it", "C (A and B are wrong)", "I believe C",
    "I'd say C", "I’d go with C", "definitely C", "A is wrong, so C", "“C”", "So C",
]  # fmt: skip
NOT_C = [
    "C or B", "B or C", "not C", "C, B", "either C or B", "C is wrong", "C is not right", "C is false", "B, not C", "C, or B",
    "C is right, C is wrong", "C, so B", "B is right, C is wrong", "C ✗", "C ✓ B ✓", "C: or B", "C and B", "C but B is right as well", "C. Also B", "B because C is wrong", "C or maybe d", "C isn't right", "C, b",
]  # fmt: skip


@pytest.mark.parametrize(("answers", "right"), [(THREE, "ACE"), (SENTENCES, "C")])
def test_unambiguous_choice(answers: list[Any], right: str) -> None:
    with Rows() as row:
        for answer in answers:
            with row(answer):
                agree_choice(answer, set(right))


@pytest.mark.parametrize(("answers", "right"), [(UNDECIDED, "ACE"), (NOT_C, "C")])
def test_ambiguous_choice(answers: list[Any], right: str) -> None:
    with Rows() as row:
        for answer in answers:
            with row(answer), pytest.raises(Disagreement):
                agree_choice(answer, set(right))


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


NO_CHOICE = [
    "", None, " ", "the first one", "because", "none", "A, A, C", "AAC", "A is right", "I think C", "xyz", 3, 2.5, [1, 3], [],
    "42", "A,?", object(), "A" * 600, ["A"] * 1000, {"A": {"B": 1}}, "A-C", [["A"], ["C"]],
    {10**5000: True}, {"A": True, 10**5000: True},
]  # fmt: skip


def test_no_choice() -> None:
    with Rows() as row:
        for n, answer in enumerate(NO_CHOICE):
            with row(n):
                with pytest.raises(
                    Disagreement, match=r"cannot be read as a choice|is empty|empty choice|is not right"
                ) as raised:
                    agree_choice(answer, {"A", "C"})
                assert str(raised.value).isprintable()
                assert len(str(raised.value)) < 300


def test_no_text() -> None:
    for answer, words in [
        (object(), "an object of class `object`, which cannot be read as a choice"),
        (" ", "is empty"),
    ]:
        with pytest.raises(Disagreement, match=words):
            agree_choice(answer, {"A", "C"})


TRUE = [True, "True", "true", "TRUE", "T", "t", "yes", "Y", "1", 1, 1.0, "correct", "right", "✓", "Wahr", "vrai", "对",
        "True.", "True, because the mask hides it", "(true)", np.True_, np.array([True]), [True], ["true"], "Answer: true"]  # fmt: skip
FALSE = [False, "False", "f", "no", "N", "0", 0, "wrong", "incorrect", "✗", "falsch", "False: the encoder drops them",
         np.False_, np.array(0), ["False"]]  # fmt: skip


@pytest.mark.parametrize(("answers", "right"), [(TRUE, True), (FALSE, False)])
def test_true_or_false(answers: list[Any], right: bool) -> None:
    with Rows() as row:
        for answer in answers:
            with row(answer):
                for expected in (right, str(right), {str(right).lower()}):
                    agree_choice(answer, expected)
                with pytest.raises(Disagreement, match="is not right"):
                    agree_choice(answer, not right)


@pytest.mark.parametrize("answer", ["maybe", "partly true", "", None, 2, -1, "It is not false", 0.5, [True, False]])
def test_neither_true_nor_false(answer: Any) -> None:
    for expected in (True, False):
        with pytest.raises(Disagreement, match=r"write True or False|is empty"):
            agree_choice(answer, expected)


STATEMENTS = [
    "It is false", "This is false.", "The statement is false", "not true", "Untrue", "❌", "the claim is False because it moves",
    "Statement is incorrect", "False, it is true that masks are used but positions stay", "No. The position is kept", "**False**",
    "False: the token is replaced, but the right position stays",
    "False: true only for the decoder", "I think it is false", "That is not correct",
]  # fmt: skip
TAKEN_BACK = [
    "False, but actually true", "False. Correction: True", "false? true", "False or true", "partly false", "maybe false",
    "No, the statement is true", "False: it is right.",
    "False; wait, true", "It is not false", "False, also true", "False (or true)",
]  # fmt: skip


def test_true_or_false_in_a_sentence() -> None:
    with Rows() as row:
        for answer in STATEMENTS:
            with row(answer):
                agree_choice(answer, False)
        for answer in TAKEN_BACK:
            with row(answer), pytest.raises(Disagreement):
                agree_choice(answer, False)


def test_both_true_and_false() -> None:
    """Whoever writes both has not chosen."""
    for expected in (True, False):
        with pytest.raises(Disagreement):
            agree_choice("true or false", expected)


def test_long_choice_is_cut() -> None:
    many = [f"the option of number {number}" for number in range(50)]
    for answer in (many, dict.fromkeys(many, True), ["\x1b[2J", "both"]):
        with pytest.raises(Disagreement, match="is not right") as raised:
            agree_choice(answer, {"left to right", "right to left"})
        assert len(str(raised.value)) < 300
        assert str(raised.value).isprintable()


def test_words_are_compared_as_sets_without_case() -> None:
    answer: Any
    for answer in ("S2S", "s2s", " S2S. ", "Answer: S2S", ["S2S"], {"S2S"}):
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
        list, tuple, set, ", ".join, "".join, " and ".join, lambda x: " ".join(x).lower(),
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
        agree_choice("A", "A", beside=["a", "Answer: A"])
    assert raised.value.share == 0
    for other in (None, "B", "no idea"):
        agree_choice("A", "A", beside=["a", other])
