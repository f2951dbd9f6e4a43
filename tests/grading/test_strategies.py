"""Strategies draw what they promise, sizes of one name are equal, and small values come first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.compare.counterexamples.examples import _draw
from viva.grading import strategies


@given(
    strategies.arrays("n", "d"),
    strategies.arrays("m", "d"),
    strategies.sequences(st.booleans(), "n"),
    strategies.sizes("d"),
)
def test_sizes_of_one_name(q: np.ndarray, k: np.ndarray, mask: list[bool], d: int) -> None:
    assert q.shape[1] == k.shape[1] == d and len(mask) == q.shape[0]
    assert all(1 <= size <= strategies.LARGEST_NAMED for size in (*q.shape, *k.shape))


def test_sizes_of_different_names() -> None:
    drawn: Any = _draw([strategies.arrays("n"), strategies.arrays("m")], 40)
    assert len({(len(first), len(second)) for first, second in drawn}) > 10


@given(strategies.arrays(3, 10, 10, elements=st.integers(0, 200)))
def test_large_arrays_are_samples(image: np.ndarray) -> None:
    assert image.shape == (3, 10, 10) and image.dtype.kind == "i" and 0 <= image.min() <= image.max() <= 200
    assert len(np.unique(image)) <= strategies.SAMPLED


def test_large_arrays_differ_and_shrink() -> None:
    drawn: Any = _draw([strategies.arrays(150)], 20)
    assert len({array.tobytes() for (array,) in drawn}) > 15
    assert not find(strategies.arrays(150), lambda array: True).any()


@given(st.data())
def test_elements_and_sizes(data: st.DataObject) -> None:
    assert data.draw(strategies.arrays(2, (0, 3), elements=st.integers(4, 6))).dtype.kind in "if"
    assert data.draw(strategies.arrays(3, elements=st.booleans())).dtype == bool
    table = data.draw(strategies.rows(2, 3))
    assert [len(row) for row in table] == [3, 3] and all(type(x) is float for row in table for x in row)
    ascending = data.draw(strategies.sequences(st.integers(0, 99), (0, 6), ordered=True, distinct=True))
    assert ascending == sorted(set(ascending)) and len(ascending) <= 6
    assert 0.25 <= data.draw(strategies.numbers(0.25, 0.4)) <= 0.4
    assert set(data.draw(strategies.texts("The cat.", "ran"))) <= set("The cat.ranTHECATRN \n")
    assert 1 <= len(data.draw(strategies.texts("a b", low=1, high=2)).split()) <= 2
    assert set(data.draw(strategies.words("Ab"))) <= set("AbaB")
    assert set(data.draw(strategies.lines("a,3\nb 2.5", "x1")).split("\n")) <= {"a,2", "a,3", "a,4", "b 2.5", "x1"}
    assert abs(sum(data.draw(strategies.distributions())) - 1) < 1e-9


def test_types_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    drawn: Any = _draw([strategies.tensors("n"), strategies.tensors("n", elements=st.integers(0, 2))], 3)
    assert {(x.dtype, y.dtype) for x, y in drawn} == {(torch.float32, torch.int64)}


def test_invalid_strategy() -> None:
    with Rows() as row:
        invalid: dict[str, Callable[[], object]] = {
            "numbers": lambda: strategies.numbers(2, 1),
            "texts": lambda: strategies.texts("  "),
            "words": lambda: strategies.words(),
            "lengths": lambda: strategies.lengths(3, 2),
            "sequences": lambda: _draw([strategies.sequences(st.none(), (3, 1))], 1),
        }
        for name, make in invalid.items():
            with row(name), pytest.raises(Exception, match=r"expected|strategies cannot be used|smaller one first"):
                make()


@settings(suppress_health_check=list(HealthCheck))
@given(st.data())
def test_tokens_and_matrices(data: st.DataObject) -> None:
    tokens = data.draw(strategies.token_lists("xyz", 1, 4))
    assert 1 <= len(tokens) <= 4 and set(tokens) <= set("xyz")
    references = data.draw(strategies.reference_lists(most=2))
    assert 1 <= len(references) <= 2 and all(references)
    matrix = data.draw(strategies.matrices(2, (1, 3)))
    assert matrix.shape[0] == 2 and 1 <= matrix.shape[1] <= 3 and np.abs(matrix).max() <= 3
    rows = data.draw(strategies.probability_rows())
    assert np.allclose(rows.sum(axis=1), 1) and (rows >= 0).all()
    assert 2 <= data.draw(strategies.lengths(2, 4)) <= 4
