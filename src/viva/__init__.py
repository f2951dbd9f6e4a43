"""viva: an autograder for NLP and deep-learning coursework.

`viva.check()` in a notebook asks it the public tests of its assignment.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viva.selfcheck.live_check import check as check

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`viva.check` is imported when it is asked for: every process of the engine imports this file."""
    if name == "check":
        from viva.selfcheck.live_check import check

        return check
    raise AttributeError(f"module 'viva' has no attribute {name!r}")
