"""Hides what the student's functions print, display and draw while they are called."""

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _NullStream(io.RawIOBase):
    """A stream that discards everything."""

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer") -> int:
        return len(memoryview(data))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(_NullStream()), encoding="utf-8", errors="backslashreplace")


@contextlib.contextmanager
def output_discarded(shell: Any) -> Iterator[None]:
    """Discard standard output and error, `display` and figures within the block.

    Args:
        shell: IPython's, or None.
    """
    streams, figures = (sys.stdout, sys.stderr), _figures()
    publisher = getattr(shell, "display_pub", None)
    sys.stdout, sys.stderr = _stream(), _stream()
    if publisher is not None:
        shell.display_pub = _publisher(shell)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        if publisher is not None:
            shell.display_pub = publisher
        _close(_figures() - figures)


def _publisher(shell: object) -> Any:
    from IPython.core.displaypub import DisplayPublisher

    class SilentPublisher(DisplayPublisher):
        """Publishes nothing."""

        def publish(self, *_args: object, **_kwargs: object) -> None:
            """Show nothing."""

        def clear_output(self, *_args: object, **_kwargs: object) -> None:
            """Clear nothing, because nothing was shown."""

    make: Any = SilentPublisher
    return make(shell=shell)


def _figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot is not None else set()


def _close(numbers: set[int]) -> None:
    for number in numbers:
        sys.modules["matplotlib.pyplot"].close(number)
