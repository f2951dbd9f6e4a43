"""A number of a hidden test is a leak where it stands alone, not where the digits of another number hold it."""

import json
from fractions import Fraction

import pytest

from viva.config.rubric import Question, Rubric
from viva.release.leak_search import Secrets

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
def test_a_number_of_a_hidden_test(text: str, leaks: bool) -> None:
    found = Secrets({NUMBER: "a constant"}).found_in({"key.txt": text.encode()})
    assert found == ([f"key.txt holds a constant: '{NUMBER}'"] if leaks else [])


SENTENCE = "The variance of a dot product grows with its length."
MODEL = f"{SENTENCE}\nShort.\n```python\nscores = q @ k.T / np.sqrt(q.shape[-1])\n```"


def test_a_model_answer_in_words_that_a_notebook_still_holds() -> None:
    secrets = Secrets()
    secrets.add_models(Rubric((Question("2.3", "Why?", Fraction(3), (), model=MODEL),)))
    cells = [{"cell_type": "markdown", "source": line} for line in MODEL.splitlines()]
    files = {"starter.ipynb": json.dumps({"cells": cells}).encode(), "README.md": b"Say how the variance grows."}
    assert secrets.found_in(files) == [f"starter.ipynb holds a line of the model answer to 2.3: {SENTENCE!r}"]
