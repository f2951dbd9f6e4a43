"""Lines are added to YAML files of the course; all that was written there stays."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.plugins.authoring.yaml_edit import NotEditable, as_scalar, with_entry, with_item

ITEMS = {
    "flow": ("a: 1\nassignments: [x, y]  # c\nb: 2\n", "a: 1\nassignments: [x, y, new]  # c\nb: 2\n"),
    "empty": ("assignments: []\n", "assignments: [new]\n"),
    "a comma at the end": ("assignments: [x,\n  y,\n]\n", "assignments: [x,\n  y, new]\n"),
    "block": ("assignments:\n- x\n- y  # c\nb: 1\n", "assignments:\n- x\n- y  # c\n- new\nb: 1\n"),
    "no line break at the end": ("assignments:\n  - x", "assignments:\n  - x\n  - new\n"),
    "Windows": ("assignments:\r\n  - x\r\nb: 1\r\n", "assignments:\r\n  - x\r\n  - new\r\nb: 1\r\n"),
}
ENTRIES = {
    "a mapping in the middle": ("a:\n  '1': 2  # c\nb: 3\n", "a:\n  '1': 2  # c\n  '9': x\nb: 3\n"),
    "its last value is empty": ("b: 3\na:\n  '1':  # c\n", "b: 3\na:\n  '1':  # c\n  '9': x\n"),
    "no such mapping": ("b: 3\n", "b: 3\na:\n  '9': x\n"),
    "an empty mapping": ("a:\nb: 3\n", "a:\n  '9': x\nb: 3\n"),
    "a text of several lines": ("a:\n  '1': >-\n    t\n    u\nb: 3\n", "a:\n  '1': >-\n    t\n    u\n  '9': x\nb: 3\n"),
}
REFUSED = {
    "no list": "b: 1",
    "a text": "assignments: x",
    "not YAML": "assignments: [x",
    "a list alone": "- x",
    "nothing": "",
}


def test_with_item() -> None:
    with Rows() as row:
        for name, (before, after) in ITEMS.items():
            with row(name):
                assert with_item(before, "assignments", "new") == after


def test_with_entry() -> None:
    with Rows() as row:
        for name, (before, after) in ENTRIES.items():
            with row(name):
                assert with_entry(before, ("a",), "9", ["'9': x"]) == after


def test_not_editable() -> None:
    with Rows() as row:
        for name, text in REFUSED.items():
            with row(name), pytest.raises(NotEditable):
                with_item(text, "assignments", "new")
    for text in ("a: {}\n", "a: [1]\n", "a: text\n", "a:\n  '9': y\n"):
        with pytest.raises(NotEditable):
            with_entry(text, ("a",), "9", ["'9': x"])


@given(st.text(max_size=12))
def test_scalar_round_trip(text: str) -> None:
    assert yaml.safe_load(f"a: {as_scalar(text)}") == {"a": text}
    assert with_item("a: [x]\n", "a", text).startswith("a: [x, ")


@given(
    st.lists(st.sampled_from(["x", "hw-1", "7", "true", "a b"]), max_size=4),
    st.booleans(),
    st.sampled_from(["y", "1e3"]),
)
def test_any_list(items: list[str], flow: bool, new: str) -> None:
    before = yaml.safe_dump(
        {"first": 1, "assignments": items, "last": {"k": ["v"]}},
        default_flow_style=None if flow else False,
        sort_keys=False,
    )
    after = yaml.safe_load(with_item(before, "assignments", new))
    assert after == {"first": 1, "assignments": [*items, new], "last": {"k": ["v"]}}
