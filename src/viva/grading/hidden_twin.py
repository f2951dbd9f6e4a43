"""A hidden test that repeats a visible one with other arguments, which no one can know before."""

import inspect
from collections.abc import Callable
from typing import Any

from viva.compare.counterexamples.examples import drawing_from
from viva.grading.decorators import visibility

_RNG = "rng"


def with_other_arguments(test: Callable[..., Any]) -> Callable[..., Any]:
    """Return a hidden test that does what `test` does, while `agree_on` draws its examples from the course's secret.

    Students have the examples of visible tests in the released folder, so that a program could know all answers by
    heart. Write `test_f_again = with_other_arguments(test_f)` below the test; it has the same number and weight.

    Raises:
        TypeError: `test` is not a function.
    """
    if not inspect.isfunction(test):
        raise TypeError(f"with_other_arguments: expected a test function; found {test!r}.")
    signature = inspect.signature(test)
    names = list(signature.parameters)

    def again(**fixtures: Any) -> None:
        with drawing_from(int(fixtures[_RNG].integers(2**63))):
            test(**{name: fixtures[name] for name in names})

    vars(again).update(vars(test))
    again.__name__, again.__doc__, again.__module__ = f"{test.__name__}_again", test.__doc__, test.__module__
    more = [] if _RNG in names else [inspect.Parameter(_RNG, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    again.__signature__ = signature.replace(  # type: ignore[attr-defined]  # what pytest reads
        parameters=[*signature.parameters.values(), *more]
    )
    return visibility("hidden")(again)
