"""The notes above the tests, in at most ten lines: no one reads the traceback of a sixth cell there."""

from collections.abc import Sequence
from typing import Final

MOST_LINES: Final = 10
_FIRST_NOTE: Final = 6
"""Lines of the first note, which costs most; of the others, the first line is shown."""


def short_notes(notes: Sequence[str]) -> list[str]:
    """Return the lines to show, and how many are left out; all of them if they are few."""
    whole = [note.splitlines() or [""] for note in notes]
    lines = [line for note in whole for line in note]
    if len(lines) <= MOST_LINES:
        return lines
    shown = [*whole[0][:_FIRST_NOTE], *(note[0] for note in whole[1:])][: MOST_LINES - 1]
    return [*shown, f"… and {len(lines) - len(shown)} more lines."]
