"""Read what a platform exported as the submissions of a class."""

import os
import shutil
import stat
import tempfile
from datetime import tzinfo
from pathlib import Path
from typing import Final

from viva.hooks import hooks
from viva.model.errors import UsageError
from viva.submissions.classes.attempts import build_class
from viva.submissions.classes.class_export import ClassExport, Unmatched
from viva.submissions.classes.folder_listing import Entry, entries_of, refused
from viva.submissions.classes.gathering import Gatherer
from viva.submissions.classes.platforms import KINDS, WITH_NAMES, Kind, plain_folder
from viva.submissions.classes.platforms.github import ROSTER
from viva.submissions.classes.roster import read_roster
from viva.submissions.classes.submission_names import safe_component
from viva.submissions.classes.unpacking import Caps, unpack
from viva.submissions.file_names import safe
from viva.submissions.open_submission import no_such_path
from viva.submissions.opening_by_descriptor import LinkOnTheWay, NotOpened, opened

_SOME: Final = 3
_MOST_WRAPPERS: Final = 4
"""Folders with nothing but one folder in them, above the platform's own folder."""


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
    private = _private_folder(into)
    try:
        folder, unmatched = path, list[Unmatched]()
        if not is_folder:
            folder = private / "export" / safe_component(path.name.split(".")[0])
            folder.mkdir(mode=0o700, parents=True)
            unmatched = unpack(path, folder, caps)
        kind, folder, entries, outside = _recognised(folder, path, roster)
        gatherer = Gatherer(private / "work", None if is_folder else private / "export")
        reading = kind.read(folder, entries, gatherer)
        if known is None and kind.SOURCE == "github" and any(e.name == ROSTER and e.sort == "file" for e in entries):
            known = read_roster(folder / ROSTER)
        reading.unmatched += [*unmatched, *outside, *gatherer.unmatched]
        return build_class(kind.SOURCE, reading, known, zone)
    except BaseException:
        shutil.rmtree(private, ignore_errors=True)
        raise


def is_export(path: Path) -> bool:
    """Return whether a folder is an export of one of the platforms; archives are not opened."""
    try:
        if not _is_folder(path):
            return False
        kind, _, _, _ = _recognised(path, path, None)
    except UsageError:
        return False
    return kind is not plain_folder


def _is_folder(path: Path) -> bool:
    try:
        with opened(path) as found:
            return found.is_folder
    except FileNotFoundError:
        raise UsageError(no_such_path(path)) from None
    except LinkOnTheWay as error:
        raise UsageError(
            f"{path}: {error.where} is a link, and links are not followed; give the path of the folder itself."
        ) from None
    except NotOpened as error:
        raise UsageError(f"{path} {error}; give the folder or the archive that the platform exported.") from None


def _private_folder(into: Path) -> Path:
    """Make a new folder in `into` that no other user can read."""
    try:
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = into.lstat()
        others = status.st_mode & 0o077 if os.name == "posix" else 0
        if not stat.S_ISDIR(status.st_mode) or others or (os.name == "posix" and status.st_uid != os.geteuid()):
            raise UsageError(f"{into} is not private; give a folder of your own that only you can open (mode 0700).")
        return Path(tempfile.mkdtemp(prefix="class-", dir=into))
    except OSError as error:
        raise UsageError(f"{into}: nothing can be unpacked there ({error.strerror}).") from None


def _recognised(folder: Path, path: Path, roster: Path | None) -> tuple[Kind, Path, tuple[Entry, ...], list[Unmatched]]:
    """Return the kind of export, the folder in which it begins, its entries, and what was found on the way there."""
    unmatched: list[Unmatched] = []
    here = folder
    kinds: list[Kind] = [*hooks().viva_cohort_reader(), *KINDS]
    for _ in range(_MOST_WRAPPERS):
        entries = tuple(e for e in entries_of(here) if not _is_same(e.path, roster))
        kind = next((kind for kind in kinds if kind.recognise(here, entries)), None)
        if kind is plain_folder:
            _refuse_half_an_export(path, entries)
        if kind is not None:
            return kind, here, entries, unmatched
        folders = [e for e in entries if e.sort == "folder"]
        if len(folders) != 1 or any(plain_folder.is_one(e) for e in entries):
            break
        for entry in entries:
            if entry.sort != "folder":
                reason = "is next to the submissions" if entry.sort == "file" else refused(entry)
                unmatched.append(Unmatched(entry.name, reason))
        here = folders[0].path
    entries = tuple(e for e in entries_of(folder) if not _is_same(e.path, roster))
    if plain_folder.is_class_of_one(entries):
        return plain_folder, folder, entries, []
    raise UsageError(
        f"{path} is not a class in a known format; expected what Canvas, Moodle, Gradescope, Brightspace, GitHub's "
        "classroom or nbgrader exports, or a folder with a folder, an archive or a file for each student."
    )


def _refuse_half_an_export(path: Path, entries: tuple[Entry, ...]) -> None:
    """Raise if some names have the form of a platform but most do not: they would be taken for students' names."""
    for kind in WITH_NAMES:
        others = [entry.name for entry in entries if not kind.fits(entry)]
        fitting = len(entries) - len(others)
        if fitting >= _SOME and 10 * fitting >= len(entries):
            shown = ", ".join(safe(name)[:100] for name in others[:3])
            raise UsageError(
                f"{path} resembles an export of {kind.SOURCE.title()}: {fitting} of {len(entries)} names have its form "
                f"({kind.FORM}), and the others do not, such as {shown}. Nothing was read; take out what is not a "
                "submission, or give the archive as the platform exported it."
            )


def _is_same(path: Path, roster: Path | None) -> bool:
    """Return whether an entry is the roster itself, which is often kept next to the submissions."""
    try:
        return roster is not None and path.name == roster.name and path.samefile(roster)
    except OSError:
        return False
