"""What the student's functions print, show and draw while they are asked is not put below the cell that checks."""

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any


class _Nowhere(io.RawIOBase):
    """Takes everything and keeps nothing."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(memoryview(data))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(_Nowhere()), encoding="utf-8", errors="backslashreplace")


@contextlib.contextmanager
def nothing_shown(shell: Any) -> Iterator[None]:
    """Within, standard output and error, `display` and figures go nowhere.

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


def _publisher(shell: Any) -> Any:
    from IPython.core.displaypub import DisplayPublisher

    class Nobody(DisplayPublisher):
        """Publishes nothing."""

        def publish(self, *_args: Any, **_kwargs: Any) -> None:
            """Nothing is shown."""

        def clear_output(self, wait: bool = False) -> None:
            """Nothing was shown."""

    make: Any = Nobody
    return make(shell=shell)


def _figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot is not None else set()


def _close(numbers: set[int]) -> None:
    for number in numbers:
        sys.modules["matplotlib.pyplot"].close(number)
