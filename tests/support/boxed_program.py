"""A student's program in a box, for tests: load source text, call its functions."""

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from viva.sandbox.errors import BoxDied
from viva.sandbox.host.box import Box
from viva.sandbox.tier import Tier

F = TypeVar("F", bound=Callable[..., Any])


IS_OPEN = """
import os
def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
"""
"""Source text: whether a number is that of an open descriptor."""


class Raised(Exception):
    """The student's function raised; `str()` is "Type: message"."""


class Program:
    """Source text in a box."""

    def __init__(self, box: Box, tier: Tier) -> None:
        self.box, self.tier = box, tier

    def load(self, source: str, timeout_s: float = 10.0) -> None:
        """Put and run `source` as solution.py; every statement must succeed."""
        self.box.ask("put", timeout_s=5, path="solution.py", data=textwrap.dedent(source).encode())
        loaded = self.box.ask("load_module", timeout_s=timeout_s, path="solution.py", mode="run", forbid=[])
        report: Any = loaded["ok"]
        assert report["errors"] == []

    def call(self, name: str, *arguments: Any, timeout_s: float = 10.0) -> Any:
        """Call a function by name; raises Raised when it does."""
        fields = {"space": "student", "name": name, "args": list(arguments), "kwargs": {}, "keep": False, "full": False}
        reply: dict[str, Any] = self.box.ask("call", timeout_s=timeout_s, **fields)
        if "raised" in reply:
            raise Raised(f"{reply['raised']['type']}: {reply['raised']['message']}")
        return reply["ok"]

    def attempt(self, name: str, *arguments: Any, timeout_s: float = 30.0) -> tuple[str, Any]:
        """Call a function; ("value", what it returned), ("raised", why) or ("died", how the box ended)."""
        try:
            return "value", self.call(name, *arguments, timeout_s=timeout_s)
        except Raised as error:
            return "raised", str(error)
        except BoxDied as error:
            return "died", error.reason

    def refuses(self, name: str, *arguments: Any) -> str:
        """Call a function that must fail with an exception; returns its type and message."""
        try:
            value = self.call(name, *arguments)
        except Raised as error:
            return str(error)
        raise AssertionError(f"{name} was not refused in {self.tier}; it returned {value!r}")


def from_tier(least: Tier) -> Callable[[F], F]:
    """The promise holds in this tier and above; a lower one does not make it."""

    def mark(function: F) -> F:
        function.least_tier = least  # type: ignore[attr-defined]  # read by tests/sandbox/host/conftest.py
        return function

    return mark
