"""What a student reads: where, how far, which tolerance, which known mistake; one or two sentences."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support.table_rows import Rows
from viva.compare import hint_evidence
from viva.grading import Disagreement, agree
from viva.sandbox.guest.transport.wire import Ref

INF = float("inf")
NAN = float("nan")
M = np.arange(6.0).reshape(2, 3)
NEAR_ZERO = np.array([[0, 0, 0], [0, 0, 1e-3]])
P = np.array([[0.5, 0.5], [0.125, 0.875]])

MESSAGES: list[tuple[Any, Any, str]] = [
    (None, 3, "None; expected the number 3. Is a `return` missing?"),
    (None, [1, 2], "expected [1, 2]. Is a `return` missing?"),
    ({"next": None}, {"next": 1}, "At ['next'] your answer is None; expected the number 1."),
    ("0.5", 0.5, "the text '0.5'; expected the number 0.5. Return the number itself"),
    ([5], 5, "a list of 1 item; expected the number 5."),
    (0.7501, 0.75, "0.7501; expected 0.75 (off by 0.0001; tolerance 7.6e-06)."),
    (5, 4, "5; expected 4."),
    (2**70, 2**70 + 3, "1180591620717411303424; expected 1180591620717411303427."),
    (10**5000, 4, "a whole number of about 5,001 digits; expected 4."),
    (21018402.0, 21018401, "21018402; expected 21018401."),
    (0.92, Fraction(11, 12), "expected 11/12 (off by 0.00333333; tolerance 9.3e-06)."),
    (NAN, 0.5, "NaN (not a number); expected 0.5: look for 0/0"),
    (0.7, True, "0.7; expected True."),
    ((2, 5), None, "(2, 5); expected None."),
    ((5, 2, 7, 1), (1, 7, 2, 5), "It is the expected one in reverse order."),
    ([1, 2], [1, 2, 4], "has 2 elements: [1, 2]; expected 3: [1, 2, 4]."),
    (["a"], ["a", "b"], "has 1 item: ['a']; expected 2: ['a', 'b']."),
    ([], ["a"], "is empty; expected a list of 1 item."),
    (["a", "x"], ["a", "b"], "At [1] your answer is 'x'; expected 'b'."),
    ({1, 2}, [1, 2], "A set has no order: return a list."),
    ([[1, 2], [3]], [[1, 2], [3, 4]], "At [1] your answer has 1 element: [3]; expected 2: [3, 4]."),
    (M[0], M, "has shape (3,); expected (2, 3). It has 1 axis where 2 are expected."),
    (M[None], M, "has shape (1, 2, 3); expected (2, 3). Only axes of length 1 differ"),
    (M.ravel(), M, "has shape (6,); expected (2, 3). It has the right number of elements: is a `reshape` missing?"),
    (M.T, M, "has shape (3, 2); expected (2, 3). It is the expected one transposed"),
    (M * 8, M, "at 5 of 6 elements (83 %), first at [0, 1]: 8, expected 1. The largest error is 35, at [1, 2]."),
    (M + NEAR_ZERO, M, "at 1 of 6 elements (17 %), first at [1, 2]: 5.001, expected 5 (tolerance 5.5e-05)."),
    (np.where(M == 4, NAN, M), M, "holds NaN (not a number) at 1 of 6 elements, first at [1, 1], expected 4"),
    (M + 1j, M, "holds complex numbers, first 0+1j at [0, 0]; expected real ones."),
    (P * 2 + [[0, 0], [0, 1]], P, "The largest error is 1.875, at [1, 1]."),
    (np.array([[0.25, 0.6], [0.75, 0.4]]), P, "Its columns sum to 1 where its rows should: the softmax runs along"),
    ({"a": 1}, {"a": 1, "b": 2}, "has no item 'b'."),
    ({"a": 1, "B": 2}, {"a": 1, "b": 2}, "has no item 'b'. It has the item 'B' instead."),
    ({"a": 1, "b": 2}, {"a": 1}, "has the item 'b', which is not expected."),
    (
        {"a": {"b": [1, 2.5]}},
        {"a": {"b": [1, 3.5]}},
        "At ['a']['b'] your answer differs from the expected one at 1 of 2",
    ),
    ([1, 3, 3], {1, 3}, "holds 3 more than once; expected a set."),
    ({1, 4}, {1, 3}, "lacks 3 and holds 4, which is not expected."),
    ("hello world", "hello  world", "Only white space differs."),
    ("Hello", "hello", "Only upper and lower case differ."),
    (
        "x" * 99 + "a",
        "x" * 99 + "b",
        "from the expected text at character 99: 'xxxxxxxxxxxxa', expected 'xxxxxxxxxxxxb'.",
    ),
    (Ref(1, "Answer", "0.5"), 0.5, "an object of class `Answer`; expected the number 0.5."),
    ([0.5, Ref(1, "Answer", "0.5")], [0.5, 0.5], "At [1] your answer is an object of class `Answer`"),
]


def test_message_says_what_is_wrong() -> None:
    with Rows() as row:
        for answer, expected, words in MESSAGES:
            with row(words):
                with pytest.raises(Disagreement) as raised:
                    agree(answer, expected)
                assert words in str(raised.value)
                assert str(raised.value).startswith(("Your answer ", "At ["))


HINTS: list[tuple[Any, Any, dict[str, Any], dict[str, Any], str]] = [
    (0.9, 0.5, {"no brevity penalty": 0.7, "counts are not clipped": lambda: 0.9}, {}, "counts are not clipped"),
    (1.0, 0.5, {"first": 1, "second": np.float32(1), "third": 2}, {}, "first"),
    (3, 5, {"broken": lambda: 1 / 0, "three": 3}, {}, "three"),
    ([2, 1], [3, 1], {"two": [1, 2]}, {"up_to": "order"}, "two"),
]


def test_equal_mistake_is_named_by_its_hint() -> None:
    with Rows() as row:
        for actual, expected, hints, options, hint in HINTS:
            with row(hint):
                with pytest.raises(Disagreement, match="It equals a known mistake: ") as raised:
                    agree(actual, expected, hints=hints, **options)
                assert raised.value.hint == hint and hint in str(raised.value)
    with pytest.raises(Disagreement, match=r"a known mistake: is it turned round\?$"):
        agree(1.0, 0.5, hints={"is it turned round?": 1})
    with pytest.raises(Disagreement) as raised:
        agree(3, 5, hints={"another form": [1, 2], "broken": lambda: 1 / 0})
    assert raised.value.hint is None and "known" not in str(raised.value)
    assert raised.value.__notes__ == ["the hint 'broken' raised ZeroDivisionError: division by zero"]
    agree(1, 1, hints={"never computed": lambda: pytest.fail("computed")})


def test_both_values_for_staff() -> None:
    with pytest.raises(Disagreement) as raised:
        agree({"a": [1, 2, "x"]}, {"a": [1, 2, "y"]})
    assert (raised.value.actual, raised.value.expected) == ("'x'", "'y'")


NO_RELATION: list[tuple[Any, Any]] = [
    (0.25, 0.75), (5, 4), (-0.5, 0.5), (75.0, 0.75), ([5, 2], [2, 5]), ([1.0, -1.0], [-1.0, 1.0]),
    (M * 8, M), (M + 1, M), (P.round(1), P), ([1, -1, 1, -1], [-1, 1, -1, 1]),
]  # fmt: skip


def test_relation_by_chance() -> None:
    """What fits few numbers, or fits in two ways, is no cause: "one minus" and "off by one" were false ones."""
    guesses = "minus|off by one|opposite sign|times|reverse|another order|rounded|one too"
    with Rows() as row:
        for actual, expected in NO_RELATION:
            with row(actual, expected), pytest.raises(Disagreement) as raised:
                agree(actual, expected)
            assert not re.search(guesses, str(raised.value)), str(raised.value)


def test_hint_must_fit_every_answer() -> None:
    """With one column, forgetting the scale changes nothing, and with several it would have shown earlier."""

    def asked(*answers: tuple[float, float, float]) -> str:
        with hint_evidence.of_one_test():
            for actual, expected, without_scale in answers:
                try:
                    agree(actual, expected, hints={"the scale is missing": without_scale})
                except Disagreement as error:
                    return str(error)
        return ""

    assert "the scale is missing" in asked((1.5, 1.5, 1.5), (6.1, 3.05, 6.1))
    assert "the scale is missing" not in asked((2.5, 2.5, 5.0), (6.1, 3.05, 6.1))
    assert "the scale is missing" in asked((6.1, 3.05, 6.1)), "what an earlier test showed is forgotten"


def test_digits_that_differ_are_shown() -> None:
    with pytest.raises(Disagreement) as raised:
        agree(0.12345678, 0.12345690, rtol=1e-9)
    assert "is 0.12345678; expected 0.1234569 " in str(raised.value)


def test_name_of_the_answer() -> None:
    for name, start in [
        ("P1", "P1 is 1; expected 2."),
        ("your answer to 1.4", "Your answer to 1.4 is 1; expected 2."),
        ("bleu of the ferry sentence", "bleu of the ferry sentence is 1; expected 2."),
    ]:
        with pytest.raises(Disagreement) as raised:
            agree(1, 2, name=name)
        assert str(raised.value).startswith(start)
    with pytest.raises(Disagreement, match=r"At \['a'\] the third mask is 1; expected 2"):
        agree({"a": 1}, {"a": 2}, name="the third mask")


CONTROL_CHARACTERS: list[Any] = [
    "\x1b[31mred\x1b[0m", "\u202eevil", "\ud800", "a\nb", "\0", {"\x1b]0;x\x07": 1}, ["\u2066"], b"\xff\x00",
]  # fmt: skip


def test_control_characters() -> None:
    with Rows() as row:
        for value in CONTROL_CHARACTERS:
            with row(value):
                for expected in (5, "text", [1, 2], {"a": 1}, {1}, None):
                    with pytest.raises(Disagreement) as raised:
                        agree(value, expected)
                    assert str(raised.value).isprintable()
                    assert raised.value.actual.isprintable()


class TestSymmetries:
    """What an author may declare not to count."""

    def test_up_to_sign_allows_one_sign_for_all(self) -> None:
        agree([-1.0, 2.0], [1.0, -2.0], up_to="sign")
        agree(-3, 3, up_to="sign")
        agree(np.array([255, 1], dtype=np.uint8), [255, 1], up_to="sign")
        for wrong in ([-1.0, -2.0], [1.0, 2.0]):
            with pytest.raises(Disagreement):
                agree(wrong, [1.0, -2.0], up_to="sign")
        with pytest.raises(Disagreement):
            agree(np.array([255, 1], dtype=np.uint8), [1, 255], up_to="sign")  # -1 wraps around to 255

    def test_up_to_order_ignores_only_the_outermost_order(self) -> None:
        agree([3, 1, 2], (1, 2, 3), up_to="order")
        agree([("b", 0.1 + 0.2), ("a", 1)], [("a", 1), ("b", 0.3)], up_to="order")
        agree([[2, 1], [3]], [[3], [2, 1]], up_to="order")
        agree({"x": [2, 1]}, {"x": [1, 2]}, up_to="order")
        for wrong in ([1, 2, 2], [1, 2], [1, 2, 3, 4], None, [[1, 2, 3]]):
            with pytest.raises(Disagreement):
                agree(wrong, [1, 2, 3], up_to="order")
        with pytest.raises(Disagreement, match="the order does not matter"):
            agree(["a", "c"], ["a", "b"], up_to="order")
        with pytest.raises(Disagreement):
            agree([[1, 2], [3]], [[3], [2, 1]], up_to="order")  # only the outermost list

    def test_up_to_spaces_keeps_words_apart(self) -> None:
        agree(" a  b\n", "a b", up_to="spaces")
        with pytest.raises(Disagreement):
            agree("ab", "a b", up_to="spaces")

    @pytest.mark.parametrize("up_to", ["Polarity", ("sign", "phase"), ["ordering"]])
    def test_unknown_symmetry(self, up_to: Any) -> None:
        with pytest.raises(ValueError, match="expected some of polarity, sign, order, spaces"):
            agree(1, 1, up_to=up_to)


@pytest.mark.parametrize("tolerance", [-1, NAN])
def test_invalid_tolerance(tolerance: float) -> None:
    with pytest.raises(ValueError, match="zero or more"):
        agree(1, 1, rtol=tolerance)
    with pytest.raises(ValueError, match="zero or more"):
        agree(1, 1, atol=tolerance)


def test_own_tolerance() -> None:
    agree(1.04, 1.0, atol=0.05)
    agree([100, 104], [100, 100], rtol=0.05)
    agree(104, 100, rtol=0.05)
    with pytest.raises(Disagreement):
        agree(1.000001, 1.0, rtol=1e-9, atol=0)
    with pytest.raises(Disagreement):
        agree([1.0, 1.06], [1.0, 1.0], atol=0.05)
    agree(INF, INF, rtol=0.1)
    with pytest.raises(Disagreement):
        agree(1e300, INF, rtol=0.1)


def test_tiny_numbers() -> None:
    """An absolute tolerance made for numbers about one would take 0 for any probability of a sentence."""
    agree(1.000001e-12, 1e-12)
    with pytest.raises(Disagreement):
        agree(0.0, 1e-10)
    with pytest.raises(Disagreement):
        agree([0.0, 3e-10], [0.0, 1e-10])
    agree([1.0, 1e-9], [1.0, 0.0])
    agree(3e-17, 0.0)
