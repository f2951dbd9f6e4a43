"""The lines of a cell that ask nbgrader for tests: `### AUTOTEST f(3)`, `### HASHED AUTOTEST f(3); f(4)`."""

from typing import Final

AUTOTEST: Final = "AUTOTEST"


def is_directive(line: str) -> bool:
    """Return whether a line is a comment that asks for tests."""
    return AUTOTEST in line and line.lstrip().startswith("#")


def has_autotest(source: str) -> bool:
    """Return whether a line of a cell asks for tests."""
    return any(map(is_directive, source.splitlines()))
