"""Declared forms of answers: what each accepts, what it makes of it, and what it leaves to a person."""

import numpy as np
import pytest

from viva.compare.answers.read_answer import read_answer
from viva.compare.answers.unreadable import Unreadable
from viva.model.answer_form import parse_form


@pytest.mark.parametrize(
    ("declared", "description"),
    [
        ("choice [first, second]", "first or second"),
        ("number; of one layer", "a number or a fraction"),
        ("formula in d", "a formula in d"),
        ("formula in T, m", "a formula in T and m"),
        ("table 9x9", "a table of 9 rows of 9 cells, a row per line"),
        ("matrix 3x2", "3 rows of 2 numbers"),
        ("matrix", "rows of numbers"),
        ("list of runs", "a list of runs, each with its values by name"),
    ],
)
def test_description_of_a_form(declared: str, description: str) -> None:
    assert parse_form(declared).description == description


@pytest.mark.parametrize(
    "declared", ["", "chioce [A]", "choice A, B", "choice []", "formula", "table 9", "list of 0 texts"]
)
def test_unknown_form(declared: str) -> None:
    with pytest.raises(ValueError, match="a form of answer, such as"):
        parse_form(declared)


@pytest.mark.parametrize(
    ("declared", "written", "read"),
    [
        ("choice [first, second]", "First.", "first"),
        ("choice [encoder, encoder-decoder]", '"Encoder-Decoder"', "encoder-decoder"),
        ("choice [encoder, encoder-decoder]", "Encoder–Decoder.", "encoder-decoder"),
        ("choices [encoder, decoder, right to left]", ["right to left", "encoder"], ["encoder", "right to left"]),
        ("choice [true, false]", True, "true"),
        ("choice [true, false]", "F", "false"),
        ("choice [100, 50001]", "50,001", "50001"),
        ("choice [100, 50001]", 100, "100"),
        ("choices [A, B, C]", "c, a", ["A", "C"]),
        ("choices [A, B, C]", ["B"], ["B"]),
        ("number", "7/15", "7/15"),
        ("formula in d", "2d + 1", "2d + 1"),
        ("order in n, d", "O(n²d)", "O(n²d)"),
        ("table 2x2", "10\n11", "10\n11"),
        ("matrix 2x2", "[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("matrix 2x2", "1 2; 3 4", [[1, 2], [3, 4]]),
        ("matrix", [[5, 11, 3], [9, 2, 0]], [[5, 11, 3], [9, 2, 0]]),
        ("matrix 2x2", np.eye(2), [[1, 0], [0, 1]]),
        ("list of 3 numbers", "(3, 2, −4)^T", [3, 2, -4]),
        ("list of numbers", "0.502 0.614", [0.502, 0.614]),
        ("list of numbers", {1: "50 %", 2: "75 %"}, [0.5, 0.75]),
        ("list of 2 texts", "ADG, BDG", ["ADG", "BDG"]),
        ("list of 2 texts", "One, two. / Two, one.", ["One, two.", "Two, one."]),
        ("list of 2 texts", '"Only Ann called." and "Ann only called."', ["Only Ann called.", "Ann only called."]),
        ("list of 2 texts", "first line\nsecond line\n", ["first line", "second line"]),
        ("list of runs", {"lr": 1e-4}, [{"lr": 1e-4}]),
        ("text", ["[CLS]", "a", "[SEP]"], "[CLS] a [SEP]"),
    ],
)
def test_answer_of_its_form(declared: str, written: object, read: object) -> None:
    assert read_answer(written, parse_form(declared)) == read


@pytest.mark.parametrize(
    ("declared", "written", "why"),
    [
        ("choice [first, second]", "the 1st one, since it is shorter", "write the choice alone"),
        ("choice [encoder, encoder-decoder]", "encoder or encoder-decoder", "write the choice alone"),
        ("choice [A, B]", "A, B", "write one of them"),
        ("choices [A, B]", "C", "write the choice alone, without other words"),
        ("number", "about a third", "write the number alone"),
        ("formula in d", "2d + k", "the formula's only letter is d"),
        ("table 2x2", "100\n110", "it has 2 rows and 3 columns; write a table of 2 rows of 2 cells"),
        ("matrix 2x2", [[1, 2]], "it has 1 row; write 2 rows of 2 numbers"),
        ("list of 3 numbers", "3, 2", "it has 2 parts; write a list of 3 numbers"),
        ("list of runs", "lr 1e-4", "write a list of runs"),
        ("text", {"a": 1}, "write it as one short text"),
        ("list of texts", ["x"] * 2000, "write a list of texts"),
    ],
)
def test_answer_of_another_form(declared: str, written: object, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_answer(written, parse_form(declared))
