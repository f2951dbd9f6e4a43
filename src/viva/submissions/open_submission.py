"""Read the bytes of a submission, hash them, and say in one sentence if they cannot be graded."""

import hashlib
import os
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viva.model import File, Submission
from viva.model.errors import UsageError
from viva.sandbox.guest.loading.student_files import ENVIRONMENT_MARKS, is_not_the_work, rename_code, shorten_list
from viva.submissions import content_checks
from viva.submissions.examples import is_example, laid_out
from viva.submissions.file_names import is_worth_a_note, safe
from viva.submissions.opening_by_descriptor import (
    Folder,
    LinkOnTheWay,
    NotOpened,
    Opened,
    names_in,
    opened,
    opened_at,
    read_at_most,
)

MAX_DEPTH: Final = 24


class _Ungradable(Exception):
    """The submission cannot be graded; the text is the sentence for the student."""


def open_submission(
    path: Path,
    name: str,
    *,
    max_mib: int = 64,
    max_files: int = 2000,
    withheld: Callable[[], Container[tuple[int, int]]] = frozenset,
) -> Submission:
    """Read a submission: a file or a folder; of an example that is a copy of another one, all its files.

    Args:
        path: the file or folder.
        name: the path as the user gave it; goes into results unchanged.
        max_mib: the largest size of all files together, in MiB.
        max_files: the largest number of files in a folder.
        withheld: returns device and inode of files that no box may see; a hard link to one of them is left out of the
            submission. Called only if there are hard links.

    Returns:
        The files sorted by path, with their hash. If the submission is at fault (empty, too large, a link, …),
        `problem` says so in a sentence for the student and there are no files.

    Raises:
        UsageError: nothing exists at the path, or a folder on the way to it is a link; the command is at fault.
        CourseError: an example submission cannot be laid out; see `lay_out`.
    """
    if is_example(path):
        with laid_out(path) as folder:
            return open_submission(folder, name, max_mib=max_mib, max_files=max_files, withheld=withheld)
    reader = _Reader(max_mib << 20, max_files, withheld)
    shown = safe(path.absolute().name or str(path))
    try:
        with opened(path) as found:
            if found.is_folder:
                reader.folder(found.folder, "", 0)
            else:
                reader.file(found, shown)
        files = reader.sorted_files()
        problem = content_checks.problem(files, is_folder=found.is_folder, shown=shown)
    except FileNotFoundError:
        raise UsageError(no_such_path(path)) from None
    except LinkOnTheWay as error:
        raise UsageError(
            f"{path}: {error.where} is a link, and links are not followed; give the path of the folder itself."
        ) from None
    except NotOpened as error:
        files, problem = (), f"{shown} {error}: submit a file or a folder that can be opened."
    except _Ungradable as error:
        files, problem = (), str(error)
    notes = () if problem and not files else (*reader.notes(), *(() if problem else content_checks.notes(files)))
    return Submission(name, () if problem else files, digest(files, problem), problem, notes)


def digest(files: Iterable[File], problem: str = "") -> str:
    """Return the SHA-256 of paths and bytes in the order of paths; lengths keep them from running together."""
    sha = hashlib.sha256()
    for file in sorted(files, key=lambda f: f.path):
        encoded = file.path.encode("utf-8")
        sha.update(b"%d %d\n" % (len(encoded), len(file.data)) + encoded)
        sha.update(file.data)
    sha.update(problem.encode("utf-8"))
    return sha.hexdigest()


@dataclass(slots=True)
class _Reader:
    """Reads files until a limit is reached; records what was left out."""

    max_bytes: int
    max_files: int
    withheld: Callable[[], Container[tuple[int, int]]] = frozenset
    read_bytes: int = 0
    seen: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    not_the_work: set[str] = field(default_factory=set)
    left_out: dict[str, str] = field(default_factory=dict)
    """From path to phrase: "is a link"."""
    twice: list[str] = field(default_factory=list)
    renamed: list[str] = field(default_factory=list)
    endings: list[str] = field(default_factory=list)
    """Sentences about files of code with another ending."""

    def folder(self, opened: Folder, prefix: str, depth: int) -> None:
        """Read everything in an open folder, in the order of the raw names."""
        if depth > MAX_DEPTH:
            raise _Ungradable(f"The folders are nested deeper than {MAX_DEPTH} levels: submit a flat folder.")
        names = sorted(names_in(opened), key=os.fsencode)
        if prefix and not ENVIRONMENT_MARKS.isdisjoint(names):
            self.not_the_work.add(prefix.rstrip("/"))
            return
        for raw in names:
            self.seen += 1
            if self.seen > 4 * self.max_files:
                raise self._too_many()
            if is_not_the_work(raw):
                if is_worth_a_note(raw):
                    self.not_the_work.add(raw)
                continue
            self._entry(raw, prefix + safe(raw), opened, depth)

    def _entry(self, raw: str, shown: str, inside: Folder, depth: int) -> None:
        try:
            with opened_at(raw, inside) as found:
                if found.is_folder:
                    self.folder(found.folder, f"{shown}/", depth + 1)
                else:
                    self._keep_name(raw, shown)
                    self.file(found, shown)
        except FileNotFoundError:
            return  # it was removed while we read: then it is not part of the submission
        except NotOpened as error:
            if str(error).startswith("cannot be read"):
                raise _Ungradable(f"{shown} {error}: make it readable, and submit again.") from None
            self.left_out[shown] = str(error)

    def file(self, found: Opened, shown: str) -> None:
        """Read an open file; its size is what was read, not what the system reported."""
        if found.identity is not None and found.identity in self.withheld():
            raise NotOpened("is a link")
        if shown in self.files:
            self.twice.append(shown)
            return
        if len(self.files) >= self.max_files:
            raise self._too_many()
        left = self.max_bytes - self.read_bytes
        data = None if found.size > left else read_at_most(found.descriptor, left)
        if data is None:
            raise _Ungradable(
                f"The submission is larger than {self.max_bytes >> 20} MiB ({shown} alone is {_size(found.size)}): "
                "submit code and answers, without data sets, trained models and environments."
            )
        self.read_bytes += len(data)
        self.files[shown] = data

    def _keep_name(self, raw: str, shown: str) -> None:
        if "\ufffd" in safe(raw) and "\ufffd" not in raw:
            self.renamed.append(shown)

    def _too_many(self) -> _Ungradable:
        return _Ungradable(
            f"The submission holds more than {self.max_files:,} files: "
            "submit code and answers, without data sets and environments."
        )

    def sorted_files(self) -> tuple[File, ...]:
        """Return the files by path; one whose path is also a folder's, in another spelling, is left out."""
        folders = {path[:at] for path in self.files for at, character in enumerate(path) if character == "/"}
        for path in sorted(folders & self.files.keys()):
            self.twice.append(path)
            del self.files[path]
        renamed, self.endings = rename_code(self.files)
        for path, new in renamed.items():
            self.files[new] = self.files.pop(path)
        return tuple(File(path, self.files[path]) for path in sorted(self.files))

    def notes(self) -> list[str]:
        """List what a student should know about files that were not read."""
        found = []
        if self.not_the_work:
            found.append(f"Left out, because it is not part of the work: {shorten_list(self.not_the_work)}.")
        for words in sorted(set(self.left_out.values())):
            paths = [p for p, why in self.left_out.items() if why == words]
            each = words if len(paths) == 1 else words.replace("is a ", "are ") + "s"
            found.append(f"Left out: {shorten_list(paths)} {each}; submit the file itself.")
        if self.twice:
            found.append(
                f"Left out: {shorten_list(self.twice)}, because another file has the same name in another spelling."
            )
        if self.renamed:
            found.append(
                f"Renamed, because the name holds characters that no program can show: {shorten_list(self.renamed)}."
            )
        found += self.endings
        return found


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB" if size >= 1 << 20 else f"{size:,} bytes"


def no_such_path(path: Path) -> str:
    """Return the sentence for a path that does not exist, with the closest name that does."""
    import difflib

    try:
        there: list[str] = sorted(os.listdir(path.parent))
    except OSError:
        return f"{path}: no such file or folder ({path.parent} does not exist either)."
    close = difflib.get_close_matches(path.name, there, 1, 0.6)
    return f"{path}: no such file or folder" + (f"; did you mean {path.parent / close[0]}?" if close else ".")
