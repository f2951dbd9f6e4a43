"""Which code is the student's, and its lines: for tracebacks, and for what an assignment forbids."""

from __future__ import annotations

import contextlib
import io
import linecache
import os
from typing import Dict, List, Optional, Set

_LONGEST_LINE = 200
_LIBRARIES = os.sep + "site-packages" + os.sep
"""Marks libraries, if the environment is in the folder of a live notebook."""
_class_name = type.__dict__["__name__"].__get__
_getline, _join, _normal, _text = linecache.getline, os.path.join, os.path.normpath, io.StringIO


def _current_folder() -> str:
    """Return the current folder, with a separator at its end; the root where it does not exist any more."""
    try:
        return os.path.join(os.getcwd(), "")
    except FileNotFoundError:
        return os.sep


class _Work:
    """The work directory, with a separator at its end, and the folder in it in which the student's code runs."""

    folder = _current_folder()
    home = ""


_CELLS: Dict[str, str] = {}
_NAMESPACES: Set[int] = set()


def work_in(folder: str) -> None:
    """Set the folder of the student's files."""
    _Work.folder = os.path.join(os.path.abspath(folder), "")
    _Work.home = ""


def folder() -> str:
    """Return the work directory, with a separator at its end."""
    return _Work.folder


def home() -> str:
    """Return the folder in which the student's code runs: that of the first file that was loaded."""
    return _Work.home or _Work.folder


def live_in(path: str) -> str:
    """Let the code of the file `path` run in its folder, as the student did; return that folder.

    The files of the folders around it, such as the assignment's data, are linked there under names that are free.
    Modules are not: `import` finds them where they are.
    """
    folder = os.path.dirname(path_of(path))
    _Work.home = _Work.home or folder
    around = folder
    while around.startswith(_Work.folder):
        inner, around = around, os.path.dirname(around)
        for name in os.listdir(around):
            link = _join(folder, name)
            if _join(around, name) != inner and not name.endswith(".py") and not os.path.lexists(link):
                with contextlib.suppress(OSError):  # Windows lets only some users make links
                    os.symlink(_join(around, name), link)
    return folder


def name_of(kind: type) -> str:
    """Return the name of a class, whatever its metaclass says."""
    return str.__str__(_class_name(kind))[:100]


def path_of(path: str) -> str:
    """Return a path of the submission as an absolute path, even if the student's code has changed the directory."""
    return _normal(_join(_Work.folder, path))


def remember_cell(number: int, text: str) -> str:
    """Store a cell in linecache, so that tracebacks and inspect show the student's lines; return its file name."""
    filename = f"<cell {number}>.py"  # IPython shows a traceback as in a kernel if this is a file that does not exist
    _CELLS[filename] = f"cell {number}"
    linecache.cache[filename] = (len(text), None, lines_of(text), filename)
    return filename


def lines_of(text: str) -> List[str]:
    """Return the lines of a source as Python counts them; `str.splitlines` also ends lines at form feeds and others."""
    return list(_text(text, newline=None))


def remember_code(filename: str, name: str) -> None:
    """Register student code that another program ran, a cell of a live kernel, and its name."""
    _CELLS[filename] = name


def forget_cells() -> None:
    """Forget all cells, as if none had been run."""
    for filename in _CELLS:
        linecache.cache.pop(filename, None)
    _CELLS.clear()


def remember_namespace(namespace: Dict[str, object]) -> None:
    """Register the globals of a submitted file or notebook; they live as long as the box."""
    _NAMESPACES.add(id(namespace))


def is_namespace(namespace: object) -> bool:
    """Return whether these are globals of student code."""
    return id(namespace) in _NAMESPACES


def shown_name(filename: str) -> Optional[str]:
    """Return the name by which the student knows the file: "cell 7", "solution.py"; None for other code."""
    if filename in _CELLS:
        return _CELLS[filename]
    if filename.startswith(_Work.folder) and _LIBRARIES not in filename:
        return filename[len(_Work.folder) :]
    return None


def line_of(filename: str, number: int) -> str:
    """Return the text of a line, or "" if it is not known."""
    return _getline(filename, number).strip()[:_LONGEST_LINE]
