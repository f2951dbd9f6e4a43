"""Write what a class submitted into a new folder that `viva grade` reads, and the roster next to it.

The folder appears complete or not at all. Names from the platform are untrusted; sizes are bounded. If one file of a
student cannot be fetched, that student's submission is left out and named, because a part of it would be graded as if
it were all.

There is a folder for each student or team, named by the roster's id. The names of the platforms' own downloads are not
used: those of Moodle hold a number that its interface does not tell.
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
from viva.plugins.cohorts.exports.names import clean_text, normalize_id
from viva.plugins.cohorts.exports.unpacking import Caps
from viva.plugins.cohorts.lms.answers import LmsError, NotAllowedError, UnreachableError
from viva.plugins.cohorts.lms.platform import Account, Platform, RemoteFile, RemoteSubmission
from viva.sandbox.guest.loading.student_files import is_not_the_work
from viva.submissions.safe_names import MAX_BYTES, Names, make_safe_component, normalize_component

SUBMISSIONS: Final = "submissions"
ROSTER: Final = "roster.csv"
_COLUMNS: Final = ("id", "name", "email", "login", "canvas", "group", "submission_timestamp")
_ID_KINDS: Final = ("sis", "idnumber", "login", "email", "canvas", "user")
"""Identifiers in the order in which they are preferred as the id of the course."""
_MAX_DEPTH: Final = 16
_MAX_FILES: Final = 2_000
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
        raise UsageError(f"{out} already exists; choose another folder or delete it first.")
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


def choose_student_ids(accounts: Sequence[Account]) -> dict[int, str]:
    """Return the id of each student, by the platform's number of the person.

    All ids are of one kind, so that the number of one student is never another student's of another kind. It is a kind
    that everyone has, that tells everyone apart, and that can name a folder.
    """
    for kind in _ID_KINDS:
        ids = [clean_text(account.identifiers.get(kind, "")) for account in accounts]
        distinct = {normalize_component(normalize_id(id_)) for id_ in ids}
        if len(distinct) == len(accounts) and all(map(_can_name_folder, ids)):
            return {account.number: id_ for account, id_ in zip(accounts, ids, strict=True)}
    return {account.number: f"user-{account.number}" for account in accounts}


def _can_name_folder(id_: str) -> bool:
    return make_safe_component(id_) == id_ and len(id_.encode()) < MAX_BYTES and not is_not_the_work(id_)


def name_teams(found: Iterable[RemoteSubmission], ids: Iterable[str]) -> dict[int, str]:
    """Return the name of the folder of each team, by its number; no two are alike, and none is a student's id."""
    taken = {normalize_component(normalize_id(id_)) for id_ in ids}
    names: dict[int, str] = {}
    for submission in found:
        if submission.account is not None or submission.group in names:
            continue
        name = make_safe_component(clean_text(submission.label).replace(",", " "))
        if normalize_component(normalize_id(name)) in taken:
            name = f"{name} team-{submission.group}"
        names[submission.group] = name
        taken.add(normalize_component(normalize_id(name)))
    return names


class _Puller:
    def __init__(self, platform: Platform, folder: Path, tell: Callable[[str], None], caps: Caps) -> None:
        self._platform = platform
        self._folder = folder
        self._tell = tell
        self._caps = caps
        self._bytes_left = caps.mib << 20
        self._pulled = Pulled()

    def run(self) -> Pulled:
        platform, place = self._platform, self._folder / SUBMISSIONS
        platform.read_task()
        accounts = platform.list_accounts()
        ids = choose_student_ids(accounts)
        found = list(platform.list_submissions(accounts))
        teams = name_teams(found, ids.values())
        place.mkdir(mode=0o700)
        times: dict[int, str] = {}
        for submission in found:
            shown = line(submission.label, characters=100)
            self._tell(shown)
            try:
                self._fetch(submission, place, ids, teams)
            except (NotAllowedError, UnreachableError):
                raise
            except LmsError as error:
                self._pulled.left_out.append(f"{shown}: {error}")
                continue
            people = submission.members if submission.account is None else (submission.account,)
            if submission.submitted_at is not None:
                times |= {account.number: submission.submitted_at.isoformat() for account in people}
        self._pulled.students = len(accounts)
        text = io.StringIO(newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(_COLUMNS)
        for account in accounts:
            known = {kind: clean_text(value) for kind, value in account.identifiers.items()}
            groups = ",".join(teams[number] for number in account.groups if number in teams)
            name = csv_cell(line(clean_text(account.name)))  # must not become a formula in a spreadsheet
            identifiers = [known.get(kind, "") for kind in ("email", "login", "canvas")]
            table.writerow([ids[account.number], name, *identifiers, groups, times.get(account.number, "")])
        data = text.getvalue().encode("utf-8", "replace")
        write_atomically(self._folder / ROSTER, data, durable=False, mode=0o600)
        return self._pulled

    def _fetch(self, submission: RemoteSubmission, place: Path, ids: dict[int, str], teams: dict[int, str]) -> None:
        """Fetch all files of one submission, or leave none of them."""
        account = submission.account
        if account is None and not submission.members:
            raise LmsError("no student of the course belongs to this team; look at the groups of the assignment.")
        held = Path(tempfile.mkdtemp(prefix=".student.", dir=self._folder))
        try:
            files = self._write(submission, held)
            name = teams[submission.group] if account is None else ids[account.number]
            if (place / name).exists():
                raise LmsError("the platform lists this submission twice.")
            held.rename(place / name)
        finally:
            shutil.rmtree(held, ignore_errors=True)
        self._pulled.submissions += 1
        self._pulled.files += files

    def _write(self, submission: RemoteSubmission, held: Path) -> int:
        """Write the files of one submission below a folder; return how many there are."""
        folders: dict[Path, Names] = {held: Names()}
        left = self._caps.student_mib << 20
        if len(submission.files) > _MAX_FILES:
            raise LmsError(f"it has {len(submission.files)} files; at most {_MAX_FILES} are fetched.")
        for file in submission.files:
            left -= self._download(file, _choose_path(file, held, folders), left)
        for name, content in submission.entered:
            data = content.encode("utf-8", "replace")
            if len(data) > left:
                raise LmsError(f"{name} makes the submission too large.")
            write_atomically(held / folders[held].give_file(name), data, durable=False, mode=0o600)
        return len(submission.files) + len(submission.entered)

    def _download(self, file: RemoteFile, path: Path, left: int) -> int:
        """Download a file and return its size."""
        shown = line(file.name, characters=100)
        limit = min(self._caps.file_mib << 20, left, self._bytes_left)
        if file.size is not None and file.size > limit:
            raise LmsError(
                f"{shown} has {file.size / 2**20:.1f} MiB, and at most {limit / 2**20:.1f} MiB are left for it."
            )
        try:
            with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as target:
                self._platform.download(file, target, limit)
                size = target.seek(0, os.SEEK_END)
        except (NotAllowedError, UnreachableError):
            raise
        except LmsError as error:
            raise LmsError(f"{shown}: {error}") from None
        if file.size is not None and size != file.size:
            raise LmsError(f"{shown}: {size} bytes came, and the platform says that it has {file.size}.")
        self._bytes_left -= size
        return size


def _choose_path(file: RemoteFile, held: Path, folders: dict[Path, Names]) -> Path:
    parts = [part for part in file.name.replace("\\", "/").split("/") if part not in ("", ".")] or ["unnamed"]
    if len(parts) > _MAX_DEPTH or ".." in parts:
        shown = line(file.name, characters=100)
        raise LmsError(f"the file {shown} has a path that leads elsewhere or is too deep.")
    folder = held.joinpath(*map(make_safe_component, parts[:-1]))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / folders.setdefault(folder, Names()).give_file(parts[-1])
