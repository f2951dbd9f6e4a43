"""List the folder of an export without following a link, and bring the files of one student together."""

import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.class_export import Unmatched
from viva.submissions.decode_text import decode
from viva.submissions.file_names import safe
from viva.submissions.open_submission import no_such_path
from viva.submissions.opening_by_descriptor import LinkOnTheWay, NotOpened, Opened, opened, read_at_most
from viva.submissions.safe_names import Names

MAX_ENTRIES: Final = 100_000
MAX_COPIED_FILE: Final = 128 << 20
"""Bytes of one file, as in an archive."""
MAX_DEPTH: Final = 24
Sort = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One name in a folder."""

    path: Path
    name: str
    """Fit to be read and compared: normal form C, no control characters."""
    sort: Sort

    def refuse(self, reason: str) -> Unmatched:
        """Return this entry with the reason why it is not a submission; for a link, that is the reason."""
        if self.sort == "link":
            reason = "is a link, and links are not followed"
        if self.sort == "other":
            reason = "is neither a file nor a folder"
        return Unmatched(self.name, reason)


def list_entries(folder: Path) -> tuple[FolderEntry, ...]:
    """List what a folder holds, by name, without what tools leave behind.

    Raises:
        UsageError: it cannot be listed, or it holds too many entries.
    """
    try:
        with os.scandir(folder) as listed:
            work = [entry for entry in listed if not is_not_the_work(entry.name)]
            found = [FolderEntry(folder / entry.name, safe(entry.name), _sort(entry)) for entry in work]
    except OSError as error:
        raise UsageError(f"{folder} cannot be listed: {error.strerror}.") from None
    if len(found) > MAX_ENTRIES:
        raise UsageError(f"{folder} holds more than {MAX_ENTRIES:,} entries; give the folder of one class.")
    return tuple(sorted(found, key=lambda entry: os.fsencode(entry.path.name)))


def _sort(entry: "os.DirEntry[str]") -> Sort:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


def not_read(path: Path, error: NotOpened | FileNotFoundError, expected: str) -> UsageError:
    """Return the error for a path of the command line that `opened` refused."""
    if isinstance(error, FileNotFoundError):
        return UsageError(no_such_path(path))
    if isinstance(error, LinkOnTheWay):
        return UsageError(f"{path}: {error.where} is a link, and links are not followed; give the path itself.")
    return UsageError(f"{path} {error}; {expected}.")


def refuse_folder(found: Opened) -> None:
    """Raise NotOpened for a folder where a file is expected."""
    if found.is_folder:
        raise NotOpened("is a folder")


def read_text(path: Path, max_bytes: int) -> str:
    """Read the text of a regular file.

    Raises:
        UsageError: it is a link, not a file, or longer than `max_bytes`.
    """
    try:
        with opened(path) as file:
            refuse_folder(file)
            data = read_at_most(file.descriptor, max_bytes) if file.size <= max_bytes else None
    except (NotOpened, FileNotFoundError) as error:
        raise not_read(path, error, "a file that can be read is expected") from None
    if data is None:
        raise UsageError(f"{path} is larger than {max_bytes >> 20} MiB, too large for such a file; check the path.")
    return decode(data)


@dataclass(slots=True)
class Gatherer:
    """Makes folders below `into`, which is private; moves what was unpacked here, and copies the rest."""

    into: Path
    unpacked: Path | None = None
    """The folder into which an archive was unpacked: its files are moved."""
    unmatched: list[Unmatched] = field(default_factory=list)
    _names: Names = field(default_factory=Names)

    def gather(self, label: str, parts: Iterable[tuple[str, Path]]) -> Path:
        """Make one folder that holds every part under its own name.

        Args:
            label: the submission's label, from which the folder's name is made.
            parts: name and path of files and folders; the contents of a folder named "" go directly into the new one.
        """
        folder = self.into / self._names.give(label)
        folder.mkdir(mode=0o700, parents=True)
        names = Names()
        for name, path in parts:
            target = folder / names.give_file(name) if name else folder
            if name and self.unpacked is not None and path.is_relative_to(self.unpacked):
                path.rename(target)
            elif path.is_dir() and not path.is_symlink():
                self._copy_folder(path, target, label)
            elif self._is_copied(path, target, label):
                self._copy_file(path, target, label)
        return folder

    def _copy_folder(self, path: Path, target: Path, label: str, depth: int = 1) -> None:
        """Copy a folder; what cannot be read is noted, and the rest is copied."""
        if depth > MAX_DEPTH:
            self.unmatched.append(Unmatched(f"{label}: {safe(path.name)}", f"is deeper than {MAX_DEPTH} folders"))
            return
        target.mkdir(mode=0o700, exist_ok=True)
        try:
            inner = sorted(path.iterdir())
        except OSError as error:
            self.unmatched.append(Unmatched(f"{label}: {safe(path.name)}", f"cannot be read ({error.strerror})"))
            return
        for child in inner:
            if not self._is_copied(child, target / child.name, label):
                continue
            if child.is_dir():
                self._copy_folder(child, target / child.name, label, depth + 1)
            else:
                self._copy_file(child, target / child.name, label)

    def _copy_file(self, path: Path, target: Path, label: str) -> None:
        """Copy a file; one that is too large for any submission keeps its size alone, so that its result says so."""
        try:
            size = path.lstat().st_size
            if size > MAX_COPIED_FILE:
                with target.open("xb") as file:
                    file.truncate(size)
            else:
                shutil.copyfile(path, target, follow_symlinks=False)
        except OSError as error:
            self.unmatched.append(Unmatched(f"{label}: {safe(path.name)}", f"cannot be read ({error.strerror})"))

    def _is_copied(self, path: Path, target: Path, label: str) -> bool:
        """Return whether a path is a file or folder of the work; note any other, and a second file of one name."""
        if is_not_the_work(path.name):
            return False
        mode = path.lstat().st_mode
        reason = ""
        if stat.S_ISLNK(mode):
            reason = "is a link"
        elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            reason = "is a named pipe or a device"
        elif target.exists() and not stat.S_ISDIR(mode):
            reason = "is there twice, perhaps in another spelling; the first one was taken"
        if reason:
            self.unmatched.append(Unmatched(f"{label}: {safe(path.name)}", reason))
        return not reason
