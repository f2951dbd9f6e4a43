"""Start what a command waits for, before the command imports its own modules."""

from collections.abc import Callable, Sequence
from typing import Final

_GRADING: Final = frozenset({"explain", "grade", "preview", "regrade", "release", "verify", "why"})
"""Commands that run submissions in the best isolation of this machine."""
_CHECKING: Final = frozenset({"check"})
"""Commands that run the user's own program."""


def start_early(arguments: Sequence[str]) -> Callable[[], None]:
    """Start an examiner, and the detection of the isolation levels, for a command that will need them.

    Args:
        arguments: the command line, without the name of the program.

    Returns:
        What to call when the command has ended: it ends an examiner that the command has not used.
    """
    command = arguments[0] if arguments and not {"-h", "--help"}.intersection(arguments) else ""
    if command not in _GRADING | _CHECKING:
        return lambda: None
    from viva.pipeline.process.launch import end_early, launch_early

    launch_early()
    if command in _GRADING:
        from viva.sandbox.host.levels.detect_levels import detect_early

        detect_early()
    return end_early
