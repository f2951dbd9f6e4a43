"""Inputs are written as code, from what a notebook passes; the trial makes them as wide as the solution answers."""

import inspect
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.support.table_rows import Rows
from viva.plugins.authoring.solved.input_forms import forms_of
from viva.plugins.authoring.solved.recorded_run import Recorded
from viva.plugins.authoring.solved.scalar_forms import Undrawable
from viva.plugins.authoring.solved.trial import evaluated, fitted

Calls = list[tuple[Any, ...]]


def forms(function: Callable[..., Any], calls: Calls, **options: Any) -> Any:
    bound = [inspect.signature(function).bind(*call) for call in calls]
    return forms_of(function, bound, Recorded({}), **options)


TABLE = pd.DataFrame({"k": ["a", "b", "a"], "v": [1.5, None, -2.0]})


ONE_OR_TWO_AXES = "arrays((2, 2), elements=numbers(0, 1)) | arrays((3, 3), (1, 1), elements=numbers(0.5, 3))"


def one(x: Any) -> Any:
    return x


WRITTEN: list[tuple[list[Any], str]] = [
    ([3, 5], "integers(3, 5)"),
    ([0.5, 0.25], "numbers(0.1, 0.9)"),
    ([-2.5, 4.0], "numbers(-4, 4)"),
    ([None, 3], "none() | integers(3, 3)"),
    (["a cat sat"], 'texts("a cat sat", low=1)'),
    (["a,1\nb,2"], 'lines("a,1", "b,2")'),
    ([[1, 2], [4]], 'sequences(integers(1, 4), "n")'),
    ([(1, "x"), (2, "y")], 'tuples(integers(1, 2), words("x", "y"))'),
    ([{"a": 1}], 'dictionaries(words("a"), integers(1, 1), min_size=1, max_size=3)'),
    ([{"a": 1, "b": "x"}], 'fixed_dictionaries({"a": integers(1, 1), "b": words("x")})'),
    (
        [{"W": np.ones((4, 2)) / 3, "b": np.zeros((4, 1)) - 1}],
        'fixed_dictionaries({"W": arrays("n", "m", elements=numbers(0.1, 0.9)), "b": arrays("n", 1)})',
    ),
    ([{1, 2}], "sets(integers(1, 2), max_size=4)"),
    ([[0.25, 0.75], [1.0]], "distributions()"),
    ([np.zeros((2, 3), dtype=int)], 'arrays("n", "m", elements=integers(0, 0))'),
    ([np.ones(2), 2 * np.ones((3, 1)), np.array(1.0)], ONE_OR_TWO_AXES),
    ([np.array([[0.5, 0.5]])], "probability_rows()"),
    ([[[1.0, -2.0], [3.0, 4.0]]], 'rows("n", "n")'),
    ([TABLE], 'frames({"k": sampled_from(["a", "b"]), "v": none() | numbers(-3, 3)}, "n")'),
    ([TABLE["v"].dropna()], 'series(numbers(-3, 3), "n", index=integers(0, 2))'),
]


def test_written_strategies() -> None:
    with Rows() as row:
        for values, written in WRITTEN:
            with row(written):
                found = forms(one, [(value,) for value in values])
                assert found.written() == [written]
                evaluated(found.written()[0]).validate()


VECTORS = {f"w{number:03}": np.zeros(3) for number in range(200)}


def test_large_dictionary() -> None:
    table = pd.DataFrame({"one": ["w150", "w150"], "other": [1, 2]})
    found = forms(lambda word, words, vectors, table: word, [("w007", ["w007", "w042"], VECTORS, table)])
    word, words, vectors, rows = found.written()
    drawn = ["w007", "w042", "w150", "w000", "w001", "w002", "w003", "w004"]
    assert word == 'sampled_from(["w007"])' and words.startswith('sequences(sampled_from(["w007", "w042"])')
    assert rows.startswith('frames({"one": sampled_from(["w150"])')
    assert re.findall(r'"(\w+)": arrays\("', vectors) == sorted(drawn)
    found.slots[0].at = 1
    assert found.written()[0] == f"sampled_from({json.dumps(sorted(drawn))})"


def test_unsupported_value_is_refused_with_its_reason() -> None:
    with Rows() as row:
        for value, said in [
            (object(), "of type object"),
            (float("nan"), "not finite"),
            ("", "empty"),
            (TABLE[:0], "an empty data frame"),
            (TABLE.rename(columns={"k": 1}), "labels are not all texts"),
            (pd.Timestamp("2024-01-02 10:00"), "times of the day"),
        ]:
            with row(said), pytest.raises(Undrawable, match=said):
                forms(one, [(value,)])


def product(a: Any, b: Any) -> Any:
    return a @ b


def square(a: Any) -> Any:
    return np.linalg.inv(a + 10 * np.eye(len(a)))


def test_shared_sizes() -> None:
    found = forms(product, [(np.ones((3, 3)) - 2, np.ones((3, 3)) - 2)])
    assert found.written() == ['arrays("n", "n")', 'arrays("n", "n")']
    assert fitted(product, found, frozenset()).enough
    first, second = found.written()
    assert first == 'arrays("n", "m")' and second == 'arrays("m", "k")'
    found = forms(square, [(np.ones((2, 2)) - 2,)])
    assert fitted(square, found, frozenset()).enough
    assert found.written() == ['arrays("n", "n")']


def test_growing_ranges() -> None:
    found = forms(lambda n: 1 / n, [(2,), (3,)])
    assert fitted(lambda n: 1 / n, found, frozenset()).enough
    assert found.written() == ["integers(1, 6)"]
    found = forms(lambda items: max(items), [([3, 1],)])
    assert fitted(lambda items: max(items), found, frozenset()).enough
    assert found.written() == ['sequences(integers(0, 6), "n")']


def refusing(n: int) -> int:
    if n < 0:
        raise ValueError("below zero")
    return n


def test_refused_arguments() -> None:
    found = forms(refusing, [(2,)], refuses=True)
    answers = fitted(refusing, found, frozenset({"ValueError"}))
    assert answers.enough and answers.refused and found.written() == ["integers(-2, 4)"]
