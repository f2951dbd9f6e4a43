"""The key and the port of a run of `viva review`, stored for the next one, so that open pages survive a restart.

They are stored in a folder that only its owner can enter. A link, a file of another owner, or a file that others may
read is ignored.
"""

import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from viva.model import system
from viva.model.errors import UsageError
from viva.plugins.review.web.access import KEY_BYTES

LIFETIME_S: Final = 24 * 3600
"""An older key is not used again."""
_MAX_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class LastRun:
    """What is stored of a run."""

    key: bytes
    port: int
    made: float
    """When the key was made: seconds since 1970."""
    address: str
    """The address that the run printed."""


class AlreadyRunning(UsageError):
    """Another run of the same command serves these answers."""


class SessionStore:
    """The key and the port of the last run, locked for this run until it is closed.

    If nothing can be stored, `problem` is a sentence that says why, and this run has a new key.
    """

    def __init__(self, about: str, environ: Mapping[str, str], *, new_key: bool, exclusive: bool = True) -> None:
        """Read what the last run stored, and lock it.

        Args:
            about: a text that identifies what is graded; each course, assignment and location of records has its own
                file.
            environ: the environment variables; XDG_STATE_HOME is used.
            new_key: whether to ignore the last run's key.
            exclusive: whether another run is an error; otherwise nothing is stored if there is one.

        Raises:
            AlreadyRunning: there is another run, and `exclusive` is set; the message has its address.
        """
        self.problem = ""
        self.key, self.port, self._made = secrets.token_bytes(KEY_BYTES), 0, time.time()
        name = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        folder = _find_state_folder(environ)
        self._file, self._lock = folder / f"{name}.json", -1
        try:
            _make_private(folder)
            self._lock = _lock_file(folder / f"{name}.lock")
        except BlockingIOError:
            if exclusive:
                raise AlreadyRunning(_name_other_run(_read_last_run(self._file))) from None
            return
        except (OSError, ValueError) as error:
            self._give_up(error)
            return
        last = _read_last_run(self._file)
        if last is not None:
            self.port = last.port
            if not new_key and 0 <= self._made - last.made < LIFETIME_S:
                self.key, self._made = last.key, last.made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def renew(self) -> None:
        """Create another key: another program uses the port of the last run, and may have received its cookies."""
        self.key, self._made = secrets.token_bytes(KEY_BYTES), time.time()

    def save(self, port: int, address: str) -> None:
        """Store what the next run needs."""
        if self._lock < 0:
            return
        stored = {"key": self.key.hex(), "port": port, "made": self._made, "address": address}
        part = self._file.with_suffix(f".{secrets.token_hex(6)}.part")
        try:
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOT_INHERITED, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as stream:
                json.dump(stored, stream)
            part.replace(self._file)
        except OSError as error:
            part.unlink(missing_ok=True)
            self._give_up(error)

    def close(self) -> None:
        """Release the lock, so that the next run can start."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def _give_up(self, error: Exception) -> None:
        self.close()
        why = str(error)
        if isinstance(error, OSError) and error.strerror:
            why = error.strerror
        folder = self._file.parent
        self.problem = f"nothing can be kept in {folder} ({why}): pages that are open now end with this run."


def _find_state_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder by the XDG Base Directory Specification, which ignores relative paths."""
    home = Path(environ.get("XDG_STATE_HOME", ""))
    if not home.is_absolute():
        home = Path.home() / ".local" / "state"
    return home / "viva" / "review"


def _make_private(folder: Path) -> None:
    """Create the folder, which no one else can enter.

    Raises:
        OSError: it cannot be created.
        ValueError: it is a link or belongs to another user, or this system has no such folders.
    """
    if not system.LOCKS_FOLDERS:
        raise ValueError("this system has no folders that only their owner can enter")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise ValueError("it is no folder")
    if status.st_uid != os.geteuid():
        raise ValueError("the folder is another user's")
    if not _is_private(status):
        folder.chmod(0o700)


def _lock_file(path: Path) -> int:
    """Lock a file; the system releases the lock when the process ends.

    Raises:
        BlockingIOError: another process has the lock.
    """
    import fcntl

    lock = os.open(path, os.O_RDWR | os.O_CREAT | system.NO_LINK | system.NOT_INHERITED, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _read_last_run(path: Path) -> LastRun | None:
    """Return the last run; None if there is none, or if its file is accessible to other users."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | system.NO_LINK | system.NOT_INHERITED)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or not _is_private(status):
            return None
        return _parse_last_run(os.read(file, _MAX_BYTES))
    finally:
        os.close(file)


def _parse_last_run(data: bytes) -> LastRun | None:
    try:
        stored: Any = json.loads(data)
        last = LastRun(bytes.fromhex(stored["key"]), int(stored["port"]), float(stored["made"]), str(stored["address"]))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return last if len(last.key) == KEY_BYTES and 0 < last.port < 65536 else None


def _name_other_run(last: LastRun | None) -> str:
    where = f" at {last.address}" if last is not None else ""
    return (
        f"`viva review` of this runs already{where}: open that address, end that run with Ctrl-C, or say another "
        "--port."
    )
