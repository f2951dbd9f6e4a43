"""Strategies draw what they promise, sizes of one name are equal, and small values come first."""

import numpy as np
import pytest
from hypothesis import find, given
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
def test_sizes_of_one_name_are_equal(q: np.ndarray, k: np.ndarray, mask: list[bool], d: int) -> None:
    assert q.shape[1] == k.shape[1] == d and len(mask) == q.shape[0]
    assert all(1 <= size <= strategies.LARGEST_NAMED for size in (*q.shape, *k.shape))


def test_sizes_of_different_names_differ_in_some_examples() -> None:
    drawn = _draw([strategies.arrays("n"), strategies.arrays("m")], 40)
    assert len({(len(first), len(second)) for first, second in drawn}) > 10


@given(strategies.arrays(3, 10, 10, elements=st.integers(0, 200)))
def test_large_arrays_are_samples_of_what_is_drawn(image: np.ndarray) -> None:
    assert image.shape == (3, 10, 10) and image.dtype.kind == "i" and 0 <= image.min() <= image.max() <= 200
    assert len(np.unique(image)) <= strategies.SAMPLED


def test_large_arrays_differ_and_shrink() -> None:
    drawn = _draw([strategies.arrays(150)], 20)
    assert len({array.tobytes() for (array,) in drawn}) > 15
    assert not find(strategies.arrays(150), lambda array: True).any()


@given(st.data())
def test_elements_and_sizes_are_as_asked(data: st.DataObject) -> None:
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


def test_tensors_have_the_types_that_torch_code_expects() -> None:
    torch = pytest.importorskip("torch")
    drawn = _draw([strategies.tensors("n"), strategies.tensors("n", elements=st.integers(0, 2))], 3)
    assert {(x.dtype, y.dtype) for x, y in drawn} == {(torch.float32, torch.int64)}


def test_authors_mistakes_are_said_when_the_strategy_is_made() -> None:
    with Rows() as row:
        for name, make in {
            "numbers": lambda: strategies.numbers(2, 1),
            "texts": lambda: strategies.texts("  "),
            "words": lambda: strategies.words(),
            "sequences": lambda: _draw([strategies.sequences(st.none(), (3, 1))], 1),
        }.items():
            with row(name), pytest.raises(Exception, match=r"expected|strategies cannot be used"):
                make()
