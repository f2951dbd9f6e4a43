"""Read untrusted values: whatever a box sent, these functions return a value of the requested type and never raise.

A reply that made the examiner raise would turn the student's failure into a grader error, which costs no points.
"""

from typing import Any, Final

_LARGEST: Final = 10**9
"""Python refuses to format integers of more than 4,300 digits; no line, size or count is larger than this."""


def text(claim: Any, most: int = 1000) -> str:
    """Return the first `most` characters of a text; for any other value the name of its type."""
    if type(claim) is str:
        return claim[:most]
    return "" if claim is None else f"({type(claim).__name__})"


def number(claim: Any) -> int:
    """Return a count, line or size; 0 for anything else."""
    return claim if type(claim) is int and 0 <= claim <= _LARGEST else 0


def rows(claim: Any) -> list[Any]:
    """Return the items of a list or tuple; empty for anything else."""
    return list(claim) if type(claim) in (list, tuple) else []


def table(claim: Any) -> dict[Any, Any]:
    """Return a dict; empty for anything else."""
    return claim if type(claim) is dict else {}
