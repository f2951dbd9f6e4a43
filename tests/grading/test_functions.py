"""Functions as arguments: what crosses to the sandbox is their code with all that it uses."""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.table_rows import Rows
from viva.compare.counterexamples.examples import generate_arguments
from viva.compare.show import show
from viva.examiner.recorded_key.recorded_values import digest
from viva.grading import strategies
from viva.grading.functions import NoCode, as_argument, compiled
from viva.sandbox.guest.values.references import References

RATE = 0.5
WEIGHTS = np.array([2, 1], dtype=np.int32)


class Thing:
    """An object that no test can send."""

    def __call__(self, x: float) -> float:
        return x


THING = Thing()


def halved(x: Any) -> Any:
    """Uses a number of this file."""
    return x * RATE


def twice_halved(x: Any) -> Any:
    """Uses another function."""
    first = halved(x)
    return halved(first) + WEIGHTS.sum()


def adding(n: int) -> Callable[[float], float]:
    """Return a function that uses a variable around it."""
    return lambda x: x + n


SENT: list[tuple[Callable[..., Any], str]] = [
    (lambda x: x**2 - 2, "lambda x: x ** 2 - 2"),
    ((lambda x: x + 1, lambda x: x - 1)[1], "lambda x: x - 1"),
    (lambda x: (lambda y: y * x)(3), "lambda x: (lambda y: y * x)(3)"),
    (lambda x, *rest, scale=2: scale * x + len(rest), "lambda x, *rest, scale=2: scale * x + len(rest)"),
    (
        lambda x: x
        + 1,
        "lambda x: x + 1",
    ),
    (lambda x: np.exp(x) + math.pi, "lambda x: np.exp(x) + math.pi"),
    (lambda ü: ü + len("ßß"), "lambda ü: ü + len('ßß')"),
    (adding(4), "lambda x: x + n"),
    (halved, "halved"),
    (twice_halved, "twice_halved"),
    (np.cos, "numpy.cos"),
    (math.sqrt, "math.sqrt"),
    (operator.neg, "_operator.neg"),
    (np.linalg.norm, "numpy.linalg.norm"),
    (abs, "abs"),
    (float, "float"),
]  # fmt: skip


def in_a_box(function: Callable[..., Any]) -> Any:
    """What the box makes of it."""
    refs = References()
    return refs.arguments(refs.mention(as_argument(function)))


def test_function_on_both_sides() -> None:
    with Rows() as row:
        for function, shown in SENT:
            with row(shown):
                sent = as_argument(function)
                made = in_a_box(function)
                assert show(sent) == repr(sent) == shown
                assert made is not function or shown.startswith(("numpy", "math", "_operator", "abs", "float"))
                assert made(2.0) == sent(2.0) == function(2.0)
                assert as_argument(sent) is sent


def test_function_without_code() -> None:
    lost: dict[str, Any] = {}
    exec("def lost(x): return x\nunknown = lambda x: x", lost)  # its source code is in no file
    for function, said in [
        (THING, "neither a function of the test nor of a library"),
        (functools.partial(halved), "neither a function of the test nor of a library"),
        (lambda x: THING(x), "`THING`|neither a function of the test"),  # the name is the point
        (lambda x: nowhere(x), "`nowhere`, which is not defined"),  # type: ignore[name-defined]  # noqa: F821
        (Thing, "a class of the test file, and not of a library"),
        (lost["lost"], "source code of `lost` is not at hand"),
        (lost["unknown"], "source code of a lambda is not at hand"),
    ]:
        with pytest.raises(NoCode, match=said):
            as_argument(function)
    with pytest.raises(NoCode, match="uses `halved`"):
        as_argument(twice_halved, refused={"halved"})
    with pytest.raises(NoCode, match="uses `RATE`"):
        as_argument(twice_halved, refused={"RATE"})


def test_compiled_functions_cross_with_their_source() -> None:
    names: dict[str, Any] = {}
    exec(compiled("def cube(x):\n    return x**3\n\nlast = lambda x: -x", "<cell 1 of this test>"), names)
    assert in_a_box(names["cube"])(2) == 8 and in_a_box(names["last"])(2) == -2


def test_matching_arguments_are_chosen_together() -> None:
    drawn = generate_arguments(
        [
            strategies.functions(lambda x: x**2, np.sin),
            strategies.functions(lambda x: 2 * x, np.cos),
            strategies.matching(1.0, 2.0),
            strategies.functions(abs, math.exp, math.sin),
        ],
        60,
    )
    together = {(repr(f), repr(derived), number) for f, derived, number, _ in drawn}
    assert together == {("lambda x: x ** 2", "lambda x: 2 * x", 1.0), ("numpy.sin", "numpy.cos", 2.0)}
    assert len({repr(other) for _, _, number, other in drawn if number == 1.0}) == 3
    for nothing in (strategies.functions, strategies.matching):
        with pytest.raises(ValueError, match="at least one choice"):
            nothing()


def test_equal_functions() -> None:
    one, same, other = (as_argument(function) for function in (adding(1), adding(1), adding(2)))
    assert one == same != other and hash(one) == hash(same)
    assert digest("f", (one,), {}) == digest("f", (same,), {}) != digest("f", (other,), {})


def test_layout_of_a_function() -> None:
    """A released test is written anew, and its recorded key must know its questions."""
    sent = []
    for number, text in enumerate(["def f(x):  # a remark\n    return (x**2)", "def f( x ):\n\n  return x ** 2"]):
        names: dict[str, Any] = {}
        exec(compiled(f"{text}\n\ng = lambda x: f(x)+1", f"<layout {number}>"), names)
        sent.append((as_argument(names["f"]), as_argument(names["g"])))
    assert sent[0] == sent[1]
