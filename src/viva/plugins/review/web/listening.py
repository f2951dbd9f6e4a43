"""The socket of `viva review`, which only this machine reaches by default, and the host names for it."""

import contextlib
import errno
import ipaddress
import os
import socket
from dataclasses import dataclass
from typing import Final

from viva.model.errors import UsageError

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128


@dataclass(frozen=True, slots=True)
class ListeningSocket:
    """A listening socket."""

    socket: socket.socket
    port: int
    name: str
    """The host name for a browser."""
    hosts: tuple[str, ...] | None
    """The allowed names in the Host header; None if other machines may connect, by any name of this machine."""

    def origin(self, scheme: str) -> str:
        """Return the address without a path."""
        return f"{scheme}://{self.name}:{self.port}"


def is_loopback(address: str | None) -> bool:
    """Return whether only this machine can reach the address; None means the default.

    Raises:
        UsageError: there is no such address.
    """
    return address is None or ipaddress.ip_address(_resolved(address)[1].partition("%")[0]).is_loopback


def listen(address: str | None, port: int | None, last: int) -> tuple[ListeningSocket, bool]:
    """Bind a socket and listen.

    Args:
        address: an address of this machine; None for 127.0.0.1.
        port: the port; None for `last`, or for any free one if that is taken.
        last: the port of the last run, 0 for none.

    Returns:
        The socket, and whether another program uses the port of the last run.

    Raises:
        UsageError: the port is taken or not allowed, or the address is not of this machine.
    """
    family, numeric = _resolved(address or LOOPBACK)
    if port is None and last:
        with contextlib.suppress(OSError):
            return _listening(_bound(family, numeric, last), address), False
    try:
        return _listening(_bound(family, numeric, port or 0), address), port is None and last != 0
    except OSError as error:
        raise UsageError(_sentence(address or LOOPBACK, port, error)) from None


def _bound(family: socket.AddressFamily, numeric: str, port: int) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # skips the wait after a restart; on Windows it would share the port with other programs
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((numeric, port))
        bound.listen(_BACKLOG)
    except BaseException:
        bound.close()
        raise
    return bound


def _listening(bound: socket.socket, address: str | None) -> ListeningSocket:
    numeric, port = bound.getsockname()[:2]
    name = f"[{numeric}]" if ":" in numeric else numeric
    if is_loopback(address):
        return ListeningSocket(bound, port, name, (LOOPBACK, "localhost", "[::1]", "::1", name))
    everywhere = ipaddress.ip_address(numeric.partition("%")[0]).is_unspecified
    return ListeningSocket(bound, port, socket.gethostname() if everywhere else name, None)


def _resolved(address: str) -> tuple[socket.AddressFamily, str]:
    """Return the first numeric address of a name.

    Raises:
        UsageError: there is no such address.
    """
    try:
        family, *_, found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise UsageError(f"--host {address}: there is no such address; give one of this machine, or 0.0.0.0.") from None
    return family, str(found[0])


def _sentence(address: str, port: int | None, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"--port {port}: another program listens there; say another one, or leave it out."
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"--port {port}: it is kept for the system's own programs; say one from 1024 on, or leave it out."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {address}: this machine has no such address; give one of its own, or 0.0.0.0."
    return f"`viva review` cannot listen at {address}: {error.strerror}."
