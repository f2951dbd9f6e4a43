"""Every file of a folder that could be submitted, with its size; no file is opened and no link is followed."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from viva.sandbox.guest.loading.student_files import ENVIRONMENT_MARKS, is_not_the_work

GRADER_YAML: Final = "grader.yaml"
COURSE: Final = ("graders", "assignments", "reference", "fixtures", GRADER_YAML)
"""Names that belong to the course if it is in the same folder."""
_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One regular file, or something that is left out without reading it."""

    path: str
    """Relative, with forward slashes."""
    size: int
    why_not: str = ""
    """Why it is not part of the work; empty for a file that may be."""

    @property
    def name(self) -> str:
        """Return the last part of the path."""
        return PurePosixPath(self.path).name


def listing(folder: Path) -> list[ListedFile]:
    """Return the files below a folder, sorted; a folder that is left out completely is one row."""
    found: list[ListedFile] = []
    pending = [""]
    while pending and len(found) < _MOST:
        prefix = pending.pop()
        try:
            with os.scandir(folder / prefix) as entries:
                here = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            found.append(ListedFile(prefix.rstrip("/"), 0, "cannot be read"))
            continue
        names = {entry.name for entry in here}
        why = _whole_folder(names) if prefix else ""
        if why:
            found.append(ListedFile(prefix, 0, why))
            continue
        for entry in here:
            path = f"{prefix}{entry.name}"
            if why := _why_not(entry, names):
                found.append(ListedFile(path, 0, why))
            elif entry.is_dir(follow_symlinks=False):
                pending.append(f"{path}/")
            else:
                found.append(ListedFile(path, entry.stat(follow_symlinks=False).st_size))
    return sorted(found, key=lambda each: each.path)


def _whole_folder(names: set[str]) -> str:
    if not ENVIRONMENT_MARKS.isdisjoint(names):
        return "an environment"
    return "the course itself" if GRADER_YAML in names else ""


def _why_not(entry: "os.DirEntry[str]", siblings: set[str]) -> str:
    if is_not_the_work(entry.name):
        return "left behind by a tool"
    if GRADER_YAML in siblings and entry.name in COURSE:
        return "the course itself"
    if entry.is_symlink():
        return "a link; links are not followed"
    regular = entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
    return "" if regular else "no regular file"
