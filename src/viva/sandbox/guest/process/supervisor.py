"""The process that the examiner executes: it starts the fork server in its namespaces, waits, and cleans up.

It holds one end of a lifeline pipe; the examiner holds the other and never writes. However the examiner ends, the pipe
closes, and every process, directory and cgroup of viva is removed. (A parent-death signal would be sent as soon as the
*thread* that started this process ends, which in an examiner may be any thread.)
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import time
from typing import TYPE_CHECKING, NoReturn

from .. import FOLDER
from ..lockdown import identity, kernel_calls, kernel_namespaces
from ..transport import control
from . import descendants, workdirs
from .fork_server import ForkServer

if TYPE_CHECKING:
    from ..transport.message_types import Settings

_END_S = 3.0


def supervise(channel_fd: int, lifeline: int, canary: str) -> NoReturn:
    """Run a fork server until the examiner closes the channel or ends; never returns.

    Args:
        channel_fd: the connection to the examiner.
        lifeline: closes when the examiner ends.
        canary: the examiner's folder, which may not exist yet; removed at the end.
    """
    channel = socket.socket(fileno=channel_fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings: Settings
    try:
        settings, _ = control.receive(channel)
    except (EOFError, ConnectionError):  # the examiner has ended
        shutil.rmtree(canary, ignore_errors=True)
        os._exit(1)
    base = ""
    try:
        tier = settings["tier"]
        settings["engine"] = FOLDER
        if tier in ("T0", "T1"):
            base = settings["base"] = workdirs.make_base(tier, settings["canary"]["examiner"])
        identity.adopt_orphans()
        _enter_namespaces(tier)
        fork_server = _fork_fork_server(settings, channel, lifeline)
    except Exception as error:
        control.send(channel, {"failed": str(error)})
        _clean(base, canary, settings)
        os._exit(1)
    channel.close()
    _wait(fork_server, lifeline)
    _clean(base, canary, settings)
    os._exit(0)


def _enter_namespaces(tier: str) -> None:
    if tier == "T2":
        kernel_namespaces.enter_user_namespace(0, 0)
    if tier in ("T2", "T3"):
        kernel_calls.unshare(kernel_namespaces.NEWPID)


def _fork_fork_server(settings: Settings, channel: socket.socket, lifeline: int) -> int:
    me = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        identity.die_with_parent(0 if settings["tier"] in ("T2", "T3") else me)
        os.close(lifeline)
        fork_server = ForkServer(settings, channel)
        try:
            ready = fork_server.prepare()
        except Exception as error:
            control.send(channel, {"failed": f"{error}", "threads": isinstance(error, RuntimeError)})
            os._exit(1)
        control.send(channel, ready)
        fork_server.serve()
    except (EOFError, ConnectionError):
        pass
    except BaseException as error:
        os.write(2, f"the fork server failed: {type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os._exit(0)


def _wait(fork_server: int, lifeline: int) -> None:
    """Wait until the fork server has ended; kill it if it is slow to end after the lifeline has closed."""
    pidfd = os.pidfd_open(fork_server)
    select.select([pidfd, lifeline], [], [])
    deadline = time.monotonic() + _END_S  # its channel closes too, and it cleans up
    ended, _, _ = select.select([pidfd], [], [], max(0.0, deadline - time.monotonic()))
    if not ended:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    os.waitpid(fork_server, 0)
    os.close(pidfd)


def _clean(base: str, canary: str, settings: Settings) -> None:
    """Remove what an examiner that was killed cannot remove itself."""
    descendants.end_orphans(keep=())
    if base:
        workdirs.remove(base)
    shutil.rmtree(canary, ignore_errors=True)
    for folder in settings["cgroups"]:
        _remove_cgroup(folder)


def _remove_cgroup(folder: str) -> None:
    try:
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                os.rmdir(entry.path)
        os.rmdir(folder)
    except OSError:
        return  # already removed, or one of its processes has not been reaped yet
