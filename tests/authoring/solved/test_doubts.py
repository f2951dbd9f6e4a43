"""What speaks against a solution is told before anything is graded by it."""

from typing import Any

import numpy as np
import pytest

from viva.authoring.solved.doubts import doubt_about, unused_argument
from viva.authoring.solved.recorded_run import run
from viva.authoring.source.source_cells import Cell

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
        ("f(1)", "[1.0 0.25]"),
        ("f(1)[0]", "1.0"),
        ("f(1) / 3", "array([0.333, 0.083])"),
        ("object()", "<object object at 0x1>"),
        ("missing(1)", "2"),
        ("f(3).tolist()", "[3.0, 0.25]"),
    ],
)
def test_an_example_that_only_looks_otherwise_is_no_contradiction(example: str, wanted: str) -> None:
    assert doubt(example, wanted) == ""


@pytest.mark.parametrize(
    ("example", "wanted", "said"),
    [
        ("f(1)", "array([1.  , 0.5 ])", "`f(1)` gives array([1. , 0.25]), and not array([1. , 0.5 ])"),
        ("f(1)[0]", "2.0", "`f(1)[0]` gives 1.0, and not 2.0"),
        ("f(1)[2]", "2.0", "`f(1)[2]` raises IndexError: index 2 is out of bounds"),
        ("f(1).sum() > 1", "False", "`f(1).sum() > 1` gives True, and not False"),
    ],
)
def test_an_example_with_another_value_is_a_contradiction(example: str, wanted: str, said: str) -> None:
    assert said in doubt(example, wanted).replace("np.float64(1.0)", "1.0").replace("np.True_", "True")


def test_an_example_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viva.authoring.solved.doubts._EXAMPLES_S", 0.2)
    assert doubt("while True: pass", "1") == ""


def nothing(used: Any, added: Any, _left: Any, unused: Any) -> Any:
    added += np.sum(used)


def test_an_argument_that_is_never_used_is_told() -> None:
    assert unused_argument("nothing", nothing) == ["`nothing` never uses its argument `unused`."]
    assert unused_argument("sum", sum) == [] and unused_argument("f", lambda x: x) == []
