"""List a folder of an export: names and kinds, no link followed, no file opened."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.decode_text import decode
from viva.submissions.file_names import safe
from viva.submissions.opening_by_descriptor import LinkOnTheWay, NotOpened, opened, read_at_most

MOST_ENTRIES: Final = 100_000
Sort = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder."""

    path: Path
    name: str
    """Fit to be read and compared: normal form C, no control characters."""
    sort: Sort


def entries_of(folder: Path) -> tuple[Entry, ...]:
    """List what a folder holds, by name, without what tools leave behind.

    Raises:
        UsageError: it cannot be listed, or it holds too many entries.
    """
    found: list[Entry] = []
    try:
        with os.scandir(folder) as listed:
            for entry in listed:
                if len(found) >= MOST_ENTRIES:
                    raise UsageError(
                        f"{folder} holds more than {MOST_ENTRIES:,} entries; give the folder of one class."
                    )
                if not is_not_the_work(entry.name):
                    found.append(Entry(folder / entry.name, safe(entry.name), _sort(entry)))
    except OSError as error:
        raise UsageError(f"{folder} cannot be listed: {error.strerror}.") from None
    return tuple(sorted(found, key=lambda e: os.fsencode(e.path.name)))


def read_text(path: Path, most: int) -> str:
    """Read the text of a regular file.

    Raises:
        UsageError: it is a link, not a file, or longer than `most` bytes.
    """
    try:
        with opened(path) as file:
            if file.is_folder:
                raise NotOpened("is a folder")
            data = None if file.size > most else read_at_most(file.descriptor, most)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file.") from None
    except LinkOnTheWay as error:
        raise UsageError(
            f"{path}: {error.where} is a link, and links are not followed; give the path itself."
        ) from None
    except NotOpened as error:
        raise UsageError(f"{path} {error}; a file that can be read is expected.") from None
    if data is None:
        raise UsageError(f"{path} is larger than {most >> 20} MiB, which no such file is; give the right one.")
    return decode(data)


def refused(entry: Entry) -> str:
    """Return why an entry that is neither file nor folder is not a submission, as a phrase that follows its name."""
    return "is a link, and links are not followed" if entry.sort == "link" else "is neither a file nor a folder"


def _sort(entry: "os.DirEntry[str]") -> Sort:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"
