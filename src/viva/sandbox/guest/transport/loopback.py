"""A connection over 127.0.0.1 to a new process that cannot inherit one, authenticated by a token.

Only Windows needs it. The process gets the token through its standard input, never on its command line, which others
can read. A connection without the token is closed.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import subprocess
import time

TCP = "tcp"
"""On a command line, the number after it is a port, not a descriptor."""
TOKEN_BYTES = 32
_CONNECT_S = 60.0
_HELLO_S = 5.0
_POLL_S = 0.2
_read, _exit = os.read, os._exit
"""References from before the student can replace the functions."""


class Listener:
    """Waits for the connection of one process; use it as a context, because it must listen only while that starts."""

    def __init__(self) -> None:
        """Listen on a port that the system chooses.

        Raises:
            OSError: This machine has no loopback interface.
        """
        self.token = secrets.token_bytes(TOKEN_BYTES)
        self._server = socket.create_server(("127.0.0.1", 0), backlog=4)

    @property
    def port(self) -> int:
        """Return the port, for the command line of the process."""
        return int(self._server.getsockname()[1])

    def accept(self, process: "subprocess.Popen[bytes]") -> socket.socket:
        """Accept the connection with the token, and close any other.

        Raises:
            ConnectionError: The process ended, or did not connect in time.
        """
        deadline = time.monotonic() + _CONNECT_S
        self._server.settimeout(_POLL_S)
        while process.poll() is None and time.monotonic() <= deadline:
            try:
                end, _ = self._server.accept()
            except socket.timeout:
                continue
            if hmac.compare_digest(_receive_exactly(end, TOKEN_BYTES), self.token):
                end.settimeout(None)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return end
            end.close()
        raise ConnectionError("it did not connect")

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.close()


def connect(port: int, token: bytes) -> socket.socket:
    """Make one connection from the new process.

    Raises:
        OSError: No one listens.
    """
    end = socket.create_connection(("127.0.0.1", port), _CONNECT_S)
    end.sendall(token)
    end.settimeout(None)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def read_token() -> bytes:
    """Read the token at the beginning of standard input; later data stays there."""
    token = b""
    while len(token) < TOKEN_BYTES:
        part = os.read(0, TOKEN_BYTES - len(token))
        if not part:
            raise EOFError("no token came")
        token += part
    return token


def keep_input() -> int:
    """Move standard input to another descriptor, and replace it by an empty one."""
    kept, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return kept


def wait_for_end(kept: int) -> None:
    """Wait, in a thread, until the other end of the former standard input is closed; no one writes to it any more.

    However the process at the other end ends, the system closes its end.
    """
    try:
        while _read(kept, 1):
            continue
    except OSError:
        return  # Windows reports a closed pipe like this


def end_with(kept: int) -> None:
    """End this process when the process at the other end of the former standard input ends."""
    wait_for_end(kept)
    _exit(0)


def _receive_exactly(end: socket.socket, size: int) -> bytes:
    """Receive `size` bytes within a few seconds, or fewer if the other side stops."""
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
