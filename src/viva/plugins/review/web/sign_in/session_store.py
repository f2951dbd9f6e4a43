"""The key and the port of a run of `viva review`, stored for the next one, so that open pages survive a restart.

They are stored in a folder that only its owner can enter. A link, a file of another owner, or a file that others may
read is ignored.
"""

import contextlib
import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from viva.model import system
from viva.model.errors import UsageError
from viva.plugins.review.web.sign_in.access import KEY_BYTES

LIFETIME_S: Final = 24 * 3600
"""An older key is not used again."""
_MOST_BYTES: Final = 4096


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
        self._name = hashlib.sha256(about.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._folder = self._lock = -1
        self._path = _state_folder(environ)
        try:
            self._folder = _open_folder(self._path)
            self._lock = _locked(self._folder, f"{self._name}.lock")
            last = self._read()
        except BlockingIOError:
            last = self._read()
            self.close()
            if exclusive:
                raise _already_running(last) from None
            return
        except (OSError, ValueError) as error:
            self._give_up(error)
            return
        if last is not None:
            self.port = last.port
            if not new_key and 0 <= self._made - last.made < LIFETIME_S:
                self.key, self._made = last.key, last.made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def renew(self) -> None:
        """Create another key: another program uses the port of the last run, and may have received its cookies."""
        self.key, self._made = secrets.token_bytes(KEY_BYTES), time.time()

    def save(self, port: int, address: str) -> None:
        """Store what the next run needs."""
        if self._lock < 0:
            return
        stored = {"key": self.key.hex(), "port": port, "made": self._made, "address": address}
        try:
            self._write(json.dumps(stored).encode())
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Release the lock, so that the next run can start."""
        for descriptor in (self._lock, self._folder):
            if descriptor >= 0:
                os.close(descriptor)
        self._folder = self._lock = -1

    def _give_up(self, error: Exception) -> None:
        self.close()
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.problem = f"nothing can be kept in {self._path} ({why}): pages that are open now end with this run."

    def _read(self) -> LastRun | None:
        """Return the last run; None if there is none, or if its file is accessible to other users."""
        flags = os.O_RDONLY | os.O_NONBLOCK | system.NO_LINK | system.NOT_INHERITED
        try:
            file = os.open(f"{self._name}.json", flags, dir_fd=self._folder)
        except OSError:
            return None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or not _is_private(found):
                return None
            return _parse_last_run(os.read(file, _MOST_BYTES))
        finally:
            os.close(file)

    def _write(self, data: bytes) -> None:
        temporary = f".{self._name}.{secrets.token_hex(6)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NO_LINK | system.NOT_INHERITED
        file = os.open(temporary, flags, 0o600, dir_fd=self._folder)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(data)
            os.replace(temporary, f"{self._name}.json", src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self._folder)
            raise


def _state_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder by the XDG Base Directory Specification, which ignores relative paths."""
    stored = Path(environ.get("XDG_STATE_HOME", ""))
    return (stored if stored.is_absolute() else Path.home() / ".local" / "state") / "viva" / "review"


def _open_folder(place: Path) -> int:
    """Create and open the folder, which no one else can enter.

    Raises:
        OSError: it cannot be created or opened, or is a link.
        ValueError: it belongs to another user, or this system has no such folders.
    """
    if not system.OPENS_BELOW_FOLDERS or not system.LOCKS_FOLDERS:
        raise ValueError("this system has no folders that only their owner can enter")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | system.NO_LINK | system.NOT_INHERITED)
    try:
        found = os.fstat(folder)
        if found.st_uid != os.geteuid():
            raise ValueError("the folder is another user's")
        if not _is_private(found):
            os.fchmod(folder, 0o700)
    except BaseException:
        os.close(folder)
        raise
    return folder


def _locked(folder: int, name: str) -> int:
    """Lock a file; the system releases the lock when the process ends.

    Raises:
        BlockingIOError: another process has the lock.
    """
    import fcntl

    lock = os.open(name, os.O_RDWR | os.O_CREAT | system.NO_LINK | system.NOT_INHERITED, 0o600, dir_fd=folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _is_private(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _parse_last_run(data: bytes) -> LastRun | None:
    try:
        stored: Any = json.loads(data)
        last = LastRun(bytes.fromhex(stored["key"]), int(stored["port"]), float(stored["made"]), str(stored["address"]))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return last if len(last.key) == KEY_BYTES and 0 < last.port < 65536 else None


def _already_running(last: LastRun | None) -> AlreadyRunning:
    where = f" at {last.address}" if last is not None else ""
    return AlreadyRunning(
        f"`viva review` of this runs already{where}: open that address, end that run with Ctrl-C, or say another "
        "--port."
    )
