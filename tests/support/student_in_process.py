"""The author's own code behind the interface of `student`, in this process: quick, for code that does no harm."""

import contextlib
import copy
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from viva.model.errors import StudentRaised
from viva.plugins.authoring.solved.trial import plain_of
from viva.proxies.proxies import Call


class InProcess:
    """What a namespace defines, asked as `student` is."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        if name not in self._namespace:
            raise AttributeError(name)
        found = self._namespace[name]
        return Asked(found, name) if callable(found) else plain_of(found)


class Asked:
    """A function, a class or a method, with the ways to call it."""

    def __init__(self, function: Any, name: str) -> None:
        self._function, self.__name__ = function, name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call with copies and return the value.

        Raises:
            StudentRaised: the function raised.
        """
        done = self.call(*arguments, **keywords)
        if done.raised is not None:
            raise done.raised
        return done.value

    def each(self, questions: Iterable[Sequence[Any]]) -> list[Any]:
        """Call with each list of arguments; return the values in their order."""
        return [self(*question) for question in questions]

    def call(self, *arguments: Any, **keywords: Any) -> Call:
        """Call with copies and return everything the call did."""
        given, named, printed = copy.deepcopy(arguments), copy.deepcopy(keywords), io.StringIO()
        value, raised = None, None
        try:
            with contextlib.redirect_stdout(printed):
                value = plain_of(self._function(*given, **named))
        except Exception as error:
            raised = StudentRaised(type(error).__name__, str(error))
        return Call(value, given, named, printed.getvalue(), raised)

    def keep(self, *arguments: Any, **keywords: Any) -> "Kept":
        """Call and return the object itself, whose methods can be asked."""
        return Kept(self._function(*copy.deepcopy(arguments), **copy.deepcopy(keywords)))


class Kept:
    """An object whose methods are asked."""

    def __init__(self, made: object) -> None:
        self._made = made

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._made, name)
        return Asked(found, name) if callable(found) else plain_of(found)

    def value(self) -> Any:
        """Return the object in its plain form."""
        return plain_of(self._made)
