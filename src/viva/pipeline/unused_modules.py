"""Find modules that no submission of a run uses: a run of few submissions does not wait for their import."""

import ast
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from viva.config import Assignment
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model import Submission
from viva.model.submission import ARCHIVES
from viva.submissions.code_imports import imported
from viva.submissions.code_names import MOST_CHARACTERS_HERE, NOT_PYTHON
from viva.submissions.notebook_cells import NotebookError, read_notebook

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
_IMPORTS_BY_NAME: Final = re.compile(r"\b(?:__import__|importlib|runpy|pkgutil|exec|get_ipython)\b")
"""Names with which code can import a module that it does not name."""
_PLOTS: Final = re.compile(r"^\s*%(?:matplotlib|pylab)\b", re.M)
"""Magic commands that import matplotlib."""


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
    are_known = len(read) == len(submissions) <= _MOST
    if not optional or not are_known or assignment.suite is not None:
        return ()
    with _PARSING:
        left = _unused(assignment, optional, read)
    if not left:
        return ()
    return _not_named(left, assignment)


def _unused(assignment: Assignment, optional: tuple[str, ...], read: Sequence[Submission]) -> tuple[str, ...]:
    """Return the optional modules that no submission uses."""
    known = {name.rstrip("?").partition(".")[0] for name in assignment.preload} | _APART | _BRING.keys()
    used = {"numpy"}  # by boxes themselves
    for modules in map(imported_libraries, read):
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
    text = "\n".join(texts)
    named = {top for top in tops if re.search(rf"\b(?:from|import)\b.*\b{re.escape(top)}\b", text)}
    return tuple(name for name in modules if name.partition(".")[0] in tops - named)


def imported_libraries(submission: Submission) -> set[str] | None:
    """Return the top-level modules that the code imports, its own files and Python's left out; None if unsure."""
    paths = [PurePosixPath(file.path) for file in submission.files]
    own = {name for path in paths for name in (path.stem, *path.parts[:-1])}
    found: set[str] = set()
    try:
        for file in submission.files:
            found = found.union(*map(_imported_in, _sources(file.path.lower(), file.data)))
    except (NotebookError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found - own - sys.stdlib_module_names


def _imported_in(source: str) -> set[str]:
    """Return the top-level modules that a text imports.

    Raises:
        SyntaxError: the text is not Python.
        ValueError: it is long, or may import modules that it does not name.
    """
    by_magic = {"matplotlib"} if _PLOTS.search(source) else set()
    source = NOT_PYTHON.sub("", source)
    if len(source) > MOST_CHARACTERS_HERE or _IMPORTS_BY_NAME.search(source):
        raise ValueError("may import anything")
    ast.parse(source)
    return by_magic.union(name.partition(".")[0] for name in imported(source))


def _sources(path: str, data: bytes) -> Iterator[str]:
    """Yield the texts of a file that run; raise ValueError for an archive, which may hold any."""
    if path.endswith(ARCHIVES):
        raise ValueError("an archive")
    if path.endswith(".py"):
        yield data.decode("utf-8-sig")
    elif path.endswith(".ipynb"):
        yield from (cell.source for cell in read_notebook(data).code)
