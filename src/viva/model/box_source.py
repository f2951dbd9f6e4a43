"""The interfaces that the examiner needs: a box, and a source of boxes."""

from typing import Any, NoReturn, Protocol

from viva.model.errors import BoxUnavailable


class AnyBox(Protocol):
    """A box of viva.sandbox.host, or a student's live kernel."""

    @property
    def ready_message(self) -> Any:
        """Return the Hello with which it reported itself before any request."""
        ...

    @property
    def alive(self) -> bool:
        """Return whether it can answer requests."""
        ...

    @property
    def counted_s(self) -> float:
        """Return the seconds of all requests so far, as limits count them; see Box.counted_s."""
        ...

    @property
    def slept(self) -> bool:
        """Return whether its program slept most of the time of the last request; see Box.slept."""
        ...

    def ask(self, op: str, *, timeout_s: float, **fields: object) -> dict[str, object]:
        """Send one request and return the raw reply; see Box.ask."""
        ...

    def kill(self) -> None:
        """End it now."""
        ...

    def close(self) -> None:
        """End it, and free its resources."""
        ...


class BoxSource(Protocol):
    """Where ready boxes come from: the pool."""

    def take(self) -> AnyBox:
        """Return a locked box that has reported its layers and has read no student byte."""
        ...


class NoBoxes:
    """A source without boxes, for an examiner that runs no program."""

    def take(self, *_: object, **__: object) -> NoReturn:
        """Refuse to return a box.

        Raises:
            BoxUnavailable: always.
        """
        raise BoxUnavailable("this examiner runs no program")

    def check_last(self, *_: object) -> None:
        """Return: no GPU was used here."""
