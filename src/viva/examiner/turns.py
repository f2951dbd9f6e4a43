"""Ask one test while no other test of this user is asked on this machine.

Each test holds a lock that it shares with all others. A test that must run alone first takes a second lock, which keeps
further tests from beginning, and then waits until the running ones have ended. A process that ends gives its locks
back. Systems without such locks (Windows) ask the test again among the others.
"""

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOST_WAIT_S: Final = 600.0
"""After this long, a test is asked although others still run: no test waits forever."""
_FOLDER: Final = Path("/tmp")  # noqa: S108  # the same for all commands of a user, which TMPDIR is not; see O_NOFOLLOW
_RETRY_S: Final = 0.02
_TELL_EVERY_S: Final = 1.0
_WAITING_TO_BE_ALONE: Final = "to be asked once more, alone: waiting until other tests have ended, {:.0f} s so far"
_WAITING: Final = "waiting until the test of another submission, which is asked alone, has ended, {:.0f} s so far"


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Until when to wait for locks, and who is told with which text meanwhile."""

    end: float
    tell: Callable[[str], None]
    text: str


class Turns:
    """The locks of one examiner; use from one thread."""

    def __init__(self, folder: Path | None = None, most_wait_s: float = MOST_WAIT_S) -> None:
        """Open the lock files.

        Args:
            folder: where they are; None for the folder of temporary files.
            most_wait_s: how long to wait at most.
        """
        self._most_wait_s = most_wait_s
        self._queue = _opened(folder, "queue")
        self._tests = _opened(folder, "tests")
        if self._queue is None or self._tests is None:
            self.close()
        self._state = ""
        """"shared", "alone", or empty."""

    @contextlib.contextmanager
    def shared(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Hold the block back while another examiner is alone, and keep others from being alone during it.

        Args:
            tell: called with a line about every second while it waits, so that it does not seem to hang.
        """
        if self._state:
            yield
            return
        self._take_shared(tell)
        try:
            yield
        finally:
            self._release()

    @contextlib.contextmanager
    def alone(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Run the block while no test of another examiner runs; inside `shared`, its lock is given back meanwhile.

        Args:
            tell: called with a line about every second while others run.
        """
        before = self._state
        if before == "alone":
            yield
            return
        self._release()
        waiting = _Waiting(time.monotonic() + self._most_wait_s, tell, _WAITING_TO_BE_ALONE)
        if _locked(self._queue, waiting, shared=False):
            _locked(self._tests, waiting, shared=False)
        self._state = "alone"
        try:
            yield
        finally:
            self._release()
            if before:
                self._take_shared(tell)

    def _take_shared(self, tell: Callable[[str], None]) -> None:
        waiting = _Waiting(time.monotonic() + self._most_wait_s, tell, _WAITING)
        if _locked(self._queue, waiting, shared=True):
            _locked(self._tests, waiting, shared=True)
            _unlocked(self._queue)
        self._state = "shared"

    def _release(self) -> None:
        _unlocked(self._tests)
        _unlocked(self._queue)
        self._state = ""

    def close(self) -> None:
        """Close the files, which gives back all locks."""
        for file in (self._queue, self._tests):
            if file is not None:
                os.close(file)
        self._queue = self._tests = None


def _opened(folder: Path | None, name: str) -> int | None:
    """Open a lock file of this user; return None where there are no such locks, or the file belongs to another user."""
    if not hasattr(os, "getuid"):
        return None
    shared = _FOLDER if _FOLDER.is_dir() else Path(tempfile.gettempdir())
    path = (folder or shared) / f"viva-{name}-{os.getuid()}.lock"
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid():
            return file
        os.close(file)
    return None


def _locked(file: int | None, waiting: _Waiting, *, shared: bool) -> bool:
    """Take a lock; return False if there is none, or others held it until the end of the waiting."""
    if file is None:
        return False
    import fcntl

    began = told = time.monotonic()
    while True:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            now = time.monotonic()
        except OSError:
            return False  # a file system without locks
        if now >= waiting.end:
            return False
        if now - told >= _TELL_EVERY_S:
            told = now
            waiting.tell(waiting.text.format(now - began))
        time.sleep(_RETRY_S)


def _unlocked(file: int | None) -> None:
    if file is not None:
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
