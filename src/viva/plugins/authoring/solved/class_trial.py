"""Try a class with drawn arguments: what a test cannot compare is left out of it."""

import inspect
from collections.abc import Callable, Mapping

from viva.plugins.authoring.solved.forms import Forms
from viva.plugins.authoring.solved.solution_code import raised_in
from viva.plugins.authoring.solved.trial import AS_MANY, tried


def errors_of_constructor(cls: type, made: Forms) -> str | None:
    """Return how a test treats a constructor that raises, as the option `errors` of `agree_on`.

    Args:
        cls: the solution's class.
        made: how to draw the constructor's arguments; narrowed if the solution refuses too many.

    Returns:
        None if the solution refuses too many in any case.
    """
    constructor = vars(cls).get("__init__")
    own = raised_in(constructor) if inspect.isfunction(constructor) else frozenset()
    if not made.arguments:
        return "fault"
    answers = tried(cls, made, own)
    if answers.raised:
        for slot in made.slots:
            slot.at = 0
        answers = tried(cls, made, own)
    if not answers.enough:
        return None
    return answers.errors(own)


def fit_constructor(cls: type, made: Forms, methods: Mapping[str, Forms]) -> None:
    """Draw the constructor's arguments as widely as its methods still answer.

    Args:
        cls: the solution's class.
        made: how to draw the constructor's arguments; changed in place.
        methods: how to draw those of its methods.
    """

    def share() -> float:
        found = [tried(*_asking(cls, made, method, forms)).share for method, forms in methods.items()]
        return sum(found) / max(1, len(found))

    wide = [slot.at for slot in made.slots]
    before = share()
    for slot in made.slots:
        slot.at = 0
    narrow = share()
    if narrow * AS_MANY <= before:
        for slot, at in zip(made.slots, wide, strict=True):
            slot.at = at
    best = max(before, narrow)
    for size in made.sizes:
        size.fixed = False
    if share() < best * AS_MANY:
        for size in made.sizes:
            size.fixed = True


def untestable(cls: type, made: Forms, methods: Mapping[str, Forms]) -> dict[str, str]:
    """Return the methods whose results a test cannot compare, and why."""
    found = {method: _why_untestable(cls, made, method, forms) for method, forms in methods.items()}
    return {method: why for method, why in found.items() if why}


def _why_untestable(cls: type, made: Forms, method: str, forms: Forms) -> str:
    answers = tried(*_asking(cls, made, method, forms))
    if answers.attributes:
        return "it returns an object of a class of the notebook"
    if not answers.plain:
        return f"it returns an object of type {answers.odd_type}, which a test cannot compare"
    if answers.differs:
        return "it gives two results for the same arguments"
    if not answers.answered and answers.raised.keys() == {"NotImplementedError"}:
        return "it only raises NotImplementedError"
    return ""


def _asking(cls: type, made: Forms, method: str, forms: Forms) -> tuple[Callable[..., object], Forms]:
    """Return a function that makes an object and calls a method of it, and how to draw its arguments."""
    count = len(made.arguments)

    def ask(*given: object) -> object:
        return getattr(cls(*given[:count]), method)(*given[count:])

    arguments, needed = [*made.arguments, *forms.arguments], [*made.needed, *forms.needed]
    return ask, Forms(arguments, namespace=made.namespace, needed=needed)
