"""A connection to a process that was just started and cannot inherit one: over 127.0.0.1, proved by a token.

Windows alone needs it. The process is told the token through its standard input, never by its command line, which
others can read; whoever else connects does not know it and is turned away.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import subprocess
import time
from typing import Any, Dict

TCP = "tcp"
"""On a command line: the number behind it is a port, and no descriptor."""
ONLY = b"R"
"""The role of a connection where there is one alone."""
TOKEN_BYTES = 32
_CONNECT_S = 60.0
_HELLO_S = 5.0
_LOOK_S = 0.2
_read, _exit = os.read, os._exit
"""Before the student can put something else in their place."""


class Listener:
    """Waits for one process; use as a context, for it listens only while that process starts."""

    def __init__(self) -> None:
        """Listen at a port that the system chooses.

        Raises:
            OSError: this machine has no loopback.
        """
        self.token = secrets.token_bytes(TOKEN_BYTES)
        self._server = socket.create_server(("127.0.0.1", 0), backlog=4)

    @property
    def port(self) -> int:
        """For the command line of the process."""
        return int(self._server.getsockname()[1])

    def accept(self, process: "subprocess.Popen[bytes]", roles: bytes) -> Dict[bytes, socket.socket]:
        """The connections of whoever knows the token, one for each role (a byte), in any order.

        Raises:
            ConnectionError: the process ended, or does not connect in time.
        """
        ends: Dict[bytes, socket.socket] = {}
        try:
            self._fill(ends, process, roles)
        except BaseException:
            for end in ends.values():
                end.close()
            raise
        return ends

    def _fill(self, ends: Dict[bytes, socket.socket], process: "subprocess.Popen[bytes]", roles: bytes) -> None:
        deadline = time.monotonic() + _CONNECT_S
        self._server.settimeout(_LOOK_S)
        while len(ends) < len(roles):
            if process.poll() is not None or time.monotonic() > deadline:
                raise ConnectionError("it did not connect")
            try:
                end, _ = self._server.accept()
            except socket.timeout:
                continue
            said = _exactly(end, 1 + TOKEN_BYTES)
            role = said[:1]
            if not hmac.compare_digest(said[1:], self.token) or role not in roles or role in ends or not role:
                end.close()
                continue
            end.settimeout(None)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ends[role] = end

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_error: Any) -> None:
        self._server.close()


def connect(port: int, token: bytes, role: bytes) -> socket.socket:
    """The new process's side of one connection.

    Raises:
        OSError: nobody listens.
    """
    end = socket.create_connection(("127.0.0.1", port), _CONNECT_S)
    end.sendall(role + token)
    end.settimeout(None)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def read_token() -> bytes:
    """The token at the beginning of standard input; what follows stays there."""
    token = b""
    while len(token) < TOKEN_BYTES:
        part = os.read(0, TOKEN_BYTES - len(token))
        if not part:
            raise EOFError("no token came")
        token += part
    return token


def keep_input() -> int:
    """Keep standard input under another number, and put an empty one in its place."""
    kept, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return kept


def wait_for_end(kept: int) -> None:
    """Wait, in a thread, until the other end of what was standard input is closed; nobody writes to it any more.

    However the process at the other end goes, the system closes its end.
    """
    try:
        while _read(kept, 1):
            continue
    except OSError:
        return  # a pipe that broke, as Windows says it


def end_with(kept: int) -> None:
    """End this process with whoever holds the other end of what was its standard input."""
    wait_for_end(kept)
    _exit(0)


def _exactly(end: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer where the other side stops; all of them within a few seconds."""
    deadline = time.monotonic() + _HELLO_S
    data = b""
    try:
        while len(data) < size:
            end.settimeout(max(deadline - time.monotonic(), 0.001))
            part = end.recv(size - len(data))
            if not part:
                break
            data += part
    except OSError:
        return data
    return data
