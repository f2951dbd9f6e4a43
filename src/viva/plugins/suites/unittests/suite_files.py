"""The files of a suite: `graders/<a>/tests/`, and which of its modules a test runner would import, in which order."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from viva.config import Assignment
from viva.model.errors import CourseError

FOLDER: Final = "tests"
"""The folder of the suite, below graders/<a>/ and in the box."""
RUNNER: Final = "run_tests.py"
"""The program that starts a suite, next to that folder."""
PATTERN: Final = "test*.py"
MOST_BYTES: Final = 32 << 20
_MODULE: Final = re.compile(r"[_a-zA-Z]\w*")
_LITTER: Final = ("__pycache__", ".")


def suite_files(assignment: Assignment) -> dict[str, bytes]:
    """Return every file of the suite by its path below `tests/`, sorted by name, without caches and hidden files.

    Raises:
        CourseError: there is no such folder, it is too large, or a link leads out of it.
    """
    folder = assignment.graders / FOLDER
    if not folder.is_dir():
        raise CourseError(f"{folder} does not exist: `suite: unittest` expects the suite's test*.py files there.")
    files: dict[str, bytes] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        below = path.relative_to(folder)
        if any(part.startswith(_LITTER) for part in below.parts):
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            raise CourseError(f"{path} is a link that points outside {folder}; the sandbox reads only files in it.")
        files[below.as_posix()] = path.read_bytes()
    if sum(map(len, files.values())) > MOST_BYTES:
        raise CourseError(f"{folder} holds more than {MOST_BYTES >> 20} MiB: list large files under `data:`.")
    return files


def modules_among(files: Iterable[str]) -> list[str]:
    """Return the modules that `unittest` discovers among these files: by name, a package before its modules.

    Packages are folders with an `__init__.py`.
    """
    return _modules({PurePosixPath(f).parts for f in files}, ())


def file_of(module: str, files: Iterable[str]) -> str:
    """Return the path of a module below the suite's folder."""
    path = module.replace(".", "/")
    return f"{path}.py" if f"{path}.py" in files else f"{path}/__init__.py"


def without(files: Mapping[str, bytes], modules: Iterable[str]) -> dict[str, bytes]:
    """Return the files except those of these modules."""
    left_out = {file_of(module, files) for module in modules}
    return {path: data for path, data in files.items() if path not in left_out}


def is_mentioned(module: str, files: Mapping[str, bytes]) -> bool:
    """Return whether another file of the suite names the module, and so may need it."""
    own, name = file_of(module, files), module.rpartition(".")[2]
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    return any(word.search(data) for path, data in files.items() if path != own and path.endswith(".py"))


def _modules(paths: set[tuple[str, ...]], folder: tuple[str, ...]) -> list[str]:
    depth = len(folder)
    found: list[str] = []
    for name in sorted({p[depth] for p in paths if len(p) > depth and p[:depth] == folder}):
        here = (*folder, name)
        if here in paths:
            stem = name.removesuffix(".py")
            if stem != name and fnmatchcase(name, PATTERN) and _MODULE.fullmatch(stem):
                found.append(".".join((*folder, stem)))
        elif (*here, "__init__.py") in paths and _MODULE.fullmatch(name):
            found += [".".join(here), *_modules(paths, here)]
    return found
