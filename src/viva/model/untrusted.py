"""Read untrusted values: whatever a box sent, these functions return a value of the requested type and never raise.

A reply that made the examiner raise would turn the student's failure into a grader error, which costs no points.
"""

from typing import Any, Final

_LARGEST: Final = 10**9
"""Python refuses to format integers of more than 4,300 digits; no line, size or count is larger than this."""


def text(value: object, most: int = 1000) -> str:
    """Return the first `most` characters of a text; for any other value the name of its type."""
    if type(value) is str:
        return value[:most]
    return "" if value is None else f"({type(value).__name__})"


def number(value: object) -> int:
    """Return a count, line or size; 0 for anything else."""
    return value if type(value) is int and 0 <= value <= _LARGEST else 0


def rows(value: object) -> list[object]:
    """Return the items of a list or tuple; empty for anything else."""
    return list(value) if type(value) is list or type(value) is tuple else []


def table(value: object) -> dict[Any, Any]:
    """Return a dict; empty for anything else."""
    return value if type(value) is dict else {}
