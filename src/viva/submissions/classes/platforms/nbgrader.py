"""nbgrader's tree: `submitted/{student}/{assignment}/…`, with the time in `timestamp.txt`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from viva.model.errors import UsageError
from viva.submissions.classes import times
from viva.submissions.classes.class_export import Found, Person, Reading, Unmatched
from viva.submissions.classes.folder_listing import Entry, entries_of, read_text, refused
from viva.submissions.classes.gathering import Gatherer

SOURCE: Final = "nbgrader"
_SUBMITTED: Final = "submitted"
_TIMESTAMP: Final = "timestamp.txt"
_MOST_TIMESTAMP: Final = 1 << 10
_LOOKED_AT: Final = 50
"""Students whose folders are searched for a timestamp."""


def recognise(folder: Path, entries: tuple[Entry, ...]) -> bool:
    """Recognise a folder `submitted` with folders of folders, or folders of folders most of which have a timestamp."""
    if any(e.name == _SUBMITTED and e.sort == "folder" for e in entries):
        return any(_assignments(e) for e in entries_of(folder / _SUBMITTED))
    students = [e for e in entries if e.sort == "folder"][:_LOOKED_AT]
    inner = [_assignments(e) for e in students]
    if folder.name == _SUBMITTED and all(inner) and inner:
        return True
    # Most of them: one student's folder must not decide how the others are read.
    timed = sum(any((a.path / _TIMESTAMP).is_file() for a in assignments) for assignments in inner)
    return timed > 0 and 2 * timed >= len(students)


def read(folder: Path, entries: tuple[Entry, ...], gatherer: Gatherer) -> Reading:
    """Read one submission for each student and assignment."""
    reading = Reading()
    if any(e.name == _SUBMITTED and e.sort == "folder" for e in entries):
        entries = entries_of(folder / _SUBMITTED)
    found: list[tuple[str, Entry]] = []
    for student in entries:
        if student.sort != "folder":
            reason = "is not a folder of a student" if student.sort == "file" else refused(student)
            reading.unmatched.append(Unmatched(student.name, reason))
            continue
        try:
            inner = entries_of(student.path)
        except UsageError:
            reading.unmatched.append(Unmatched(student.name, "cannot be listed"))
            continue
        for each in inner:
            if each.sort == "folder":
                found.append((student.name, each))
            else:
                reason = "is not a folder of an assignment" if each.sort == "file" else refused(each)
                reading.unmatched.append(Unmatched(f"{student.name}/{each.name}", reason))
    several = len({assignment.name for _, assignment in found}) > 1
    for name, assignment in found:
        label = f"{name}_{assignment.name}" if several else name
        reading.found.append(
            Found(
                label,
                assignment.path,
                (Person(name, "", {"id": name}, (name,)),),
                submitted_at=_submitted_at(assignment.path / _TIMESTAMP),
                also={"assignment": assignment.name},
            )
        )
    return reading


def _assignments(student: Entry) -> tuple[Entry, ...]:
    if student.sort != "folder":
        return ()
    try:
        return tuple(e for e in entries_of(student.path) if e.sort == "folder")
    except UsageError:  # it cannot be listed
        return ()


def _submitted_at(path: Path) -> datetime | None:
    """Read the time that nbgrader wrote; without a zone it is UTC."""
    if not path.is_file():
        return None
    try:
        return times.of_iso(read_text(path, _MOST_TIMESTAMP), without_zone=UTC)
    except UsageError:
        return None
