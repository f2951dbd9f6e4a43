"""Common mistakes that the author has named, and which of them an answer equals."""

from collections.abc import Callable, Mapping
from typing import Final

from viva.model.errors import BoxError, GraderError

MOST_NAMED: Final = 3
"""The most mistakes to name; an answer may equal several."""


def mistakes_sentence(named: list[str]) -> str:
    """Return the sentence that names common mistakes, of which there is at least one."""
    words = ", or ".join(named[:MOST_NAMED])
    return f" It equals a known mistake: {words}{'' if words.endswith(('.', '?', '!')) else '.'}"


def matching_hints(hints: Mapping[str, object] | None, agrees: Callable[[object], bool]) -> tuple[list[str], list[str]]:
    """Return the names of the mistakes that the answer equals, and notes to the author about hints that failed.

    Args:
        hints: name -> value, or a function of no arguments that computes it.
        agrees: whether the answer agrees with a value.

    Raises:
        BoxError: a hint asked the box, and the box ended.
    """
    named, notes = [], []
    for name, hint in (hints or {}).items():
        try:
            if agrees(hint() if callable(hint) else hint):
                named.append(name)
        except (BoxError, GraderError):
            raise
        except Exception as error:
            # The answer is wrong with or without its hint: the student's result must not depend on the author's
            # mistake.
            notes.append(f"the hint {name!r} raised {type(error).__name__}: {error}")
    return named, notes
