"""What a call does besides returning: for functions that print or change their arguments, and for classes."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, get_args

from viva.proxies.key import has_plain_form
from viva.proxies.proxies import special_method

Observed = Literal["printed", "arguments", "value"]
_OBSERVED: Final = frozenset(get_args(Observed))


def observed(function: Any, *what: Observed) -> Callable[..., dict[str, object]]:
    """Return a function that calls `student.f` or `key.f` and returns what the call did.

    Args:
        function: `student.f` or `key.f`.
        what: "value" for what it returns, "printed" for what it prints, "arguments" for its arguments afterwards.

    Raises:
        ValueError: nothing, or something else, is to be observed.
    """
    if not what or not _OBSERVED.issuperset(what):
        raise ValueError(f'observed: expected some of "value", "printed", "arguments"; found {what}.')

    def call(*arguments: object) -> dict[str, object]:
        done = function.call(*arguments)
        if done.raised is not None:
            raise done.raised
        after = [value for value, given in zip(done.args_after, arguments, strict=True) if has_plain_form(given)]
        seen = {"value": done.value, "printed": done.printed, "arguments": after}
        return {name: seen[name] for name in what}

    call.__name__ = function.__name__
    return call


def played(cls: Any) -> Callable[[Sequence[object], Iterable[Sequence[Any]]], list[object]]:
    """Return a function that makes an object of `student.Class` and calls its methods in order.

    It takes the arguments of the constructor, and for each call the method's name and its arguments. It returns what
    the methods return, and `("raised", type)` for one that raises. `key.played_Class`, written in the key, does the
    same for the right class.
    """

    def play(arguments: Sequence[object], calls: Iterable[Sequence[Any]]) -> list[object]:
        made = cls.keep(*arguments)
        answers: list[object] = []
        for method, *given in calls:
            called = special_method(made, method) if method.startswith("__") else getattr(made, method)
            done = called.call(*given)
            answers.append(done.value if done.raised is None else ("raised", done.raised.type_name))
        return answers

    play.__name__ = cls.__name__
    return play
