"""Answers by hand are found in released files in the forms that authors write, and chance is not taken for a leak."""

from fractions import Fraction

import numpy as np
import pytest

from viva.release.answer_search import AnswerSearch, hand_answers

ANSWERS = {
    "formula": "4*d**2 + 2",
    "choice": "B",
    "word": "decoder-only",
    "share": 0.8265169,
    "third": Fraction(1, 3),
    "fraction": "11/12",
    "count": 590_592,
    "size": 768,
    "table": [[0.125, 1], {"nested": 0.0625}],
    "array": np.array([0.7310586, 2.0]),
    "yes": True,
}


def found(text: str, public: str = "", *, recorded: bool = False) -> dict[str, str]:
    return dict(AnswerSearch(hand_answers(ANSWERS), public).found_in(text, recorded=recorded))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("expected 4*d**2 + 2 here", "formula"),
        ("4 * d^2+2", "formula"),
        ("4·d²+2", "formula"),
        ("a Decoder-Only model", "word"),
        ("0.8265169", "share"),
        ("about 0.827", "share"),
        ("82.65 %", "share"),
        ("8.27e-1", "share"),
        ("0.333", "third"),
        ("11/12", "fraction"),
        ("0.9167", "fraction"),
        ("590592 parameters", "count"),
        ("x = 0.125", "table"),
        ("x = [0.0625]", "table"),
        ("0.73106", "array"),
    ],
)
def test_answer_is_found(text: str, name: str) -> None:
    assert list(found(text)) == [f'answers["{name}"]']


@pytest.mark.parametrize(
    "text",
    ["B", "True", "768", "14*d**2 + 2", "4*d**2 + 2*d", "0.83", "0.826", "1590592", "0.0", "a decoder-only-ish", "2.0"],
)
def test_other_text_is_not_found(text: str) -> None:
    assert found(text) == {}


def test_public_text_is_no_leak() -> None:
    assert found("the decoder-only model has 590592", "Choose decoder-only; 590592 is an example.") == {}
    assert found("0.8265169", "BLEU is 0.827") == {}


def test_rounded_numbers_in_record() -> None:
    assert found("0.125 0.827 0.333", recorded=True) == {}
    assert found("0.9166666666666666", recorded=True) == {}, "11/12 is what many random inputs lead to"
    assert list(found("0.8265169", recorded=True)) == ['answers["share"]']


@pytest.mark.parametrize("path", ["A B D G", "A C E G"])
def test_each_text_of_answer(path: str) -> None:
    search = AnswerSearch(hand_answers({"paths": ["A B D G", "A C E G"]}), "")
    assert [name for name, _ in search.found_in(f"expected {path} here")] == ['answers["paths"]']


def test_huge_numbers() -> None:
    assert found("1.25e999999999 and 0.00e-999999999") == {}
