"""The boxes with a GPU of one submission: taken for the tests that need one, with their usage."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from viva.model.errors import LoadFailed
from viva.model.gpu import GpuNeed, GpuUse

if TYPE_CHECKING:
    from viva.sandbox.host.box import Box


class GpuSource(Protocol):
    """Makes boxes with a GPU, each when it is asked for."""

    def take(
        self, needed_mib: int, on_wait: Callable[[str], None], *, deterministic: bool
    ) -> "tuple[Box, Callable[[], GpuUse]]":
        """Take a locked box whose GPU has this much memory, and a function that returns how it was used.

        See GpuBoxes.take.
        """
        ...

    def check_last(self, on_wait: Callable[[str], None]) -> None:
        """Check the GPU of the last box again; see GpuBoxes.check_last."""
        ...


class OnGpu:
    """What is known about one submission's boxes with a GPU; one at a time."""

    def __init__(self, source: GpuSource, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self._source = source
        self._on_wait = on_wait
        self._now: Callable[[], GpuUse] | None = None
        self.use: GpuUse | None = None
        """The GPU use of boxes that have ended."""
        self.failure: LoadFailed | None = None
        """Set when loading ended such a box, twice; boxes without a GPU are asked all the same."""

    def take(self, need: GpuNeed) -> "Box":
        """Take a fresh box whose GPU is as a test needs it.

        Raises:
            GpuUnavailable, BoxUnavailable: as GpuBoxes.take.
        """
        box, self._now = self._source.take(need.memory_mib, self._on_wait, deterministic=not need.nondeterministic)
        return box

    def check_again(self) -> None:
        """Check the GPU of the box that has ended.

        Raises:
            BoxUnavailable: it fails its check.
        """
        self._source.check_last(self._on_wait)

    def ended(self) -> None:
        """Record the GPU use of the box, if there was one, after it was closed."""
        if self._now is not None:
            self.use, self._now = together(self.use, self._now()), None


def serves(has: GpuNeed | None, needed: GpuNeed | None) -> bool:
    """Return whether a box that was made for one kind of test fits another; None means no GPU."""
    if has is None or needed is None:
        return has is needed
    return has.memory_mib >= needed.memory_mib and bool(has.nondeterministic) is bool(needed.nondeterministic)


def together(earlier: GpuUse | None, later: GpuUse) -> GpuUse:
    """Return the use of several boxes as one; if their GPUs differ, only the later one's."""
    if earlier is None or replace(earlier, peak_mib=None) != replace(later, peak_mib=None):
        return later
    peaks = [use.peak_mib for use in (earlier, later) if use.peak_mib is not None]
    return replace(later, peak_mib=max(peaks, default=None))
