"""Which files of a submission are the student's work, and under which names they are read.

The examiner reads folders by these rules, and the box reads archives by them.
"""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, Sequence, Set, Tuple

MOST_NAMED = 5
"""How many names a sentence lists before it only counts the others."""

_NOT_THE_WORK = frozenset(
    {
        ".viva", ".git", ".hg", ".svn", ".bzr",
        "__pycache__", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
        ".tox", ".nox", "node_modules", "site-packages", ".venv", ".idea", ".vscode", ".cache", ".conda", ".eggs",
        ".DS_Store", "__MACOSX", "Thumbs.db", "desktop.ini", ".Trash", ".Spotlight-V100",
    }
)  # fmt: skip
ENVIRONMENT_MARKS = frozenset({"pyvenv.cfg", "conda-meta"})
"""A folder with one of these in it is an environment, whatever it is called."""
_CODE = re.compile(r"(.+)(\.py|\.ipynb)(\.txt|\.json|\.download)*", re.IGNORECASE | re.DOTALL)


def is_not_the_work(name: str) -> bool:
    """Return whether tools leave such a file behind: version control, caches, environments, the desktop's own files."""
    return name in _NOT_THE_WORK or name.startswith("._")


def find_environments(paths: Iterable[Sequence[str]]) -> Set[Sequence[str]]:
    """Return the folders among these that are environments; a path is a tuple of its parts."""
    found = set()
    for parts in paths:
        for depth, part in enumerate(parts):
            if depth > 0 and part in ENVIRONMENT_MARKS:
                found.add(parts[:depth])
    return found


def name_as_code(path: str) -> str:
    """Return the path with the ending of its kind of code: `Lab.IPYNB` and `Lab.ipynb.txt` are `Lab.ipynb`.

    Browsers and editors add `.txt` or `.json` to the name that a file had.
    """
    code = _CODE.fullmatch(path)
    return code.group(1) + code.group(2).lower() if code else path


def rename_code(paths: Iterable[str]) -> Tuple[Dict[str, str], List[str]]:
    """Return the new path of each file that is read under another name, and a sentence for each that has such a name.

    Nothing that is there is replaced.
    """
    files = sorted(paths)
    taken = {path[:at] for path in files for at, character in enumerate(path) if character == "/"}.union(files)
    renamed = {}
    sentences = []
    for path in files:
        new = name_as_code(path)
        if new not in taken:
            taken.add(new)
            renamed[path] = new
            sentences.append(f"{path} was read as {new}.")
        elif new != path:
            sentences.append(f"{path} was not read, because {new} is there as well.")
    return renamed, sentences


def shorten_list(names: Iterable[str]) -> str:
    """Return the first names in order, and how many more there are."""
    ordered: List[str] = sorted(names)
    rest = len(ordered) - MOST_NAMED
    return ", ".join(ordered[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
