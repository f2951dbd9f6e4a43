"""Boxes without a fork server: a fresh interpreter for each. The only way on macOS and Windows; tier T0.

What a box is to be comes through its standard input, which stays open afterwards: when it closes, the examiner is gone.
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
from typing import Any, Final

from viva.model import system
from viva.model.errors import BoxUnavailable
from viva.sandbox.guest.transport.control import OURS
from viva.sandbox.guest.transport.loopback import ONLY, Listener
from viva.sandbox.host.box_resources import Handle
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.leftovers import claim, let_go
from viva.sandbox.host.limits import processes

_PATIENCE_S: Final = 5.0


class FreshInterpreters:
    """Starts a program for each box and waits for it in a thread; the interface of `ForkServerConnection`."""

    def __init__(self, settings: dict[str, Any], python: str) -> None:
        self._settings, self._python = settings, python
        self._base = os.path.realpath(tempfile.mkdtemp(prefix=f"{OURS}{os.getpid()}-"))
        self._claim = claim(self._base)
        self._lock = threading.Lock()
        self._running: dict[int, tuple[subprocess.Popen[bytes], threading.Thread]] = {}
        self.alive = True
        self.lost = False

    def request(self, handle: Handle, policy: dict[str, Any], descriptors: Sequence[int]) -> socket.socket | None:
        """Start one box.

        Args:
            handle: gets the room of the box and the way to kill it.
            policy: fields of viva.model.Limits, and `seed`.
            descriptors: the box's end of the socket (-1 if it cannot inherit one), of its output, of the report of its
                ending; stay the caller's.

        Returns:
            Our end of the connection where the box could not inherit one and has made it itself; else None.

        Raises:
            BoxUnavailable: the interpreter cannot be started.
        """
        rpc, output, report = descriptors[:3]
        handle.room = os.path.join(self._base, str(handle.number))
        work, scratch = os.path.join(handle.room, "work"), os.path.join(handle.room, "tmp")
        for folder in (handle.room, work, scratch):
            os.mkdir(folder, 0o700)
        told = json.dumps({"policy": policy, "work": work, "scratch": scratch, **self._told()}).encode() + b"\n"
        if rpc >= 0:
            process = self._start(["alone", str(rpc)], output, [rpc])
            self._watch(handle, process, report)
            _tell(process, told)
            return None
        with Listener() as listener:
            process = self._start(["dial", str(listener.port)], output, [])
            self._watch(handle, process, report)
            _tell(process, listener.token + told)
            try:
                return listener.accept(process, ONLY)[ONLY]
            except OSError as error:
                self._kill(process)
                handle.ended.wait(_PATIENCE_S)
                raise BoxUnavailable(f"the box did not come up: {error}") from error

    def close(self) -> None:
        """End every box, wait until each is gone."""
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
        let_go(self._claim)

    def said(self) -> str:
        """Nothing: what a box prints is its own."""
        return ""

    def _told(self) -> dict[str, Any]:
        return {"canary": self._settings["canary"], "preload": self._settings["preload"]}

    def _start(self, role: list[str], output: int, inherited: list[int]) -> subprocess.Popen[bytes]:
        if not self.alive:
            raise BoxUnavailable("the fork server is closed")
        try:
            return subprocess.Popen(
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

    def _watch(self, handle: Handle, process: subprocess.Popen[bytes], report: int) -> None:
        kept = os.dup(report)
        thread = threading.Thread(target=self._wait, args=(handle, process, kept), daemon=True)
        with self._lock:
            self._running[handle.number] = (process, thread)
        handle.pid = process.pid
        handle.killer = lambda: self._kill(process)
        thread.start()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """The whole group of the box where there are groups; on Linux also what has left it but not the family."""
        if process.returncode is not None:
            return
        strays = processes.family(process.pid)[1:] if system.FORKS_SAFELY else []
        _kill_group(process)
        for pid in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _wait(self, handle: Handle, process: subprocess.Popen[bytes], report: int) -> None:
        returncode = process.wait()
        if hasattr(os, "killpg"):
            _kill_group(process)  # what the student's process left behind in its group
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        os.write(report, json.dumps({"returncode": returncode}).encode())
        os.close(report)
        shutil.rmtree(str(handle.room), ignore_errors=True)
        with self._lock:
            self._running.pop(handle.number, None)
        handle.ended.set()


def _tell(process: subprocess.Popen[bytes], told: bytes) -> None:
    """Say what the box is to be; one that has ended already, its input closed, shows it by its silence."""
    assert process.stdin is not None  # it is a pipe
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(told)
        process.stdin.flush()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
