"""The two connections of a live notebook's examiner: inherited descriptors, or the loopback.

Windows cannot pass descriptors to a new process in this way; there the examiner connects (see loopback.py in
sandbox/guest/transport).
"""

import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Final

import viva.sandbox.guest.transport.loopback as loopback
from viva.model import system

CONTROL: Final = b"C"
WIRE: Final = b"W"
_MODULE: Final = "viva.plugins.selfcheck.live_examiner"


class LaunchedExaminer:
    """An examiner's process and our ends: `control` for requests and scores, `wire` for its questions to the kernel."""

    def __init__(self, process: "subprocess.Popen[bytes]", control: socket.socket, wire: socket.socket) -> None:
        self.process, self.control, self.wire = process, control, wire


def launch(
    environment: Mapping[str, str], folder: Path, log: IO[bytes], *, by_loopback: bool | None = None
) -> LaunchedExaminer:
    """Start an examiner that is connected to us.

    Args:
        environment: all its variables.
        folder: its working directory, the course.
        log: where its standard error goes.
        by_loopback: True to connect as on Windows; None for what this system needs.

    Raises:
        OSError: it cannot be started, or does not connect in time.
    """
    if by_loopback if by_loopback is not None else not system.INHERITS_DESCRIPTORS:
        return _by_loopback(environment, folder, log)
    return _by_descriptors(environment, folder, log)


def connect(arguments: list[str]) -> tuple[socket.socket, socket.socket]:
    """Return the examiner's ends of control and wire, as its command line says."""
    if arguments[0] == "fd":
        return socket.socket(fileno=int(arguments[1])), socket.socket(fileno=int(arguments[2]))
    token = loopback.read_token()
    ends = [loopback.connect(int(arguments[1]), token, role) for role in (CONTROL, WIRE)]
    return ends[0], ends[1]


def _by_descriptors(environment: Mapping[str, str], folder: Path, log: IO[bytes]) -> LaunchedExaminer:
    control, wire = socket.socketpair(), socket.socketpair()
    theirs = [control[1].fileno(), wire[1].fileno()]
    try:
        process = subprocess.Popen(  # noqa: S603  # this interpreter and a module of ours, without a shell
            [sys.executable, "-I", "-m", _MODULE, "fd", *map(str, theirs)],
            pass_fds=theirs,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            process_group=0,  # Ctrl-C is meant for the kernel, which ends the examiner
        )
    except BaseException:
        control[0].close()
        wire[0].close()
        raise
    finally:
        control[1].close()
        wire[1].close()
    return LaunchedExaminer(process, control[0], wire[0])


def _by_loopback(environment: Mapping[str, str], folder: Path, log: IO[bytes]) -> LaunchedExaminer:
    with loopback.Listener() as listener:
        process = subprocess.Popen(  # noqa: S603  # this interpreter and a module of ours, without a shell
            [sys.executable, "-I", "-m", _MODULE, "tcp", str(listener.port)],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        try:
            assert process.stdin is not None  # it is a pipe
            with process.stdin:
                process.stdin.write(listener.token)
            ends = listener.accept(process, CONTROL + WIRE)
        except BaseException as error:
            process.kill()
            process.wait()
            if isinstance(error, ConnectionError):
                raise ConnectionError("the examiner did not connect") from error
            raise
    return LaunchedExaminer(process, ends[CONTROL], ends[WIRE])
