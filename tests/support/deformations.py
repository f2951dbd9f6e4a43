"""What submissions look like in the wild: each deformation turns a right answer into one that a student may well send.

A deformation takes nothing away, unless it says what: then a second function makes the submission that lacks exactly
that and nothing else, and the deformed one must get the same points.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tests.support.editable_submission import HandIn

Deform = Callable[[HandIn], HandIn | None]
"""None where the deformation does not apply."""


@dataclass(frozen=True)
class Deformation:
    """One way in which submissions differ from what the author of an assignment imagines."""

    name: str
    sentence: str
    """What it is in the wild."""
    deform: Deform
    lacking: Deform = lambda work: work
    """The submission whose points the deformed one must get: the work itself, or what is left of it."""
    slow: bool = False
    """It uses up the time for loading."""


ALL: Final[dict[str, Deformation]] = {}


def deformation(deform: Deform) -> Deform:
    """Register a function by its name; the first line of its docstring is the sentence."""
    name = deform.__name__
    if name in ALL:
        raise ValueError(f"two deformations are called {name}")
    ALL[name] = Deformation(name, (deform.__doc__ or "").strip().splitlines()[0], deform)
    return deform


def lacks(name: str) -> Callable[[Deform], Deform]:
    """The function makes what is left after the deformation `name`."""

    def register(left: Deform) -> Deform:
        ALL[name] = replace(ALL[name], lacking=left)
        return left

    return register


def takes_time(deform: Deform) -> Deform:
    """The deformation uses up the time that loading may take."""
    ALL[deform.__name__] = replace(ALL[deform.__name__], slow=True)
    return deform
