"""Wait for what a test is about: for a condition, never for a time."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], within_s: float = 240) -> None:
    """Look until a condition holds; fail the test if it does not hold within a time that only a fault takes."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, f"it did not hold within {within_s:g} s"
        time.sleep(0.01)
