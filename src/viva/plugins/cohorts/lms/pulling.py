"""Write what a class submitted into a new folder that `viva grade` reads, and the roster next to it.

The folder appears complete or not at all. Names from the platform are untrusted; sizes are bounded. If one file of a
student cannot be fetched, that student's submission is left out and named, because a part of it would be graded as if
it were all.

- Canvas: files are named as in its own download, with the number of the person, who is recognised by it.
- Moodle: a folder for each student or team, named by the roster's id. The names of its own download hold the number of
  a participant, which the interface does not tell; its user number is another one, and may be someone else's there.
"""

import csv
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viva.formats.atomic_write import write_atomically
from viva.formats.escaping import csv_cell, line
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports.names import clean_text
from viva.plugins.cohorts.exports.unpacking import Caps
from viva.plugins.cohorts.lms.errors import LmsError, NotAllowed, Unreachable
from viva.plugins.cohorts.lms.platform import Account, Platform, RemoteFile, RemoteSubmission
from viva.plugins.cohorts.lms.pulled_names import canvas_name, student_ids, team_names
from viva.submissions.safe_names import Names, make_safe_component

SUBMISSIONS: Final = "submissions"
ROSTER: Final = "roster.csv"
_COLUMNS: Final = ("id", "name", "email", "login", "canvas", "group", "submission_timestamp")
_MOST_DEPTH: Final = 16
_MOST_FILES: Final = 2_000
"""Files of one student."""


@dataclass(slots=True)
class Pulled:
    """What was fetched."""

    students: int = 0
    submissions: int = 0
    files: int = 0
    left_out: list[str] = field(default_factory=list)
    """A sentence for each submission that is not in the folder."""


def pull(platform: Platform, out: Path, tell: Callable[[str], None], caps: Caps | None = None) -> Pulled:
    """Fetch the submissions and the roster of an assignment.

    Args:
        platform: the assignment.
        out: a folder that does not exist yet.
        tell: is called with the name of each student whose submission is fetched next.
        caps: how much is accepted.

    Raises:
        UsageError: the folder exists or cannot be written, the platform does not answer, or the class is too large.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out} exists already; give the name of a new folder, or remove it first.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{out.name[:100]}.", suffix=".part", dir=out.parent))
    except OSError as error:
        raise UsageError(f"{out.parent}: nothing can be written there ({error.strerror}).") from None
    try:
        pulled = _Puller(platform, part, tell, caps or Caps()).run()
        part.chmod(0o700)
        part.rename(out)
    except OSError as error:
        raise UsageError(f"{out}: it cannot be written ({error.strerror}).") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return pulled


class _Puller:
    def __init__(self, platform: Platform, folder: Path, tell: Callable[[str], None], caps: Caps) -> None:
        self._platform = platform
        self._folder = folder
        self._tell = tell
        self._caps = caps
        self._bytes = caps.mib << 20
        self._pulled = Pulled()

    def run(self) -> Pulled:
        platform, place = self._platform, self._folder / SUBMISSIONS
        platform.task()
        accounts = platform.accounts()
        ids = student_ids(accounts)
        found = list(platform.submissions(accounts))
        teams = team_names(found, ids.values())
        place.mkdir(mode=0o700)
        times: dict[int, str] = {}
        for submission in found:
            self._tell(line(submission.label, characters=100))
            try:
                self._fetch(submission, place, ids, teams)
            except (NotAllowed, Unreachable):
                raise
            except LmsError as error:
                self._pulled.left_out.append(f"{line(submission.label, characters=100)}: {error}")
                continue
            if submission.submitted_at is not None:
                people = (submission.account,) if submission.account is not None else submission.members
                times |= {account.number: submission.submitted_at.isoformat() for account in people}
        self._pulled.students = len(accounts)
        rows = [_row(account, ids[account.number], teams, times.get(account.number, "")) for account in accounts]
        write_atomically(self._folder / ROSTER, _table(rows), durable=False, mode=0o600)
        return self._pulled

    def _fetch(self, submission: RemoteSubmission, place: Path, ids: dict[int, str], teams: dict[int, str]) -> None:
        """Fetch all files of one submission, or leave none of them."""
        if submission.account is None and not submission.members:
            raise LmsError("no student of the course belongs to this team; look at the groups of the assignment.")
        held = Path(tempfile.mkdtemp(prefix=".student.", dir=self._folder))
        try:
            names = self._write(submission, held)
            if submission.account is not None and self._platform.name == "canvas":
                moves = [(path, canvas_name(submission, submission.account, name)) for name, path in names]
            else:
                moves = [(held, ids[submission.account.number] if submission.account else teams[submission.group])]
            if any((place / called).exists() for _, called in moves):
                raise LmsError("the platform lists this submission twice.")
            for path, called in moves:
                path.rename(place / called)
        finally:
            shutil.rmtree(held, ignore_errors=True)
        self._pulled.submissions += 1
        self._pulled.files += len(names)

    def _write(self, submission: RemoteSubmission, held: Path) -> list[tuple[tuple[str, int], Path]]:
        """Write the files of one submission below a folder; return name and number of each with its path."""
        flat = self._platform.name == "canvas"
        folders: dict[Path, Names] = {}
        written = []
        left = self._caps.student_mib << 20
        if len(submission.files) > _MOST_FILES:
            raise LmsError(f"it has {len(submission.files)} files; at most {_MOST_FILES} are fetched.")
        for file in submission.files:
            path = self._path(file, held, folders, flat=flat)
            size = self._download(file, path, left)
            left -= size
            written.append(((path.name, file.number), path))
        for name, content in submission.entered:
            path = held / folders.setdefault(held, Names()).give_file(name)
            data = content.encode("utf-8", "replace")
            if len(data) > left:
                raise LmsError(f"{name} makes the submission too large.")
            write_atomically(path, data, durable=False, mode=0o600)
            written.append(((path.name, 0), path))
        return written

    def _path(self, file: RemoteFile, held: Path, folders: dict[Path, Names], *, flat: bool) -> Path:
        parts = [part for part in file.name.replace("\\", "/").split("/") if part not in ("", ".")] or ["unnamed"]
        if len(parts) > _MOST_DEPTH or ".." in parts:
            raise LmsError(
                f"the file {line(file.name, characters=100)} has a path that leads elsewhere or is too deep."
            )
        folder = held
        for part in parts[:-1] if not flat else ():
            folder /= make_safe_component(part)
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder / folders.setdefault(folder, Names()).give_file(parts[-1])

    def _download(self, file: RemoteFile, path: Path, left: int) -> int:
        """Download a file and return its size."""
        shown = line(file.name, characters=100)
        most = min(self._caps.file_mib << 20, left, self._bytes)
        if file.size is not None and file.size > most:
            raise LmsError(
                f"{shown} has {file.size / 2**20:.1f} MiB, and at most {most / 2**20:.1f} MiB are left for it."
            )
        try:
            with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as target:
                self._platform.download(file, target, most)
                size = target.seek(0, os.SEEK_END)
        except (NotAllowed, Unreachable):
            raise
        except LmsError as error:
            raise LmsError(f"{shown}: {error}") from None
        if file.size is not None and size != file.size:
            raise LmsError(f"{shown}: {size} bytes came, and the platform says that it has {file.size}.")
        self._bytes -= size
        return size


def _row(account: Account, id_: str, teams: dict[int, str], submitted: str) -> Sequence[str]:
    """Return the row of a student; a name must not become a formula in a spreadsheet."""
    identifiers = {kind: clean_text(value) for kind, value in account.identifiers.items()}
    groups = ",".join(teams[number] for number in account.groups if number in teams)
    name = csv_cell(line(clean_text(account.name)))
    number = identifiers.get("canvas", "")
    return (id_, name, identifiers.get("email", ""), identifiers.get("login", ""), number, groups, submitted)


def _table(rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    table.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
