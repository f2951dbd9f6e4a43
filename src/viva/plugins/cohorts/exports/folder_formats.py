"""Classes whose folders say whose they are: clones from GitHub, nbgrader's tree, and folders without a platform."""

import os.path
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Final

from viva.model.errors import UsageError
from viva.model.submission import ARCHIVES
from viva.plugins.cohorts.exports.export_folder import FolderEntry, Gatherer, list_entries, read_text
from viva.plugins.cohorts.exports.export_format import Found, Person, Reading
from viva.plugins.cohorts.exports.times import parse_iso_time
from viva.submissions.class_export import Unmatched
from viva.submissions.discover import discover
from viva.submissions.file_names import is_archive, is_code

CLASSROOM_ROSTER: Final = "classroom_roster.csv"
"""The roster that the classroom's site offers; if it is next to the clones, it is used unless another was given."""
_SUBMISSIONS: Final = "-submissions"
_SUBMITTED: Final = "submitted"
_TIMESTAMP: Final = "timestamp.txt"
_MAX_TIMESTAMP: Final = 1 << 10
_MAX_SEARCHED: Final = 50
"""Students whose folders are searched for a timestamp."""
_MAX_DEPTH: Final = 2
"""Levels of folders in a student's folder that are searched for work."""


class GitHubExport:
    """Clones of repositories: `<slug>-submissions/<slug>-<login or team>/`, or folders `<slug>-…` with `.git`.

    Nothing in a clone's `.git` is read and git is not run: both belong to the student.
    """

    name = "github"

    def recognize(self, folder: Path, entries: tuple[FolderEntry, ...]) -> bool:
        """Recognize it by the folder's name from the classroom's tool, or by clones whose names begin alike."""
        prefix, is_named = _find_prefix(folder, entries)
        folders = [entry for entry in entries if entry.sort == "folder"]
        here = folder.absolute().name  # the export may be in another folder of its name
        if is_named and any(entry.name.startswith(prefix) and entry.name != here for entry in folders):
            return True
        return bool(_common_prefix(folders)) and all(os.path.lexists(entry.path / ".git") for entry in folders)

    def read(self, folder: Path, entries: tuple[FolderEntry, ...], gatherer: Gatherer) -> Reading:
        """Read one submission for each repository."""
        reading = Reading()
        prefix, _ = _find_prefix(folder, entries)
        for entry in entries:
            if entry.sort == "folder" and entry.name.startswith(prefix):
                reading.found.append(_read_clone(entry, prefix))
            elif entry.sort == "folder":
                reading.unmatched.append(entry.refuse(f"is not a repository of this assignment ({prefix}…)"))
            elif entry.name != CLASSROOM_ROSTER:
                reading.unmatched.append(entry.refuse("is not a repository"))
        return reading


def _find_prefix(folder: Path, entries: Sequence[FolderEntry]) -> tuple[str, bool]:
    """Return what the names of all repositories begin with, and whether the folder's own name says so."""
    here = folder.absolute().name
    if here.endswith(_SUBMISSIONS):
        return f"{here.removesuffix(_SUBMISSIONS)}-", True
    return _common_prefix([entry for entry in entries if entry.sort == "folder"]), False


def _common_prefix(folders: Sequence[FolderEntry]) -> str:
    """Return the common beginning of two or more names, up to a hyphen."""
    if len(folders) < 2:
        return ""
    first, last = min(entry.name for entry in folders), max(entry.name for entry in folders)
    same = 0  # what these two share, all share
    while first[same : same + 1] and first[same] == last[same : same + 1]:
        same += 1
    return first[: first.rfind("-", 0, same) + 1]


def _read_clone(entry: FolderEntry, prefix: str) -> Found:
    login = entry.name.removeprefix(prefix)
    # Two logins may begin alike ("hw-ada-b", "hw-ada-c"): the whole name and every tail may be the login.
    parts = entry.name.split("-")
    tails = ["-".join(parts[start:]) for start in range(1, len(parts))]
    person = Person(login, "", {"login": login}, tuple(tail for tail in tails if tail != login))
    return Found(entry.name, entry.path, (person,), group=login, also={"repository": entry.name})


class NbgraderExport:
    """nbgrader's tree: `submitted/{student}/{assignment}/…`, with the time in `timestamp.txt`."""

    name = "nbgrader"

    def recognize(self, folder: Path, entries: tuple[FolderEntry, ...]) -> bool:
        """Recognize `submitted` with folders of folders, or folders of folders most of which have a timestamp."""
        if _has_submitted(entries):
            return any(_assignments(entry) for entry in list_entries(folder / _SUBMITTED))
        students = [entry for entry in entries if entry.sort == "folder"][:_MAX_SEARCHED]
        inner = [_assignments(entry) for entry in students]
        if folder.name == _SUBMITTED and all(inner) and inner:
            return True
        # Most of them: one student's folder must not decide how the others are read.
        timed = sum(any((entry.path / _TIMESTAMP).is_file() for entry in assignments) for assignments in inner)
        return timed > 0 and 2 * timed >= len(students)

    def read(self, folder: Path, entries: tuple[FolderEntry, ...], gatherer: Gatherer) -> Reading:
        """Read one submission for each student and assignment."""
        reading = Reading()
        found: list[tuple[str, FolderEntry]] = []
        for student in list_entries(folder / _SUBMITTED) if _has_submitted(entries) else entries:
            if student.sort != "folder":
                reading.unmatched.append(student.refuse("is not a folder of a student"))
                continue
            try:
                inner = list_entries(student.path)
            except UsageError:
                reading.unmatched.append(Unmatched(student.name, "cannot be listed"))
                continue
            for entry in inner:
                if entry.sort == "folder":
                    found.append((student.name, entry))
                else:
                    other = FolderEntry(entry.path, f"{student.name}/{entry.name}", entry.sort)
                    reading.unmatched.append(other.refuse("is not a folder of an assignment"))
        has_several = len({assignment.name for _, assignment in found}) > 1
        for name, assignment in found:
            label = f"{name}_{assignment.name}" if has_several else name
            person = Person(name, "", {"id": name}, (name,))
            moment = _read_timestamp(assignment.path / _TIMESTAMP)
            also = {"assignment": assignment.name}
            reading.found.append(Found(label, assignment.path, (person,), submitted_at=moment, also=also))
        return reading


def _has_submitted(entries: Sequence[FolderEntry]) -> bool:
    return any(entry.name == _SUBMITTED and entry.sort == "folder" for entry in entries)


def _assignments(student: FolderEntry) -> list[FolderEntry]:
    return [entry for entry in _list_if_folder(student) if entry.sort == "folder"]


def _list_if_folder(entry: FolderEntry) -> tuple[FolderEntry, ...]:
    """List a folder; nothing if it is not a folder or cannot be listed."""
    try:
        return list_entries(entry.path) if entry.sort == "folder" else ()
    except UsageError:
        return ()


def _read_timestamp(path: Path) -> datetime | None:
    """Read the time that nbgrader wrote; without a zone it is UTC."""
    try:
        return parse_iso_time(read_text(path, _MAX_TIMESTAMP), without_zone=UTC)
    except UsageError:
        return None


class PlainFolderExport:
    """A class without a platform: a folder, an archive or a file for each student, in any mixture."""

    name = "folder"

    def recognize(self, folder: Path, entries: tuple[FolderEntry, ...]) -> bool:
        """Recognize a class as `viva grade` does, or at least two files that can be graded."""
        return discover([folder]) != [folder] or sum(map(is_file_of_work, entries)) >= 2

    def read(self, folder: Path, entries: tuple[FolderEntry, ...], gatherer: Gatherer) -> Reading:
        """Read one submission for each folder, archive and file that can be graded.

        A link is a submission as well: its result says that it was not followed.
        """
        reading = Reading()
        for entry in entries:
            if entry.name.startswith("."):
                reading.unmatched.append(entry.refuse("is hidden"))
            elif entry.sort in ("folder", "link") or is_file_of_work(entry):
                name = _without_ending(entry)
                person = Person(name, "", {"id": name}, (name,))
                reading.found.append(Found(name, entry.path, (person,), group=name))
            else:
                reason = "is nothing that can be graded: no code, notebook, answers or archive"
                reading.unmatched.append(entry.refuse(reason))
        return reading


def is_class_of_one(entries: tuple[FolderEntry, ...]) -> bool:
    """Return whether a folder in which no class was recognized holds a folder or archive of a student's work."""
    if any(entry.sort == "file" and is_code(entry.name) for entry in entries):
        return False
    return any(_holds_work(entry, 0) for entry in entries)


def is_file_of_work(entry: FolderEntry) -> bool:
    """Return whether a file alone can be a student's work."""
    return entry.sort == "file" and (is_archive(entry.name) or is_code(entry.name))


def _holds_work(entry: FolderEntry, depth: int) -> bool:
    if depth > _MAX_DEPTH + 1:
        return False
    return is_file_of_work(entry) or any(_holds_work(inner, depth + 1) for inner in _list_if_folder(entry))


def _without_ending(entry: FolderEntry) -> str:
    """Return the name without the ending of an archive or a file."""
    if entry.sort == "folder":
        return entry.name
    ending = next((e for e in sorted(ARCHIVES, key=len, reverse=True) if entry.name.lower().endswith(e)), None)
    return entry.name[: -len(ending)] if ending else PurePath(entry.name).stem
