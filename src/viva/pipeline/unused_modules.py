"""Find modules that no submission of a run uses: a run of few submissions does not wait for their import."""

import re
import threading
from collections.abc import Sequence
from typing import Final

from viva.config import Assignment
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model import Submission
from viva.submissions.code_imports import imported_by

_MOST: Final = 8
"""More submissions are not looked at: the imports are soon paid for, and it is likely that one of them uses them."""
_PARSING: Final = threading.Lock()
"""Python 3.11 cannot parse in two threads at once."""
_APART: Final = frozenset({"numpy", "scipy", "pandas", "matplotlib", "tqdm"})
"""Libraries that import none of the slow ones."""
_BRING: Final = {"datasets": {"pandas", "tqdm"}, "evaluate": {"pandas", "scipy", "torch", "tqdm"}}
"""Further ones, and which of the slow ones they import."""
_TENSORS: Final = re.compile(r"\btensors\b")
"""The strategy with which tests draw tensors; they arrive as such, also in code that does not name torch."""


def unused_modules(assignment: Assignment, submissions: Sequence[Submission | None]) -> tuple[str, ...]:
    """Return the modules that an examiner would import for all, and that neither submissions nor tests use.

    What is left out by mistake is imported by the box that uses it.

    Args:
        assignment: the assignment, whose `preload` says what submissions may use.
        submissions: all of the run; None for one that has not been read yet.

    Raises:
        CourseError: the author's helpers cannot be used.
    """
    optional = tuple(name.rstrip("?") for name in assignment.preload if name.endswith("?"))
    read = [submission for submission in submissions if submission is not None]
    if not optional or len(read) < len(submissions) or len(read) > _MOST or assignment.suite is not None:
        return ()
    with _PARSING:
        left = _unused(assignment, optional, read)
    return _not_named(left, assignment) if left else ()


def _unused(assignment: Assignment, optional: tuple[str, ...], read: Sequence[Submission]) -> tuple[str, ...]:
    """Return the optional modules that no submission uses."""
    known = {name.rstrip("?").partition(".")[0] for name in assignment.preload} | _APART | _BRING.keys()
    used = {"numpy"}  # by boxes themselves
    for modules in map(imported_by, read):
        if modules is None or not modules <= known:
            return ()  # another library may import anything
        used |= modules.union(*(_BRING.get(name, ()) for name in modules))
    return tuple(name for name in optional if name.partition(".")[0] not in used)


def _not_named(modules: tuple[str, ...], assignment: Assignment) -> tuple[str, ...]:
    """Return the modules that neither tests nor the author's helpers name where they import."""
    tests = [path.read_text("utf-8") for path in sorted(assignment.graders.glob("test_*.py"))]
    texts = [*helpers_of(assignment).values(), *tests]
    # The box must import the library of each object that a test sends.
    sent = {"torch"} if any(map(_TENSORS.search, tests)) else set()
    tops = {name.partition(".")[0] for name in modules} - sent
    # Parsing all texts would take as long as asking the numpy solution of an assignment.
    named = {top for top in tops if any(re.search(rf"\b(?:from|import)\b.*\b{re.escape(top)}\b", t) for t in texts)}
    return tuple(name for name in modules if name.partition(".")[0] in tops - named)
