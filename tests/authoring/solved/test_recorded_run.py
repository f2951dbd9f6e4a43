"""What a solved notebook shows when it runs, what its docstrings describe, and what contradicts them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.table_rows import Rows
from viva.plugins.authoring.solved.described_calls import described_calls
from viva.plugins.authoring.solved.doubts import doubt_about, unused_argument
from viva.plugins.authoring.solved.recorded_run import run
from viva.plugins.authoring.source.source_cells import Cell


def test_failing_import() -> None:
    imports = ["import no_such_library, math", "from math import pi", "x = 2 * pi", "import no_other_library"]
    source = "\n".join([*imports, "y = x + 1", "1 / 0", "z = 1"])
    recorded = run([Cell("code", source, 7)], frozenset())
    assert recorded.failed == [
        (7, "ModuleNotFoundError: No module named 'no_such_library'"),
        (7, "ModuleNotFoundError: No module named 'no_other_library'"),
        (7, "ZeroDivisionError: division by zero"),
    ]
    assert recorded.namespace["y"] > 7 and "z" not in recorded.namespace


def test_future_import() -> None:
    cells = [
        Cell("code", "from __future__ import annotations\ndef f(x: Unknown):\n    return x", 1),
        Cell("code", "f(3)", 2),
    ]
    recorded = run(cells, frozenset({"f"}))
    assert recorded.failed == [] and [call.args for call in recorded.calls["f"]] == [(3,)]


def test_missing_test_library() -> None:
    test = [
        "from nose.tools import assert_equal, assert_raises",
        "assert_equal(f(1), 2)",
        "with assert_raises(ValueError):\n    f(-1)",
        "assert f(2) == 0",
        "f(3)",
    ]
    about: dict[str, object] = {"grade": True, "solution": False}
    solution = "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x + 1"
    recorded = run([Cell("code", solution, 1), Cell("code", "\n".join(test), 2, about)], frozenset({"f"}))
    assert [call.args for call in recorded.calls["f"]] == [(1,), (-1,), (2,), (3,)]
    assert recorded.failed == [(2, "ModuleNotFoundError: No module named 'nose'")]


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


def test_described_calls() -> None:
    with Rows() as row:
        for parameters, docstring, first, second in [
            ("n: int, x: float = 2", "", [1], [5]),
            ("m, b, c, steps", NUMPY, [("f", (3, 3)), ("f", (3,)), ("f", (3,)), 1],
             [("f", (5, 5)), ("f", (5,)), ("f", (5,)), 5]),
            ("tokens, flags", GOOGLE, [["a", "b"], ("b", (3,))], [["the", "cat", "sat"], ("b", (5,))]),
            ("factor, rows", SPHINX, [-1.5, ("i", (3, 2))], [2.0, ("i", (3, 4))]),
            ("a, pad", "a -- python numpy array of shape (m, n_H)\npad -- integer, padding", [("f", (3, 2)), 1],
             [("f", (5, 4)), 5]),
        ]:  # fmt: skip
            with row(parameters):
                calls = described_calls(function(parameters, docstring))
                assert [[described(value) for value in call.args] for call in calls] == [first, second]


CODE = '''
import numpy as np

def f(x):
    """
    >>> EXAMPLE
    WANTED
    """
    return np.array([x, 0.25])
'''


def doubt(example: str, wanted: str) -> str:
    """Return the doubt about a function that returns an array, whose docstring has an example."""
    cell = Cell("code", CODE.replace("EXAMPLE", example).replace("WANTED", wanted), 1)
    return doubt_about("f", run([cell], frozenset({"f"})))


@pytest.mark.parametrize(
    ("example", "wanted"),
    [
        ("f(1)", "array([1.  , 0.25])"),
        ("f(1) / 3", "array([0.333, 0.083])"),
        ("object()", "<object object at 0x1>"),
        ("missing(1)", "2"),
    ],
)
def test_equal_examples(example: str, wanted: str) -> None:
    assert doubt(example, wanted) == ""


@pytest.mark.parametrize(
    ("example", "wanted", "said"),
    [
        ("f(1)", "array([1.  , 0.5 ])", "`f(1)` gives array([1. , 0.25]), and not array([1. , 0.5 ])"),
        ("f(1)[2]", "2.0", "`f(1)[2]` raises IndexError: index 2 is out of bounds"),
    ],
)
def test_contradicting_examples(example: str, wanted: str, said: str) -> None:
    assert said in doubt(example, wanted).replace("np.float64(1.0)", "1.0").replace("np.True_", "True")


def nothing(used: Any, added: Any, _left: Any, unused: Any) -> Any:
    added += np.sum(used)


def test_unused_argument() -> None:
    assert unused_argument("nothing", nothing) == ["`nothing` never uses its argument `unused`."]
    assert unused_argument("sum", sum) == [] and unused_argument("f", lambda x: x) == []


def test_endless_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viva.plugins.authoring.solved.doubts._EXAMPLES_S", 0.2)
    assert doubt("while True: pass", "1") == ""
