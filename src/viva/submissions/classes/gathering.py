"""Gathers what one student submitted as several files in one folder, under their original names."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.classes.class_export import Unmatched
from viva.submissions.classes.submission_names import Names
from viva.submissions.file_names import safe
from viva.submissions.opening_by_descriptor import NotOpened, Opened, opened, opened_at

MOST_FILES: Final = 200_000
MOST_BYTES: Final = 20 << 30
_MOST_DEPTH: Final = 24
_COPY: Final = 1 << 18


@dataclass(slots=True)
class Gatherer:
    """Makes folders below `into`, which is private; moves what is already there, and copies the rest."""

    into: Path
    ours: Path | None = None
    """The folder into which an archive was unpacked here: its files may be moved."""
    unmatched: list[Unmatched] = field(default_factory=list)
    _names: Names = field(default_factory=Names)
    _files: int = MOST_FILES
    _bytes: int = MOST_BYTES

    def gather(self, label: str, parts: Iterable[tuple[str, Path]]) -> Path:
        """Make one folder that holds every part under its own name.

        Args:
            label: the submission's label, from which the folder's name is made.
            parts: name and path of files and folders; the contents of a folder named "" go directly into the new one.

        Raises:
            UsageError: it is more than a class submits, or it cannot be written.
        """
        folder = self.into / self._names.give(label)
        folder.mkdir(mode=0o700, parents=True)
        names = Names()
        for name, path in parts:
            target = folder / names.give_file(name) if name else folder
            if name and self.ours is not None and path.is_relative_to(self.ours) and not path.is_symlink():
                path.rename(target)
            else:
                self._copy(path, target, label)
        return folder

    def _copy(self, path: Path, target: Path, label: str) -> None:
        try:
            with opened(path) as found:
                self._copy_open(found, target, label, 0)
        except (NotOpened, FileNotFoundError) as error:
            self.unmatched.append(Unmatched(f"{label}: {safe(path.name)}", _reason(error)))

    def _copy_open(self, found: Opened, target: Path, label: str, depth: int) -> None:
        if found.is_folder:
            self._copy_folder(found, target, label, depth)
            return
        self._files -= 1
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
            while part := os.read(found.descriptor, _COPY):
                self._bytes -= len(part)
                if self._files < 0 or self._bytes < 0:
                    raise UsageError(f"{label} is more than a class submits; give the folder of one class.")
                file.write(part)

    def _copy_folder(self, found: Opened, target: Path, label: str, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise NotOpened(f"is deeper than {_MOST_DEPTH} folders")
        target.mkdir(mode=0o700, exist_ok=True)
        for name in sorted(os.listdir(found.descriptor), key=os.fsencode):
            if is_not_the_work(name):
                continue
            try:
                with opened_at(name, found.descriptor) as inner:
                    self._copy_open(inner, target / name, label, depth + 1)
            except (NotOpened, FileNotFoundError, FileExistsError) as error:
                self.unmatched.append(Unmatched(f"{label}: {safe(name)}", _reason(error)))


def _reason(error: Exception) -> str:
    if isinstance(error, FileExistsError):
        return "is there twice, perhaps in another spelling; the first one was taken"
    return str(error) if isinstance(error, NotOpened) else "went away while it was read"
