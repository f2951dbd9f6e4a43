"""What must not be released is found: answers by hand in the forms that authors write, numbers of hidden tests."""

import json
from fractions import Fraction

import numpy as np
import pytest

from viva.config.rubric import Question, Rubric
from viva.examiner.recorded_key.record import RECORD, Answer
from viva.plugins.release.key_recording import KeyRecording
from viva.plugins.release.leak_search import AnswerSearch, Secrets, hand_answers

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


def find_leaks(text: str, public: str = "", *, recorded: bool = False) -> dict[str, str]:
    return dict(AnswerSearch(hand_answers(ANSWERS), public).find_in(text, recorded=recorded))


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
    assert list(find_leaks(text)) == [f'answers["{name}"]']


@pytest.mark.parametrize(
    "text",
    ["B", "True", "768", "14*d**2 + 2", "4*d**2 + 2*d", "0.83", "0.826", "1590592", "0.0", "a decoder-only-ish", "2.0"],
)
def test_other_text_is_not_found(text: str) -> None:
    assert find_leaks(text) == {}


def test_public_text_is_no_leak() -> None:
    assert find_leaks("the decoder-only model has 590592", "Choose decoder-only; 590592 is an example.") == {}
    assert find_leaks("0.8265169", "BLEU is 0.827") == {}


def test_rounded_numbers_in_record() -> None:
    assert find_leaks("0.125 0.827 0.333", recorded=True) == {}
    assert find_leaks("0.9166666666666666", recorded=True) == {}, "11/12 is what many random inputs lead to"
    assert list(find_leaks("0.8265169", recorded=True)) == ['answers["share"]']


@pytest.mark.parametrize("path", ["A B D G", "A C E G"])
def test_each_text_of_answer(path: str) -> None:
    search = AnswerSearch(hand_answers({"paths": ["A B D G", "A C E G"]}), "")
    assert [name for name, _ in search.find_in(f"expected {path} here")] == ['answers["paths"]']


def test_huge_numbers() -> None:
    assert find_leaks("1.25e999999999 and 0.00e-999999999") == {}


NUMBER = "33211"


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("[5, 33211, 7]", True),
        ("ids: 33211", True),
        ("[33211.0, 2.0]", True),
        ("x=33211;", True),
        ("-33211", True),
        ("0.5332118", False),
        ("0.33211", False),
        ("133211", False),
        ("332110", False),
        ("33211.25", False),
        ("nothing", False),
    ],
)
def test_number_of_hidden_test(text: str, leaks: bool) -> None:
    messages = Secrets({NUMBER: "a constant"}).find_in({"key.txt": text.encode()})
    assert messages == ([f"key.txt holds a constant: '{NUMBER}'"] if leaks else [])


def _recording(**values: object) -> KeyRecording:
    """Return what some tests have asked, each one question."""
    made = KeyRecording(seeds={f"test test_a.py::{test}[]": 7 for test in values})
    for test, value in values.items():
        made.case_id = f"test_a.py::{test}[]"
        made.note(test.encode(), Answer(value))
    return made


def test_record_of_released_tests_alone() -> None:
    """The questions of hidden tests are not known here: another recording of the released tests is compared."""
    secrets = Secrets(recorded=_recording(test_shown=1, test_kept=2).select_tests({"test_a.py::test_shown"}))
    assert secrets.find_in({RECORD: _recording(test_shown=1).to_bytes()}) == []
    assert secrets.find_in({RECORD: _recording(test_shown=1, test_kept=2).to_bytes()}) == [
        f"{RECORD} answers a question that no released test asks the key",
        f"{RECORD} holds the seed of test test_a.py::test_kept[]",
    ]


@pytest.mark.parametrize(
    "value", [0.7071067, [1, (0.7071067,)], {"a": np.full((3, 2), 0.7071067, np.float32)}, np.float64(0.7071067)]
)
def test_answer_in_record(value: object) -> None:
    secrets = Secrets(recorded=(made := _recording(test_shown=value)))
    secrets.hide_answers({"1": 0.7071067}, "")
    assert [line.partition(":")[0] for line in secrets.find_in({RECORD: made.to_bytes()})] == [
        f'{RECORD} holds the key\'s answers["1"]'
    ]


SENTENCE = "The variance of a dot product grows with its length."
MODEL = f"{SENTENCE}\nShort.\n```python\nscores = q @ k.T / np.sqrt(q.shape[-1])\n```"


def test_model_answer_in_notebook() -> None:
    secrets = Secrets()
    secrets.add_models(Rubric((Question("2.3", "Why?", Fraction(3), (), model=MODEL),)))
    cells = [{"cell_type": "markdown", "source": line} for line in MODEL.splitlines()]
    files = {"starter.ipynb": json.dumps({"cells": cells}).encode(), "README.md": b"Say how the variance grows."}
    assert secrets.find_in(files) == [f"starter.ipynb holds a line of the model answer to 2.3: {SENTENCE!r}"]
