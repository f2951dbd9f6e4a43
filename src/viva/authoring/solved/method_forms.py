"""How to draw the arguments of a method: those of a function, without `self`."""

import inspect
from collections.abc import Sequence
from typing import Any

from viva.authoring.solved.forms import Forms
from viva.authoring.solved.input_forms import forms_of
from viva.authoring.solved.recorded_run import Recorded
from viva.authoring.solved.scalar_forms import Undrawable
from viva.authoring.solved.solution_code import constants_in, texts_in


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
    stripped = []
    for call in calls:
        bound = rest.bind_partial()
        bound.arguments.update({k: v for k, v in call.arguments.items() if k != first})
        stripped.append(bound)

    def alike() -> None:
        """Do nothing: only its parameters matter."""

    alike.__signature__ = rest  # type: ignore[attr-defined]  # what inspect.signature reads
    try:
        forms = forms_of(alike, stripped, recorded, texts=texts_in(function), constants=constants_in(function))
    except Undrawable:
        if calls:
            raise
        return None
    for size in forms.sizes:
        size.fixed = True
    for slot in forms.slots:
        slot.at = min(1, len(slot.options) - 1)
    return forms


def written_arguments(drawn: Sequence[str], calls: Sequence[inspect.BoundArguments]) -> str:
    """Return the strategy of a constructor's arguments: all, or as few as the notebook gives, to test defaults as well.

    Args:
        drawn: the strategy of each argument, without `self`.
        calls: the notebook's calls, with `self`.
    """
    fewest = min((len(call.arguments) - 1 for call in calls), default=len(drawn))
    lengths = dict.fromkeys([min(fewest, len(drawn)), len(drawn)])
    return " | ".join(f"tuples({', '.join(drawn[:length])})" for length in lengths)
