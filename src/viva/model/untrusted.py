"""Reading what a box claims: whatever it sent, these functions return something of the kind asked for and never raise.

A reply that made the examiner raise would turn the student's test into the grader's fault, which costs no points.
"""

from typing import Any, Final

_LARGEST: Final = 10**9
"""Python refuses to write out integers of more than 4,300 digits; no line, size or count is larger than this."""


def text(claim: Any, most: int = 1000) -> str:
    """The first `most` characters of a text; the name of its type for anything that is none."""
    if type(claim) is str:
        return claim[:most]
    return "" if claim is None else f"({type(claim).__name__})"


def number(claim: Any) -> int:
    """A count, line or size; 0 for anything else."""
    return claim if type(claim) is int and 0 <= claim <= _LARGEST else 0


def rows(claim: Any) -> list[Any]:
    """The items of a list or tuple; empty for anything else."""
    return list(claim) if type(claim) in (list, tuple) else []


def table(claim: Any) -> dict[Any, Any]:
    """A dict; empty for anything else."""
    return claim if type(claim) is dict else {}
