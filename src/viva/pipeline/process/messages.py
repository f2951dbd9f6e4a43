"""What the examiner and its parent say to each other: msgpack in frames with a length, plain data only."""

import socket
import struct
from collections.abc import Mapping
from typing import Any, Final

import msgpack

_LENGTH: Final = struct.Struct(">I")
_SURROGATES: Final = "surrogatepass"
"""Texts of students may hold lone surrogates; they are escaped where they are shown."""


def send(sock: socket.socket, message: Mapping[str, object]) -> None:
    """Send one message.

    Raises:
        OSError: the other side is gone.
    """
    body = msgpack.packb(message, use_bin_type=True, unicode_errors=_SURROGATES)
    sock.sendall(_LENGTH.pack(len(body)) + body)


def receive(sock: socket.socket) -> dict[str, Any] | None:
    """Return the next message, or None if the other side has closed the connection.

    Raises:
        TimeoutError: the socket's time limit passed.
    """
    head = _exactly(sock, _LENGTH.size)
    if head is None:
        return None
    body = _exactly(sock, _LENGTH.unpack(head)[0])
    if body is None:
        return None
    return dict(msgpack.unpackb(body, raw=False, strict_map_key=False, unicode_errors=_SURROGATES))


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        try:
            part = sock.recv(min(size - len(data), 1 << 20))
        except ConnectionResetError:  # the other side ended before it had read everything
            return None
        if not part:
            return None
        data += part
    return bytes(data)
