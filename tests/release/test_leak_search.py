"""A number of a hidden test is a leak where it stands alone, not where the digits of another number hold it."""

import json
from fractions import Fraction

import numpy as np
import pytest

from viva.config.rubric import Question, Rubric
from viva.release.leak_search import Secrets
from viva.replay.key_recording import RECORD, KeyRecording
from viva.replay.key_recording.key_recording import Answer

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
    found = Secrets({NUMBER: "a constant"}).found_in({"key.txt": text.encode()})
    assert found == ([f"key.txt holds a constant: '{NUMBER}'"] if leaks else [])


def _recording(**values: object) -> KeyRecording:
    """Return what some tests have asked, each one question."""
    made = KeyRecording(seeds={f"test test_a.py::{test}[]": 7 for test in values})
    for test, value in values.items():
        made.case_id = f"test_a.py::{test}[]"
        made.note(test.encode(), Answer(value))
    return made


def test_record_of_released_tests_alone() -> None:
    """The questions of hidden tests are not known here: another recording of the released tests is compared."""
    secrets = Secrets(recorded=_recording(test_shown=1, test_kept=2).of_tests({"test_a.py::test_shown"}))
    assert secrets.found_in({RECORD: _recording(test_shown=1).to_bytes()}) == []
    assert secrets.found_in({RECORD: _recording(test_shown=1, test_kept=2).to_bytes()}) == [
        f"{RECORD} answers a question that no released test asks the key",
        f"{RECORD} holds the seed of test test_a.py::test_kept[]",
    ]


@pytest.mark.parametrize(
    "value", [0.7071067, [1, (0.7071067,)], {"a": np.full((3, 2), 0.7071067, np.float32)}, np.float64(0.7071067)]
)
def test_answer_in_record(value: object) -> None:
    secrets = Secrets(recorded=(made := _recording(test_shown=value)))
    secrets.hide_answers({"1": 0.7071067}, "")
    assert [line.partition(":")[0] for line in secrets.found_in({RECORD: made.to_bytes()})] == [
        f'{RECORD} holds the key\'s answers["1"]'
    ]


SENTENCE = "The variance of a dot product grows with its length."
MODEL = f"{SENTENCE}\nShort.\n```python\nscores = q @ k.T / np.sqrt(q.shape[-1])\n```"


def test_model_answer_in_notebook() -> None:
    secrets = Secrets()
    secrets.add_models(Rubric((Question("2.3", "Why?", Fraction(3), (), model=MODEL),)))
    cells = [{"cell_type": "markdown", "source": line} for line in MODEL.splitlines()]
    files = {"starter.ipynb": json.dumps({"cells": cells}).encode(), "README.md": b"Say how the variance grows."}
    assert secrets.found_in(files) == [f"starter.ipynb holds a line of the model answer to 2.3: {SENTENCE!r}"]
