"""Snapshots: forked copies of this process that wait, in which a hidden test later runs in the state of that moment.

So a notebook runs once, and yet nothing of a hidden test is in the sandbox while it runs. A copy inherits the
connection to the examiner; only one process at a time reads it, and the others wait.
"""

from __future__ import annotations

import os
import threading
from typing import Callable, Dict, NamedTuple, NoReturn, Optional, Set

from . import alarm

MOST_WAITING = 16
"""The most snapshots that wait at once; each is a process, and the program may need some itself."""
MOST_TAKEN = 200
"""The most that are taken in one run: a cell may ask for the same test in a loop."""
_GO, _END = b"\x01", b"\n"
_fork: Optional[Callable[[], int]] = getattr(os, "fork", None)
_pipe, _read, _write, _close, _exit = os.pipe, os.read, os.write, os.close, os._exit
_waitpid, _listdir, _active_threads = os.waitpid, os.listdir, threading.active_count


class _Waiting(NamedTuple):
    """A snapshot, as the process sees it that took it."""

    start: int
    """The pipe that tells it to go on."""
    following: int
    """The pipe on which it says which snapshot goes on after it."""

    def close(self) -> None:
        """Close the pipes; a snapshot that waits then ends."""
        _close(self.start)
        _close(self.following)


class Snapshots:
    """The snapshots of one process."""

    def __init__(self, serve: Optional[Callable[[], NoReturn]] = None) -> None:
        """Prepare.

        Args:
            serve: replies to the request that resumed a snapshot, and answers those that follow; None if this process
                must not be copied.
        """
        self._serve = serve
        self._waiting: Dict[str, _Waiting] = {}
        self._missing: Set[str] = set()
        """The names of which no snapshot could be taken at the last attempt."""
        self._taken = 0
        self._over = False
        """Whether the run has ended, because this process is a snapshot or has resumed one."""
        self._original: Optional[int] = None
        """In a snapshot, the pipe to the process that took it."""

    def take(self, name: str) -> None:
        """Take a snapshot, in place of an earlier one of that name; note if that is impossible.

        A copy has only the thread that forked it, so none is taken of a process with several.
        """
        if self._over:
            return
        if name in self._waiting:
            self._waiting.pop(name).close()
        self._missing.discard(name)
        self._taken += 1
        if self._taken > MOST_TAKEN or len(self._waiting) >= MOST_WAITING or not _is_single_threaded():
            self._missing.add(name)
            return
        try:
            self._copy(name)
        except OSError:  # the program uses all processes or descriptors that it may have
            self._missing.add(name)

    def _copy(self, name: str) -> None:
        descriptors = [*_pipe()]
        try:
            descriptors += _pipe()
            is_copy = _fork_apart()
        except OSError:
            for descriptor in descriptors:
                _close(descriptor)
            raise
        waits, start, following, original = descriptors
        if not is_copy:
            _close(waits)
            _close(original)
            self._waiting[name] = _Waiting(start, following)
            return
        try:
            for snapshot in (_Waiting(start, following), *self._waiting.values()):
                snapshot.close()  # else those would not notice that the process which took them has ended
            self._waiting.clear()
            self._over, self._original = True, original
            if _read(waits, 1) == _GO:
                _close(waits)
                alarm.begin_anew()
                assert self._serve is not None  # else nothing asks for snapshots
                self._serve()
        finally:
            _exit(1)  # whatever a signal handler of the student's raises here: the notebook goes on in one process only

    def resume(self, name: str) -> bool:
        """Let the snapshot of that name answer the requests that follow, until another one is resumed.

        Returns:
            Nothing if there is a snapshot, which replies instead. Else whether the state at the end of the run is as
            good, because the run never came to the place where the snapshot is taken.
        """
        if self._original is not None:
            _write(self._original, name.encode() + _END)
            _exit(0)
        self._over = True
        alarm.off()
        while name in self._waiting:
            name = _run(self._waiting.pop(name))
        return self._serve is not None and name not in self._missing


def _run(snapshot: _Waiting) -> str:
    """Let a snapshot go on until it ends; return the name of the next one. If it dies, this process ends as well."""
    _write(snapshot.start, _GO)
    said = b""
    while not said.endswith(_END):
        more = _read(snapshot.following, 1024)
        if not more:
            _exit(1)
        said += more
    snapshot.close()
    return said[: -len(_END)].decode()


def _fork_apart() -> bool:
    """Fork a process that is not a child of this one, so that the student's code cannot wait for it; True in it.

    Raises:
        OSError: No more processes are allowed.
    """
    assert _fork is not None  # _is_single_threaded has seen it
    child = _fork()
    if child == 0:
        try:
            if _fork() == 0:
                return True
        except OSError:
            _exit(1)
        _exit(0)
    try:
        failed = _waitpid(child, 0)[1]
    except ChildProcessError:  # the student's code ignores SIGCHLD
        failed = 0
    if failed:
        raise OSError("the second process could not be made")
    return False


def _is_single_threaded() -> bool:
    if _fork is None or _active_threads() > 1:
        return False
    try:
        return len(_listdir("/proc/self/task")) == 1
    except OSError:
        return True  # /proc is hidden; libraries start no threads where their pools are set to one
