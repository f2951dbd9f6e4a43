"""A class without a platform: a folder, an archive or a file for each student, in any mixture."""

from pathlib import Path, PurePath
from typing import Final

from viva.model.errors import UsageError
from viva.model.submission import ARCHIVES
from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, entries_of, refused
from viva.submissions.classes.gathering import Gatherer
from viva.submissions.discover import discover
from viva.submissions.file_names import is_archive, is_code

SOURCE: Final = "folder"
_DEPTH: Final = 2
"""Levels of folders in a student's folder that are searched for work."""


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise a class as `viva grade` does, or at least two files that can be graded."""
    if discover([folder]) != [folder]:
        return True
    return sum(map(is_one, entries)) >= 2


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each folder, archive and file that can be graded.

    A link is a submission as well: its result says that it was not followed.
    """
    reading = Reading()
    for entry in entries:
        hidden = entry.name.startswith(".")
        if not hidden and (entry.sort in ("folder", "link") or is_one(entry)):
            name = _stem(entry)
            reading.found.append(Found(name, entry.path, (Person(name, "", {"id": name}, (name,)),), group=name))
        else:
            reason = "is hidden" if hidden else "is nothing that can be graded: no code, notebook, answers or archive"
            reading.unmatched.append(Unmatched(entry.name, reason if entry.sort != "other" else refused(entry)))
    return reading


def is_class_of_one(entries: tuple[Entry, ...]) -> bool:
    """Return whether a folder in which no class was recognised holds a folder or archive of a student's work."""
    if any(e.sort == "file" and is_code(e.name) for e in entries):
        return False
    return any(is_one(e) or (e.sort == "folder" and _holds_work(e.path, 0)) for e in entries)


def is_one(entry: Entry) -> bool:
    """Return whether a file alone can be a student's work."""
    return entry.sort == "file" and (is_archive(entry.name) or is_code(entry.name))


def _holds_work(folder: Path, depth: int) -> bool:
    try:
        entries = entries_of(folder)
    except UsageError:
        return False
    if any(is_one(e) for e in entries):
        return True
    return depth < _DEPTH and any(_holds_work(e.path, depth + 1) for e in entries if e.sort == "folder")


def _stem(entry: Entry) -> str:
    """Return the name without the ending of an archive or a file."""
    if entry.sort == "folder":
        return entry.name
    ending = next((e for e in sorted(ARCHIVES, key=len, reverse=True) if entry.name.lower().endswith(e)), None)
    return entry.name[: -len(ending)] if ending else PurePath(entry.name).stem
