"""A user of its own for each box that runs at the same time on this host, whichever examiner made it."""

import itertools
import secrets
import socket
import threading
from typing import Final

from viva.model.errors import BoxUnavailable

FIRST_UID, _COUNT = 60001, 1180
"""A range that Debian keeps free for on-demand use, below what systemd gives out, inside any remapped container."""
_start: Final = itertools.count(secrets.randbelow(_COUNT))
"""Containers do not see each other's reservations, and count their process ids from 1: so chance keeps them apart."""
_lock: Final = threading.Lock()


class BorrowedUid:
    """A user id that no other box of this host has, until `give_back`.

    The reservation is an abstract unix socket: taken in one system call, freed by the kernel however we end.
    """

    def __init__(self) -> None:
        """Take the next free one; raises BoxUnavailable when all are taken."""
        with _lock:
            offset = next(_start)
        for step in range(_COUNT):
            self.uid = FIRST_UID + (offset + step) % _COUNT
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                self._socket.bind(f"\0viva-uid-{self.uid}")
            except OSError:
                self._socket.close()
                continue
            return
        raise BoxUnavailable(f"all {_COUNT} user ids for boxes are taken on this host; close some boxes first")

    def give_back(self) -> None:
        """Nothing runs as this user any more."""
        self._socket.close()
