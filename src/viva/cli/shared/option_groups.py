"""Groups of options: each becomes one typed argument of the command's function."""

import functools
import inspect
from collections.abc import Callable


def option_group(
    name: str, build: Callable[..., object], *options: Callable[..., object]
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Return a decorator that collects the values of options.

    Args:
        name: the argument of the command's function that gets the value.
        build: makes the value; its parameters are named like the options.
        options: what click.option returned.
    """
    parameters = [*inspect.signature(build).parameters]

    def decorate(function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def collected(**given: object) -> object:
            value = build(**{parameter: given.pop(parameter) for parameter in parameters})
            return function(**given, **{name: value})

        for option in reversed(options):
            collected = option(collected)
        return collected

    return decorate
