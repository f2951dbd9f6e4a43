"""Read what a platform exported as the submissions of a class."""

import filecmp
import os
import shutil
import stat
import tempfile
from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import sweep_parts
from viva.hooks import hooks
from viva.model import Attempt, ScoredAttempt, Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.attempts import build_class
from viva.plugins.cohorts.exports.export_folder import FolderEntry, Gatherer, list_entries, not_read
from viva.plugins.cohorts.exports.export_format import ExportFormat
from viva.plugins.cohorts.exports.folder_formats import (
    CLASSROOM_ROSTER,
    GitHubExport,
    NbgraderExport,
    PlainFolderExport,
    is_class_of_one,
    is_file_of_work,
)
from viva.plugins.cohorts.exports.gradescope import GradescopeExport
from viva.plugins.cohorts.exports.matching import rematch_students
from viva.plugins.cohorts.exports.named_formats import BrightspaceExport, CanvasExport, MoodleExport, NamedExport
from viva.plugins.cohorts.exports.names import list_name_forms, normalize_id
from viva.plugins.cohorts.exports.roster import Roster, read_roster
from viva.plugins.cohorts.exports.unpacking import Caps, unpack
from viva.sandbox.folder_locks import lock_folder, unlock_folder
from viva.submissions.class_export import ClassExport, Unmatched
from viva.submissions.file_names import safe
from viva.submissions.opening_by_descriptor import NotOpened, opened
from viva.submissions.safe_names import make_safe_component
from viva.submissions.unpacked_classes import unpacked_path

FORMATS: Final[tuple[ExportFormat, ...]] = (
    *(
        GradescopeExport(),
        MoodleExport(),
        BrightspaceExport(),
        CanvasExport(),
        NbgraderExport(),
        GitHubExport(),
        PlainFolderExport(),
    ),
)
"""The more particular ones come first."""
_MIN_RESEMBLING: Final = 3
_MAX_WRAPPERS: Final = 4
"""Folders with nothing but one folder in them, above the platform's own folder."""


def is_export(path: Path) -> bool:
    """Return whether a folder is an export of one of the platforms; archives are not opened."""
    try:
        return _is_folder(path) and not isinstance(_recognize(path, path, None, set())[0], PlainFolderExport)
    except UsageError:
        return False


def read(path: Path, roster: Path | None, folder: Path) -> ClassExport:
    """Read a class, and keep what was unpacked for it below `folder`: the same export leads to the same paths.

    What is already there stays if it is the same, so that a process that reads it is not disturbed; else it is replaced
    as a whole.

    Raises:
        UsageError: as `read_class`, or the folder cannot be written.
    """
    kept = unpacked_path(folder, path)
    try:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep_parts(kept.parent)
        part = Path(tempfile.mkdtemp(prefix=f".{kept.name}.", suffix=".part", dir=kept.parent))
        lock = lock_folder(str(part))
    except OSError as error:
        raise UsageError(f"{kept.parent}: nothing can be unpacked there ({error.strerror}).") from None
    try:
        found = read_class(path, roster=roster, into=part)
        if not any(attempt.path.is_relative_to(part) for attempt in found.attempts):
            return found
        unpacked = next(iter(part.iterdir()))
        if not _is_same_folder(unpacked, kept):
            if kept.exists():
                kept.rename(part / "before")
            unpacked.rename(kept)
        moved = []
        for attempt in found.attempts:
            is_unpacked = attempt.path.is_relative_to(unpacked)
            path = kept / attempt.path.relative_to(unpacked) if is_unpacked else attempt.path
            moved.append(replace(attempt, path=path))
        return replace(found, attempts=tuple(moved))
    except OSError as error:
        raise UsageError(f"{kept}: what was unpacked cannot be kept there ({error.strerror}).") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        unlock_folder(lock)


def read_class(
    path: Path, *, roster: Path | None, into: Path, zone: tzinfo | None = None, caps: Caps | None = None
) -> ClassExport:
    """Read everything that a class submitted, as a platform exported it.

    Args:
        path: a folder, or the platform's archive of it (zip, tar.gz).
        roster: a class list as CSV, if there is one.
        into: a private folder (made if it does not exist): archives of many students are unpacked in it, and the files
            of one submission are gathered. Keep it as long as the submissions are used.
        zone: the time zone of times that an export writes without one (Brightspace); None: those times are unknown.
        caps: how much may come out of an archive.

    Raises:
        UsageError: the path does not exist, is not a known export, or it or the roster cannot be read.
    """
    is_folder = _is_folder(path)
    known = read_roster(roster) if roster is not None else None
    private = _make_private_folder(into)
    try:
        folder, unmatched = path, list[Unmatched]()
        if not is_folder:
            folder = private / "export" / make_safe_component(path.name.split(".")[0])
            folder.mkdir(mode=0o700, parents=True)
            unmatched = unpack(path, folder, caps)
        listed = {*known.groups, *(student.id for student in known.students)} if known is not None else set()
        kind, folder, entries, outside = _recognize(folder, path, roster, {normalize_id(name) for name in listed})
        gatherer = Gatherer(private / "work", None if is_folder else private / "export")
        reading = kind.read(folder, entries, gatherer)
        has_roster = any(entry.name == CLASSROOM_ROSTER and entry.sort == "file" for entry in entries)
        if known is None and kind.name == "github" and has_roster:
            known = read_roster(folder / CLASSROOM_ROSTER)
        reading.unmatched += [*unmatched, *outside, *gatherer.unmatched]
        return build_class(kind.name, reading, known, zone)
    except BaseException:
        shutil.rmtree(private, ignore_errors=True)
        raise


def match_students(
    attempts: Sequence[ScoredAttempt], roster: Path | None, export: Path | None = None
) -> tuple[list[ScoredAttempt], list[Student]]:
    """Return scores under the students' names in the class list, and everyone on the list.

    Args:
        attempts: scores from the records or from a folder.
        roster: a class list, as platforms export it.
        export: a platform's export of the class; its own list is used if there is no other.

    Raises:
        UsageError: one of them cannot be read, or the export holds a submission without a score.
    """
    known = Roster(())
    if export is not None:
        known = _list_class(export, roster, attempts)
    elif roster is not None:
        known = read_roster(roster)
    people = rematch_students((student for one in attempts for student in one.attempt.students), known)
    matched = []
    for one in attempts:
        students = tuple(people[student.id] for student in one.attempt.students)
        matched.append(replace(one, attempt=replace(one.attempt, students=students)))
    return matched, list(known.students)


def _list_class(export: Path, roster: Path | None, attempts: Sequence[ScoredAttempt]) -> Roster:
    """Return everyone whom an export and its list name; every submission in it must have been graded."""
    with tempfile.TemporaryDirectory(prefix="viva-class-") as folder:  # made with mode 0700
        found = read_class(export, roster=roster, into=Path(folder).resolve())
    graded = {_identify(one.attempt) for one in attempts}
    if new := [attempt.name for attempt in found.attempts if _identify(attempt) not in graded]:
        more = f" and {len(new) - 5} more" if len(new) > 5 else ""
        raise UsageError(
            f"{export} holds what has no score in the records ({', '.join(new[:5])}{more}): `viva grade` it first."
        )
    submitters = {student.id: student for attempt in found.attempts for student in attempt.students}
    students = tuple({**{student.id: student for student in found.roster}, **submitters}.values())
    return Roster(students, forms={student.id: list_name_forms(student.name) for student in students})


def _identify(attempt: Attempt) -> tuple[object, ...]:
    return attempt.name, attempt.number, attempt.submitted_at


def _is_folder(path: Path) -> bool:
    try:
        with opened(path) as found:
            return found.is_folder
    except (NotOpened, FileNotFoundError) as error:
        raise not_read(path, error, "give the folder or the archive that the platform exported") from None


def _make_private_folder(into: Path) -> Path:
    """Make a new folder in `into` that no other user can read."""
    try:
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = into.lstat()
        is_private = stat.S_ISDIR(status.st_mode)
        if os.name == "posix":
            is_private = is_private and not status.st_mode & 0o077 and status.st_uid == os.geteuid()
        if not is_private:
            raise UsageError(f"{into} is not private; give a folder of your own that only you can open (mode 0700).")
        return Path(tempfile.mkdtemp(prefix="class-", dir=into))
    except OSError as error:
        raise UsageError(f"{into}: nothing can be unpacked there ({error.strerror}).") from None


def _recognize(
    folder: Path, path: Path, roster: Path | None, listed: Container[str]
) -> tuple[ExportFormat, Path, tuple[FolderEntry, ...], list[Unmatched]]:
    """Return the kind of export, the folder in which it begins, its entries, and what was found on the way there."""
    unmatched: list[Unmatched] = []
    here = folder
    formats = [*hooks().viva_export_format(), *FORMATS]
    for _ in range(_MAX_WRAPPERS):
        entries = _list_without(roster, here)
        kind = next((kind for kind in formats if kind.recognize(here, entries)), None)
        if isinstance(kind, PlainFolderExport):
            _refuse_half_an_export(path, entries)
        if kind is None and any(entry.sort == "folder" and normalize_id(entry.name) in listed for entry in entries):
            kind = PlainFolderExport()  # even of one student, or without any code
        if kind is not None:
            return kind, here, entries, unmatched
        folders = [entry for entry in entries if entry.sort == "folder"]
        if len(folders) != 1 or any(map(is_file_of_work, entries)):
            break
        unmatched += [entry.refuse("is next to the submissions") for entry in entries if entry.sort != "folder"]
        here = folders[0].path
    entries = _list_without(roster, folder)
    if is_class_of_one(entries):
        return PlainFolderExport(), folder, entries, []
    raise UsageError(
        f"{path} is not a class in a known format; expected what Canvas, Moodle, Gradescope, Brightspace, GitHub's "
        "classroom or nbgrader exports, or a folder with a folder, an archive or a file for each student."
    )


def _refuse_half_an_export(path: Path, entries: tuple[FolderEntry, ...]) -> None:
    """Raise if some names have the form of a platform but most do not: they would be taken for students' names."""
    for kind in FORMATS:
        if not isinstance(kind, NamedExport):
            continue
        others = [entry.name for entry in entries if not kind.fits(entry)]
        fitting = len(entries) - len(others)
        if fitting >= _MIN_RESEMBLING and 10 * fitting >= len(entries):
            examples = ", ".join(safe(name)[:100] for name in others[:3])
            raise UsageError(
                f"{path} resembles an export of {kind.name.title()}: {fitting} of {len(entries)} names have its form "
                f"({kind.example}), and the others do not, such as {examples}. Nothing was read; take out what is not "
                "a submission, or give the archive as the platform exported it."
            )


def _list_without(roster: Path | None, folder: Path) -> tuple[FolderEntry, ...]:
    """List a folder without the roster itself, which is often kept next to the submissions."""
    entries = list_entries(folder)
    if roster is None:
        return entries
    own = roster.resolve()
    return tuple(entry for entry in entries if entry.path.name != roster.name or entry.path.resolve() != own)


def _is_same_folder(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same names and the same bytes."""
    names = _list_files(one)
    if not other.is_dir() or other.is_symlink() or names != _list_files(other):
        return False
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


def _list_files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
