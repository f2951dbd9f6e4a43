"""What a function takes is read from its annotations and from the usual forms of docstrings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.table_rows import Rows
from viva.authoring.solved.described_calls import described_calls

NUMPY = """Solve `m @ x = b`.

    Parameters
    ----------
    m : ndarray, shape (n, n)
        The matrix.
    b, c : ndarray, shape(n,)
    steps : int

    Returns
    -------
    x : list of str
    """
GOOGLE = """Count.

    Args:
        tokens (list of str): the words.
        flags (boolean array of shape (n,)): which count
    """
SPHINX = """Scale.

    :param float factor: by how much
    :type rows: int array of shape (3, m)
    :return: nothing
    """


def function(parameters: str, docstring: str = "") -> Callable[..., Any]:
    namespace: dict[str, Any] = {"np": np}
    exec(f"def f({parameters}):\n    pass", namespace)  # what was written in this test
    namespace["f"].__doc__ = docstring
    made: Callable[..., Any] = namespace["f"]
    return made


def described(value: object) -> object:
    return (value.dtype.kind, value.shape) if isinstance(value, np.ndarray) else value


def test_the_types_of_annotations_and_docstrings() -> None:
    with Rows() as row:
        for parameters, docstring, first, second in [
            ("n: int, x: float = 2", "", [1], [5]),
            ("words: list[str], flag: 'bool'", "", [["a", "b"], True], [["the", "cat", "sat"], False]),
            ("x: np.ndarray", "", [("f", (3, 2))], [("f", (5, 4))]),
            ("m, b, c, steps", NUMPY, [("f", (3, 3)), ("f", (3,)), ("f", (3,)), 1],
             [("f", (5, 5)), ("f", (5,)), ("f", (5,)), 5]),
            ("tokens, flags", GOOGLE, [["a", "b"], ("b", (3,))], [["the", "cat", "sat"], ("b", (5,))]),
            ("factor, rows", SPHINX, [-1.5, ("i", (3, 2))], [2.0, ("i", (3, 4))]),
            ("a, pad", "a -- python numpy array of shape (m, n_H)\npad -- integer, padding", [("f", (3, 2)), 1],
             [("f", (5, 4)), 5]),
            ("v", "v : vector of numbers", [("f", (3,))], [("f", (5,))]),
        ]:  # fmt: skip
            with row(parameters):
                calls = described_calls(function(parameters, docstring))
                assert [[described(value) for value in call.args] for call in calls] == [first, second]


@pytest.mark.parametrize("docstring", ["", "x : the number of rows", "x : callable", "Returns\n-------\nx : int"])
def test_what_says_nothing_of_the_type(docstring: str) -> None:
    assert described_calls(function("x", docstring)) == []
