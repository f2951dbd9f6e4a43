"""Find the submissions among the paths of a command line: expand a class's folder, keep a student's folder whole."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.examples import is_example
from viva.submissions.file_names import is_archive, is_code
from viva.submissions.open_submission import no_such_path


def discover(paths: Iterable[Path]) -> list[Path]:
    """List the submissions that the paths mean, each once, in the order given; those of a folder are sorted by name.

    A file, an archive, or a folder that holds code or answers is one submission. A folder that holds no code itself and
    whose folders and archives are at least two submissions is a class: each folder and archive in it is a submission,
    even an empty one and one that is a link (its result then says so). Other loose files of a class (a roster) are
    ignored.

    Raises:
        UsageError: a path does not exist.
    """
    found: dict[Path, None] = {}
    for path in paths:
        for each in _expanded(path):
            found.setdefault(each)
    return list(found)


def _expanded(path: Path) -> list[Path]:
    try:
        mode = path.lstat().st_mode
    except OSError:
        raise UsageError(no_such_path(path)) from None
    if not stat.S_ISDIR(mode):
        return [path]
    entries = _entries(path)
    if any(is_code(e.name) and e.is_file(follow_symlinks=False) for e in entries) or is_example(path):
        return [path]
    students = [e for e in entries if _may_be_student(e)]
    if sum(_is_submission(e) for e in students) < 2:
        return [path]
    return [path / e.name for e in students]


def _may_be_student(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False) or entry.is_symlink() or is_archive(entry.name)


def _is_submission(entry: "os.DirEntry[str]") -> bool:
    """Return whether this is an archive, an example, or a folder with code in it or in one of its folders."""
    if not entry.is_dir(follow_symlinks=False):
        return is_archive(entry.name)
    inner = _entries(Path(entry.path))
    if any(is_code(e.name) or is_archive(e.name) for e in inner):
        return True
    deeper = (_entries(Path(e.path)) for e in inner if e.is_dir(follow_symlinks=False))
    return any(is_code(e.name) for entries in deeper for e in entries) or is_example(Path(entry.path))


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    """List what a folder holds that may be part of a student's work, by name; nothing if it cannot be listed."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not is_not_the_work(entry.name) and not entry.name.startswith("."):
                    found.append(entry)
    except OSError:
        return []
    return sorted(found, key=lambda e: os.fsencode(e.name))
