"""What a worker replied to one request; every part of it is an untrusted value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from viva.sandbox.errors import ProtocolViolation

_MAX_NAME = 200
_MAX_CLOSE = 3


@dataclass(frozen=True, slots=True)
class Reply:
    """The value that the program returned, or what it raised instead."""

    value: Any = None
    raised: Mapping[str, object] | None = None
    """What the code raised, with `type`, `message` and `frames` among its fields."""
    missing: str | None = None
    """The name that does not exist."""
    close: tuple[str, ...] = ()
    """Names that are like the missing one."""
    is_exhausted: bool = False
    """Whether the iterator has no further item."""

    @classmethod
    def parse(cls, message: object) -> Self:
        """Read the message of a worker.

        Raises:
            ProtocolViolation: it has none of the known forms.
        """
        if type(message) is not dict:
            raise ProtocolViolation("the reply was not a message")
        if "ok" in message:
            return cls(message["ok"])
        raised, close = message.get("raised"), message.get("close")
        if type(raised) is dict:
            return cls(raised=raised)
        if "missing" in message:
            names = map(_text, close[:_MAX_CLOSE]) if type(close) is list else ()
            return cls(missing=_text(message["missing"]), close=tuple(names))
        if message.get("stop") is True:
            return cls(is_exhausted=True)
        raise ProtocolViolation("the reply was not a message")


def _text(name: object) -> str:
    """Return a name, or the type of a value that is not a text: writing a huge integer would take long."""
    return name[:_MAX_NAME] if type(name) is str else f"({type(name).__name__})"
