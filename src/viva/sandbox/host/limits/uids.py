"""A separate user for each box that runs at the same time on this host, whichever examiner made it."""

import errno
import itertools
import os
import secrets
import socket
import struct
import sys
import threading
from typing import Final

from viva.sandbox.errors import BoxUnavailable

FIRST_UID, _COUNT = 60001, 1180
"""A range that Debian keeps free, below what systemd assigns, and inside the range of any remapped container."""
_RESERVATIONS: Final = "/run/viva-uids"
"""A file with one byte for each user, locked while in use; only root may open it, so no box can take them all."""
_start: Final = itertools.count(secrets.randbelow(_COUNT))
"""A random start: containers do not see each other's reservations, and their pids all count from 1."""
_lock: Final = threading.Lock()


class BorrowedUid:
    """A user id that no other box of this host has, until `give_back`.

    A reservation takes one system call, and the kernel frees it however this process ends. It is a file lock. Where
    the file cannot be written (a container with a read-only /run), it is an abstract unix socket, whose name anyone
    could take.
    """

    def __init__(self) -> None:
        """Take the next free user id; raises BoxUnavailable when all are taken."""
        with _lock:
            offset = next(_start)
        for step in range(_COUNT):
            self.uid = FIRST_UID + (offset + step) % _COUNT
            self._held = _reserve(self.uid)
            if self._held >= 0:
                return
        raise BoxUnavailable(f"all {_COUNT} user ids for boxes are taken on this host; close some boxes first")

    def give_back(self) -> None:
        """Free the user id; nothing may run as this user any more."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1


def _reserve(uid: int) -> int:
    """Return a descriptor that holds the reservation while it is open; -1 if the user is taken."""
    try:
        fd = os.open(_RESERVATIONS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return _reserve_by_socket(uid)
    try:
        _lock_byte(fd, uid)
    except OSError as error:
        os.close(fd)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return -1
        raise
    return fd


def _lock_byte(fd: int, at: int) -> None:
    """Lock one byte for the open file, not for the process, so that boxes of one examiner exclude each other too."""
    assert sys.platform == "linux"
    import fcntl

    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, at, 1, 0))


def _reserve_by_socket(uid: int) -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reservation:
        try:
            reservation.bind(f"\0viva-uid-{uid}")
        except OSError:
            return -1
        return reservation.detach()
