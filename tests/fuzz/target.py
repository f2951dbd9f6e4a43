"""What is fuzzed: a function of bytes that returns where the engine keeps its promise, and raises where it does not."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from viva.grading import Disagreement

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
CPU_S: Final = 10
"""Of one input of at most `Target.longest` bytes; all but hangs take milliseconds, also when every line is counted."""
MEMORY_MIB: Final = 192
"""How much one input may raise the highest memory of the process."""
MOST_SEED: Final = 1 << 14


class Broken(BaseException):
    """A promise is broken; no `except Exception` of the engine takes it for one of its own errors."""


class TooSlow(Broken):
    """An input took more than `CPU_S`."""


class TooLarge(Broken):
    """An input took more than `MEMORY_MIB`."""


@dataclass(frozen=True)
class Target:
    """A reader and its promise."""

    check: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]
    """Inputs to begin with: honest ones, and those of the tests."""
    words: tuple[str | bytes, ...] = ()
    """What the reader looks for."""
    longest: int = 4096
    """Bytes of an input."""


def expect(holds: object, promise: str) -> None:
    """Raise Broken unless the promise holds."""
    if not holds:
        raise Broken(promise)


def expect_sentence(text: str, most: int = 1000) -> None:
    """What a person reads is one line without control characters, and no longer than a screen."""
    expect(text and text.isprintable() and len(text) < most, f"no sentence: {text[:200]!r} of {len(text):,} characters")


def expect_disagreement(ask: Callable[[], object], most: int = 1000) -> None:
    """A comparison succeeds, or says in a sentence what differs, with a share of the points from 0 to 1."""
    try:
        ask()
    except Disagreement as error:
        expect(error.share is None or 0 <= error.share <= 1, "a share of more than all or less than nothing")
        expect_sentence(str(error).replace("\n", " "), most)


def run(target: Target, data: bytes) -> None:
    """Check one input, within time and memory; raises Broken, or whatever the engine let through."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with _limited_time():
        target.check(data)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    if grown > MEMORY_MIB:
        raise TooLarge(f"{len(data):,} bytes took {grown} MiB")


@contextmanager
def _limited_time() -> Iterator[None]:
    """By a timer of the process's own time, so that a loaded machine changes nothing."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {CPU_S} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fixtures(*patterns: str) -> Iterator[bytes]:
    """Files of the submissions that come with the course, each content once, cut to a length that is quickly tried."""
    paths = sorted(path for pattern in patterns for path in FIXTURES.rglob(pattern) if path.is_file())
    yield from dict.fromkeys(data[:MOST_SEED] for data in map(Path.read_bytes, paths))
