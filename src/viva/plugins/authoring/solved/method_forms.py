"""How to draw the arguments of a method: those of a function, without `self`."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from viva.plugins.authoring.solved.forms import Forms
from viva.plugins.authoring.solved.input_forms import forms_of
from viva.plugins.authoring.solved.recorded_run import Recorded
from viva.plugins.authoring.solved.scalar_forms import Undrawable
from viva.plugins.authoring.solved.solution_code import constants_in, texts_in


def forms_of_method(name: str, function: Any, recorded: Recorded) -> Forms | None:
    """Return how to draw a method's arguments without `self`; None for one that is never called and needs some.

    Args:
        name: with its class: `Stack.push`.
        function: the method, as it is in the class.
        recorded: the run of the notebook.

    Raises:
        Undrawable: viva cannot draw one of them.
    """
    if not inspect.isfunction(function):
        return Forms()  # object's own __init__
    calls = recorded.calls.get(name, [])
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), "")
    rest = signature.replace(parameters=list(signature.parameters.values())[1:])
    given = [{k: v for k, v in call.arguments.items() if k != first} for call in calls]
    try:
        forms = forms_of_calls(function, rest, given, recorded)
    except Undrawable:
        if calls:
            raise
        return None
    for size in forms.sizes:
        size.fixed = True
    for slot in forms.slots:
        slot.at = min(1, len(slot.options) - 1)
    return forms


def forms_of_calls(
    function: Callable[..., object],
    signature: inspect.Signature,
    given: Sequence[Mapping[str, object]],
    recorded: Recorded,
) -> Forms:
    """Return how to draw the arguments of a function that has other parameters for a test.

    Args:
        function: the solution's, whose code is looked at.
        signature: the parameters.
        given: what each call of the notebook gives them, by name.
        recorded: the run of the notebook.

    Raises:
        Undrawable: viva cannot draw one of them.
    """
    calls = [signature.bind_partial() for _ in given]
    for call, arguments in zip(calls, given, strict=True):
        call.arguments.update(arguments)

    def alike() -> None:
        """Do nothing: only its parameters matter."""

    alike.__signature__ = signature  # type: ignore[attr-defined]  # what inspect.signature reads
    return forms_of(alike, calls, recorded, texts=texts_in(function), constants=constants_in(function))


def written_arguments(drawn: Sequence[str], fewest: int) -> str:
    """Return the strategy of a constructor's arguments: all, or as few as the notebook gives, to test defaults as well.

    Args:
        drawn: the strategy of each argument, without `self`.
        fewest: how many the notebook gives at least.
    """
    lengths = dict.fromkeys([min(fewest, len(drawn)), len(drawn)])
    return " | ".join(f"tuples({', '.join(drawn[:length])})" for length in lengths)
