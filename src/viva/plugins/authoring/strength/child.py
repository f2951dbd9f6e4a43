"""`python -m viva.plugins.authoring.strength.child`: call broken and right functions until their answers differ."""

import copy
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from viva.compare.agree import difference
from viva.compare.context import Context
from viva.compare.counterexamples.examples import drawing_from, generate_arguments
from viva.compare.normalize import is_tensor
from viva.compare.show import show
from viva.model.child_process import answer, read_request
from viva.plugins.authoring.solved.forms import source_code
from viva.plugins.authoring.solved.proposal import WIDTH
from viva.plugins.authoring.solved.recorded_run import seeded
from viva.plugins.authoring.solved.trial import (
    LONGEST_CALL_S,
    Solution,
    TooSlow,
    evaluated,
    is_finite,
    plain_of,
    within,
)
from viva.proxies.key import with_objects

DRAWN: Final = 2_000
_FIRST: Final = 200
"""Calls that are tried as they are drawn, and then with large numbers, before all others."""
_LARGE: Final = 1000
"""By how much. Numbers that the tests draw are too small for `exp` to overflow."""
_ENOUGH: Final = 5
"""Calls of which the shortest is shown."""
_BUDGET_S: Final = 5.0
"""Processor seconds for one mutant."""
_PLAIN: Final = Context.of(None, None, ())


def main() -> None:
    """Answer one request."""
    request = read_request()
    drawn: dict[str, list[tuple[object, ...]]] = {}
    found = {}
    for survivor in request["survivors"]:
        for name in survivor["names"]:
            if name not in drawn:
                drawn[name] = _drawn(request["strategies"][name], request["definitions"], request["key"])
            separated = separated_by(request["key"], survivor["code"], name, drawn[name])
            if separated is not None:
                found[survivor["id"]] = separated
                break
    answer(request, found)


def separated_by(key: str, broken: str, name: str, drawn: Sequence[tuple[object, ...]]) -> dict[str, str] | None:
    """Return a call on which a broken definition changes the answer of a function; None if none is found.

    Args:
        key: the source code of the solution.
        broken: the source code of one of its definitions with a mistake in it.
        name: the function that is called.
        drawn: its arguments.
    """
    right, wrong = _namespace(key), _namespace(key)
    exec(compile(broken, "<broken>", "exec"), wrong)  # noqa: S102  # the author's own code
    end = time.process_time() + _BUDGET_S
    differing: list[tuple[object, ...]] = []
    first, rest = drawn[:_FIRST], drawn[_FIRST:]
    large = [each for arguments in first if repr(each := _multiplied(arguments)) != repr(arguments)]
    tried = [*((each, False) for each in first), *((each, True) for each in large), *((each, False) for each in rest)]
    for arguments, finite in tried:
        if time.process_time() > end or len(differing) == _ENOUGH:
            break
        if _differ(right[name], wrong[name], arguments, finite=finite):
            differing.append(arguments)
    if not differing:
        return None
    best = min(differing, key=lambda arguments: len(repr(arguments)))
    written = [source_code(argument) for argument in best]
    is_code = all(written) and len(", ".join(written)) <= WIDTH - 60
    shown = ", ".join(show(argument) for argument in best)
    return {"name": name, "shown": f"{name}({shown})", "arguments": ", ".join(written) if is_code else ""}


def _drawn(strategies: Sequence[str], definitions: Sequence[str], key: str) -> list[tuple[object, ...]]:
    solution = Solution(_namespace(key))
    with drawing_from(1):
        return generate_arguments([evaluated(text, definitions, solution) for text in strategies], DRAWN)


def _multiplied(value: Any) -> Any:
    """Return arguments with all their floats made large."""
    if isinstance(value, float):
        return value * _LARGE
    if type(value) in (list, tuple):
        return type(value)(map(_multiplied, value))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value * _LARGE
    return value * _LARGE if is_tensor(value) and value.is_floating_point() else value


def _differ(
    right: Callable[..., Any], wrong: Callable[..., Any], arguments: tuple[object, ...], *, finite: bool
) -> bool:
    """Return whether only the answers tell the two apart; arguments that the right one refuses do not count.

    Args:
        right: a function.
        wrong: the same with a mistake.
        arguments: what both are called with.
        finite: whether the right answer must be finite; else its own numbers were too large.
    """
    try:
        expected = _answer(right, arguments)
    except (Exception, TooSlow):
        return False
    if finite and not is_finite(expected):
        return False
    try:
        given = _answer(wrong, arguments)
    except (Exception, TooSlow):
        return True
    try:
        return difference(given, expected, _PLAIN) is not None
    except Exception:
        return False


def _answer(function: Callable[..., Any], arguments: tuple[object, ...]) -> object:
    given = with_objects(copy.deepcopy(arguments))
    seeded(0)
    with within(LONGEST_CALL_S), np.errstate(all="ignore"):
        return plain_of(function(*given))


def _namespace(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "viva_solution"}
    exec(compile(source, "<solution>", "exec"), namespace)  # noqa: S102  # the author's own code
    return namespace


if __name__ == "__main__":
    main()
