"""JSON is compared by its contents; what is not JSON says where."""

import json

import pytest

from tests.support.table_rows import Rows
from viva.compare.answers import agree_json
from viva.compare.disagreement import Disagreement
from viva.model.errors import GraderError

RIGHT = {"a": [1, 2.5], "b": {"c": None, "d": "ü"}}


def test_equal_json() -> None:
    with Rows() as row:
        for text in (
            json.dumps(RIGHT),
            json.dumps(RIGHT, indent=2, sort_keys=True),
            json.dumps(dict(reversed(RIGHT.items())), ensure_ascii=False).encode(),
            ' {"b": {"d": "\\u00fc", "c": null}, "a": [1.0, 25e-1]}\n',
        ):
            with row(repr(text)):
                agree_json(text, RIGHT)
                agree_json(text, json.dumps(RIGHT))
    agree_json("[2, 1]", [1, 2], up_to="order")
    agree_json("[0.999]", [1], atol=0.01)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": [1, 3], "b": {}}', "At ['a'] your answer differs"),
        ("{'a': 1}", "line 1, column 2"),
        ("", "is empty; expected JSON"),
        (RIGHT, "it is not a text"),
        ("[" * 100_000, "too deeply"),
        (b"\xff", "cannot be read as JSON"),
        (" " * (9 << 20), "is empty"),
    ],
)
def test_wrong_json(text: object, words: str) -> None:
    with pytest.raises(Disagreement) as caught:
        agree_json(text, RIGHT)
    assert words in str(caught.value)


def test_invalid_expected_json() -> None:
    with pytest.raises(GraderError, match="expected text is not JSON"):
        agree_json("1", "{")
