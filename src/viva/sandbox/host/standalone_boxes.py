"""Boxes without a fork server: a fresh interpreter for each. The only way on macOS and Windows; tier T0.

A box receives its settings through standard input, which stays open afterwards: when it closes, the examiner has ended.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import Final

from viva.sandbox import system
from viva.sandbox.errors import BoxUnavailable
from viva.sandbox.folder_locks import lock_folder, unlock_folder
from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.guest.transport.loopback import Listener
from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.limits import processes

_END_S: Final = 5.0


class StandaloneBoxes:
    """Starts a program for each box and waits for it in a thread; the interface of `ForkServerConnection`."""

    def __init__(self, settings: dict[str, object], python: str) -> None:
        self._settings, self._python = settings, python
        self._base = os.path.realpath(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
        self._lock_fd = lock_folder(self._base)
        self._lock = threading.Lock()
        self._running: dict[int, tuple[subprocess.Popen[bytes], threading.Thread]] = {}
        self.alive = True
        self.lost = False

    def request(
        self, resources: BoxResources, policy: dict[str, object], descriptors: Sequence[int]
    ) -> socket.socket | None:
        """Start one box.

        Args:
            resources: receives the box's folder and the function that kills it.
            policy: fields of Limits, and `seed`.
            descriptors: the box's end of the connection (-1 if it cannot inherit one), of its output and of its exit
                report; the caller closes them.

        Returns:
            The examiner's end of the connection if the box could not inherit one and made it itself; else None.

        Raises:
            BoxUnavailable: The interpreter cannot be started.
        """
        rpc, output, report = descriptors[:3]
        resources.folder = os.path.join(self._base, str(resources.number))
        work, scratch = os.path.join(resources.folder, "work"), os.path.join(resources.folder, "tmp")
        for folder in (resources.folder, work, scratch):
            os.mkdir(folder, 0o700)
        common = {name: self._settings[name] for name in ("canary", "preload")}
        plan = {"policy": policy, "work": work, "scratch": scratch, **common}
        line = json.dumps(plan).encode() + b"\n"
        if rpc >= 0:
            process = self._start(["alone", str(rpc)], output, [rpc])
            self._watch(resources, process, report)
            _send(process, line)
            return None
        with Listener() as listener:
            process = self._start(["dial", str(listener.port)], output, [])
            self._watch(resources, process, report)
            _send(process, listener.token + line)
            try:
                return listener.accept(process)
            except OSError as error:
                self._kill(process)
                resources.ended.wait(_END_S)
                raise BoxUnavailable(f"the box did not come up: {error}") from error

    def close(self) -> None:
        """End every box and wait until each has gone."""
        if not self.alive:
            return
        self.alive = False
        with self._lock:
            running = list(self._running.values())
        for process, _ in running:
            self._kill(process)
        for _, thread in running:
            thread.join()
        shutil.rmtree(self._base, ignore_errors=True)
        unlock_folder(self._lock_fd)

    def last_line(self) -> str:
        """Return nothing: there is no server that could print, and the output of a box belongs to the box."""
        return ""

    def _start(self, role: list[str], output: int, inherited: list[int]) -> subprocess.Popen[bytes]:
        if not self.alive:
            raise BoxUnavailable("the fork server is closed")
        try:
            return subprocess.Popen(  # noqa: S603  # the operator chose the interpreter, viva the rest
                [self._python, "-s", str(START), *role],
                env=environment(),
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=inherited,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise BoxUnavailable(f"{self._python} cannot be started: {error.strerror}") from error

    def _watch(self, resources: BoxResources, process: subprocess.Popen[bytes], report: int) -> None:
        kept = os.dup(report)
        thread = threading.Thread(target=self._wait, args=(resources, process, kept), daemon=True)
        with self._lock:
            self._running[resources.number] = (process, thread)
        resources.pid = process.pid
        resources.killer = lambda: self._kill(process)
        thread.start()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the process group of the box where there are groups; on Linux also descendants that left the group."""
        if process.returncode is not None:
            return
        strays = processes.family(process.pid)[1:] if system.FORKS_SAFELY else []
        _kill_group(process)
        for pid in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _wait(self, resources: BoxResources, process: subprocess.Popen[bytes], report: int) -> None:
        returncode = process.wait()
        if hasattr(os, "killpg"):
            _kill_group(process)  # what the student's process left behind in its group
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        os.write(report, json.dumps({"returncode": returncode}).encode())
        os.close(report)
        shutil.rmtree(str(resources.folder), ignore_errors=True)
        with self._lock:
            self._running.pop(resources.number, None)
        resources.ended.set()


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write the settings of the box; one that has ended already is noticed when it does not answer."""
    assert process.stdin is not None  # it is a pipe
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(data)
        process.stdin.flush()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
