"""The connection to a fork server: starts it, asks it for boxes, learns which of them have ended, and ends it."""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final

import viva.sandbox.guest.transport.control as control
from viva.sandbox.errors import BoxUnavailable
from viva.sandbox.guest.process.counted_time import Countdown
from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.captured_output import CapturedOutput
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.levels.canary import Canary
from viva.sandbox.host.limits import processes
from viva.sandbox.host.reactor import Reactor

START_S: Final = 120.0
"""Importing torch from a cold disk takes long; a fork server that uses this much time will never start. What it waits
for a processor, on a busy machine, hardly counts."""
_SPAWN_S: Final = 60.0
_END_S: Final = 20.0
_KEPT_KIB: Final = 64

Answer = tuple[dict[str, Any], list[int]]


class ForkServerConnection:
    """One running fork server; viva/sandbox/guest/process/supervisor.py is the other side."""

    def __init__(self, settings: dict[str, object], python: str, reactor: Reactor, canary: Canary) -> None:
        """Start the program and wait until its libraries are imported; `ready` then holds its first message.

        Args:
            settings: the fields of `Settings` in viva/sandbox/guest/transport/message_types.py, but for the canary.
            python: the interpreter that runs it.
            reactor: watches the connection.
            canary: made after the program has started, which removes it if this process is killed.

        Raises:
            BoxUnavailable: The interpreter cannot be executed.
            OSError: The canary cannot be made.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel, self._reactor = ours, reactor
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Answer]] = {}
        self._resources: dict[int, BoxResources] = {}
        self._closed = False
        self.ready: dict[str, Any] = {}
        self.lost = False
        """Whether the fork server ended while the connection was open."""
        lifeline, self._lifeline = os.pipe()
        reading, writing = os.pipe()
        self._output = CapturedOutput(reading, _KEPT_KIB)
        try:
            self._process = _execute(python, theirs.fileno(), lifeline, writing, canary.folder)
        except OSError as error:
            os.close(self._lifeline)
            self._free()
            raise BoxUnavailable(f"{python} cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(lifeline)
            os.close(writing)
        reactor.watch(self._output, self._output.drain)
        try:
            self.ready = self._send_settings({**settings, "canary": canary.make()})
        except OSError:
            self.close()
            raise

    def _send_settings(self, settings: dict[str, object]) -> dict[str, Any]:
        """Send the settings; return the first message, or why none came."""
        left_s = Countdown(processes.clock_of(lambda: self.pid, time.monotonic), START_S).left_s
        self._channel.settimeout(START_S)
        try:
            control.send(self._channel, settings)
            message = self._first_message(left_s)
            self._channel.settimeout(None)
        except (EOFError, OSError) as error:
            return {"failed": f"the fork server did not start ({error})"}
        self._reactor.watch(self._channel, self._receive)
        return message

    def _first_message(self, left_s: Callable[[], float]) -> dict[str, Any]:
        while (seconds := left_s()) > 0:
            self._channel.settimeout(seconds)
            with contextlib.suppress(TimeoutError):
                message: dict[str, Any] = control.receive(self._channel)[0]
                return message
        raise TimeoutError(f"not ready within {START_S:g} s")

    @property
    def pid(self) -> int:
        """Return the pid of the process that supervises the fork server."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Return whether it can still make boxes."""
        return not (self._closed or self.lost) and self._process.poll() is None

    def last_line(self) -> str:
        """Return the last line that the fork server itself printed, in brackets; empty if it printed nothing."""
        lines = self._output.bytes().decode(errors="replace").strip().splitlines()
        return f" [{lines[-1][:300]}]" if lines else ""

    def request(self, resources: BoxResources, policy: dict[str, object], descriptors: Sequence[int]) -> None:
        """Ask for a box.

        Args:
            resources: receives the box's folder and a pidfd of its first process.
            policy: fields of Limits, and `seed`.
            descriptors: the box's end of the connection, of its output and of its exit report, and its cgroups; the
                caller closes them.

        Raises:
            BoxUnavailable: The fork server has ended, does not answer, or cannot make a box.
        """
        future: Future[Answer] = Future()
        uid = resources.user or 0
        with self._lock:
            if self.lost:  # no answer would arrive
                raise BoxUnavailable(f"the fork server has ended{self.last_line()}")
            self._pending[resources.number] = future
            self._resources[resources.number] = resources
            try:
                control.send(self._channel, {"number": resources.number, "uid": uid, "policy": policy}, descriptors)
            except OSError as error:
                del self._pending[resources.number], self._resources[resources.number]
                raise BoxUnavailable(f"the fork server has ended{self.last_line()}") from error
        try:
            answer, fds = future.result(_SPAWN_S)
        except TimeoutError as error:
            raise BoxUnavailable(f"the fork server did not answer within {_SPAWN_S:g} s") from error
        if "error" in answer:
            self._resources.pop(resources.number, None)
            raise BoxUnavailable(f"the fork server could not make a box: {answer['error']}")
        if not fds:  # the kernel dropped it; the box ends when it sees its connection close
            raise BoxUnavailable(f"no box could be made: {os.strerror(errno.EMFILE)}")
        resources.folder, resources.pidfd = answer["folder"], fds[0]

    def close(self) -> None:
        """End every box and the fork server, and wait until all of them have gone."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        os.close(self._lifeline)
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._reactor.forget(self._output)
        self._reactor.forget(self._channel)
        self._mark_all_ended()
        self._free()
        if self.ready.get("base"):
            shutil.rmtree(self.ready["base"], ignore_errors=True)  # already gone, unless the supervisor was killed

    def _receive(self) -> bool:
        """Process one message of the fork server; return False when it has ended."""
        try:
            message, fds = control.receive(self._channel)
        except (EOFError, OSError):
            self.lost = not self._closed
            self._mark_all_ended()
            return False
        number = int(message["number"])
        if "ended" in message:
            resources = self._resources.pop(number, None)
            if resources:
                resources.ended.set()
            return True
        with self._lock:
            future = self._pending.pop(number, None)
        try:
            if future is None:
                raise InvalidStateError("the request was given up")
            future.set_result((message, fds))
        except InvalidStateError:
            for fd in fds:
                os.close(fd)
        return True

    def _mark_all_ended(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for future in pending.values():
            future.set_exception(BoxUnavailable(f"the fork server has ended{self.last_line()}"))
        for resources in list(self._resources.values()):
            resources.ended.set()

    def _free(self) -> None:
        self._channel.close()
        self._output.close()


def _execute(python: str, channel: int, lifeline: int, output: int, canary: str) -> subprocess.Popen[bytes]:
    """Start the supervisor of the fork server in its own session, so that Ctrl-C reaches only this process."""
    return subprocess.Popen(  # noqa: S603  # the operator chose the interpreter; the arguments are numbers and paths of viva
        [python, "-s", str(START), "serve", str(channel), str(lifeline), canary],
        env=environment(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=[channel, lifeline],
        start_new_session=True,
    )
