"""Start the process of an examiner: when it is wanted, or before a command knows what it will ask for.

What the process is to do arrives as its first message. One that is started early imports its modules while the command
imports its own; if no one takes it, it ends with the command.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

import viva.sandbox.guest.transport.loopback as loopback
from viva.model import system


class Launched(NamedTuple):
    """A process that has been started."""

    process: subprocess.Popen[bytes]
    sock: socket.socket
    """This end of the connection to it."""
    log: IO[bytes]
    """The file that its standard error goes to."""


_EARLY: Final[list[Launched]] = []
"""A process that has been started early, until it is taken."""


def launch() -> Launched:
    """Return a process that waits for its first message: the one that was started early, or a new one."""
    with contextlib.suppress(IndexError):
        early = _EARLY.pop()
        if early.process.poll() is None:
            return early
        _end(early)
    return _launched()


def launch_early() -> None:
    """Start a process for the next `launch`; does nothing where none can be started now, or only be waited for."""
    if system.INHERITS_DESCRIPTORS:
        with contextlib.suppress(OSError):
            _EARLY.append(_launched())


def end_early() -> None:
    """End a process that was started early and that no one has taken."""
    while _EARLY:
        _end(_EARLY.pop())


def environment() -> dict[str, str]:
    """Return the environment variables that the examiner needs; no box gets any of them."""
    keep = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "TZ")
    return {k: os.environ[k] for k in keep if k in os.environ} | {
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


@contextlib.contextmanager
def new_log() -> Iterator[IO[bytes]]:
    """Return a file for what a process writes to standard error; it is closed if the process cannot be started."""
    log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
    try:
        yield log
    except BaseException:
        log.close()
        raise


def _end(launched: Launched) -> None:
    launched.sock.close()
    launched.process.kill()
    launched.process.wait()
    launched.log.close()


def _launched() -> Launched:
    with new_log() as log:
        if not system.INHERITS_DESCRIPTORS:
            return _launched_by_loopback(log)
        ours, theirs = socket.socketpair()
        try:
            return Launched(_popen([str(theirs.fileno())], log, [theirs.fileno()]), ours, log)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()


def _launched_by_loopback(log: IO[bytes]) -> Launched:
    with loopback.Listener() as listener:
        process = _popen([loopback.TCP, str(listener.port)], log, [])
        assert process.stdin is not None  # a pipe, on systems that do not report a closed connection
        with contextlib.suppress(OSError):  # it has ended, so it does not connect either
            process.stdin.write(listener.token)
            process.stdin.flush()
        with contextlib.suppress(ConnectionError):
            return Launched(process, listener.accept(process, loopback.ONLY)[loopback.ONLY], log)
    ours, theirs = socket.socketpair()  # as if it had connected and ended: its log says why
    theirs.close()
    return Launched(process, ours, log)


def _popen(connection: list[str], log: IO[bytes], inherited: list[int]) -> subprocess.Popen[bytes]:
    """Start the process; if a closed connection cannot tell it that the parent is gone, standard input does."""
    return subprocess.Popen(  # noqa: S603  # starts viva's own module
        [sys.executable, "-I", "-m", "viva.pipeline.process.main", *connection],
        pass_fds=inherited,
        env=environment(),
        stdin=subprocess.DEVNULL if system.TELLS_OF_HANGING_UP else subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=log,
        process_group=0,  # Ctrl-C is meant for us; we end the examiner, and it ends when we are gone
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
