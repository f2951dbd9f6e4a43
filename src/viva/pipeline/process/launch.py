"""Start the process of an examiner; what it is to do arrives as its first message."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from typing import IO, NamedTuple

import viva.sandbox.guest.transport.loopback as loopback
from viva.model import system


class Launched(NamedTuple):
    """A process that has been started."""

    process: subprocess.Popen[bytes]
    sock: socket.socket
    """This end of the connection to it."""
    log: IO[bytes]
    """The file that its standard error goes to."""


def environment() -> dict[str, str]:
    """Return the environment variables that the examiner needs; no box gets any of them."""
    keep = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "TZ")
    return {k: os.environ[k] for k in keep if k in os.environ} | {
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def launch() -> Launched:
    """Start a process that waits for its first message."""
    log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
    try:
        if not system.INHERITS_DESCRIPTORS:
            return _launch_by_loopback(log)
        return _launch_by_descriptor(log)
    except BaseException:
        log.close()
        raise


def _launch_by_descriptor(log: IO[bytes]) -> Launched:
    ours, theirs = socket.socketpair()
    try:
        return Launched(_popen([str(theirs.fileno())], log, [theirs.fileno()]), ours, log)
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()


def _launch_by_loopback(log: IO[bytes]) -> Launched:
    with loopback.Listener() as listener:
        process = _popen([loopback.TCP, str(listener.port)], log, [])
        assert process.stdin is not None  # a pipe, on systems that do not report a closed connection
        with contextlib.suppress(OSError):  # it has ended, so it does not connect either
            process.stdin.write(listener.token)
            process.stdin.flush()
        with contextlib.suppress(ConnectionError):
            return Launched(process, listener.accept(process), log)
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
