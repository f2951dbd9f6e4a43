"""YAML as plain data: values mean what people expect, and every value knows its line and its text."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.config.strict_yaml import MAX_DEPTH, MAX_VALUES, YamlProblem, read_yaml, scalar


def test_values_lines_and_texts() -> None:
    document = read_yaml("a: 1.50\nb:\n  c: [x, 2]\n  d:\n    - {e: yes}\n")
    assert document.value == {"a": 1.5, "b": {"c": ["x", 2], "d": [{"e": "yes"}]}}
    assert [document.line(p) for p in [("a",), ("b",), ("b", "c"), ("b", "c", 1), ("b", "d", 0, "e")]] == [
        1,
        2,
        3,
        3,
        5,
    ]
    assert document.line(("b", "c", "nowhere")) == 3
    assert document.texts[("a",)] == "1.50"


SCALARS = [
    ("", None), ("~", None), ("null", None), ("NULL", None), ("nULL", "nULL"),
    ("true", True), ("False", False), ("yes", "yes"), ("on", "on"),
    ("0", 0), ("-7", -7), ("+7", 7), ("007", "007"), ("1_000", "1_000"), ("0x10", "0x10"), ("9" * 41, "9" * 41),
    ("1.", 1.0), (".5", 0.5), ("1e3", 1000.0), ("-1.5E-3", -0.0015), ("1e99999", "1e99999"), ("1e9999", math.inf),
    (".", "."), (".e1", ".e1"), (".inf", ".inf"), (".nan", ".nan"), ("1:30", "1:30"), ("=", "="), ("<<", "<<"),
]  # fmt: skip


def test_scalar_has_value_and_type() -> None:
    with Rows() as row:
        for text, value in SCALARS:
            with row(text):
                assert scalar(text) == value
                assert type(scalar(text)) is type(value)


def test_quoted_scalars_are_text() -> None:
    assert read_yaml("['1', \"true\", '']").value == ["1", "true", ""]


def test_merge_keys_mean_nothing() -> None:
    assert read_yaml("'<<': {a: 1}\nb: 2\n").value == {"<<": {"a": 1}, "b": 2}


@pytest.mark.parametrize(("shape", "closing"), [("[", "]"), ("{a: ", "}")])
def test_depth_has_a_limit(shape: str, closing: str) -> None:
    assert read_yaml(shape * MAX_DEPTH + "1" + closing * MAX_DEPTH).value
    with pytest.raises(YamlProblem, match="nested deeper than 24 levels"):
        read_yaml(shape * (MAX_DEPTH + 1) + "1" + closing * (MAX_DEPTH + 1))


def test_the_number_of_values_has_a_limit() -> None:
    assert len(read_yaml("[" + "1," * (MAX_VALUES - 1) + "]").value) == MAX_VALUES - 1
    with pytest.raises(YamlProblem, match="more than 20,000 values"):
        read_yaml("[" + "1," * MAX_VALUES + "]")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text("ab 1.:#-'\"\\\n", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc1.", min_size=1, max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_json_is_yaml(value: Any) -> None:
    """JSON is YAML, and an author may paste it."""
    import json

    assert read_yaml(json.dumps(value)).value == value


@given(st.text(max_size=120))
def test_any_text_is_read_or_a_problem(text: str) -> None:
    try:
        document = read_yaml(text)
    except YamlProblem as problem:
        assert problem.text  # noqa: PT017  # that nothing else was raised is the point
    else:
        assert set(document.texts) <= set(document.lines)
