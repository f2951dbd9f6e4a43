"""What the examiner needs of a box, and of whatever hands out boxes."""

from typing import Any, Protocol


class AnyBox(Protocol):
    """What is asked: a box of viva.sandbox.host, or a student's live kernel."""

    @property
    def ready_message(self) -> Any:
        """What it said of itself before it was asked anything: a Hello."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        ...

    def ask(self, op: str, *, timeout_s: float, **fields: Any) -> dict[str, Any]:
        """Send one request and return the raw reply; see Box.ask."""
        ...

    def kill(self) -> None:
        """End it now."""
        ...

    def close(self) -> None:
        """End it, and free what belongs to it."""
        ...


class BoxSource(Protocol):
    """Where ready boxes come from: the pool."""

    def take(self) -> AnyBox:
        """A locked box that has reported its layers and has read no student byte."""
        ...
