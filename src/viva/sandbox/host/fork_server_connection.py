"""The connection to the fork server: starts it, sends it requests, hears of endings, ends it."""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final

import viva.sandbox.guest.transport.control as control
from viva.model.errors import BoxUnavailable
from viva.sandbox.host.box_resources import Handle
from viva.sandbox.host.captured_output import Output
from viva.sandbox.host.launch import START, environment
from viva.sandbox.host.reactor import Reactor

_START_S: Final = 120.0
"""Importing torch from a cold disk takes long; a fork server that says nothing for this long never will."""
_SPAWN_S: Final = 60.0
_END_S: Final = 20.0
_KEPT_KIB: Final = 64

Answer = tuple[dict[str, Any], list[int]]


class ForkServerConnection:
    """One running fork server; see viva/sandbox/guest/process/supervisor.py for its own side."""

    def __init__(self, settings: dict[str, Any], python: str, reactor: Reactor) -> None:
        """Start the program and wait until its libraries are warm; `ready` holds what it said.

        Raises:
            BoxUnavailable: the interpreter cannot be executed.
        """
        self._reactor = reactor
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Answer]] = {}
        self._handles: dict[int, Handle] = {}
        self._closed = False
        self.lost = False
        """Whether it ended though nobody here ended it."""
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        lifeline, self._lifeline = os.pipe()
        reading, writing = os.pipe()
        self._said = Output(reading, _KEPT_KIB)
        try:
            self._process = _execute(python, theirs.fileno(), lifeline, writing)
        except OSError as error:
            os.close(self._lifeline)
            self._free()
            raise BoxUnavailable(f"{python} cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(lifeline)
            os.close(writing)
        reactor.watch(self._said, self._said.drain)
        self.ready = self._introduce(settings)

    def _introduce(self, settings: dict[str, Any]) -> dict[str, Any]:
        try:
            self._channel.settimeout(_START_S)
            control.send(self._channel, settings)
            message, _ = control.receive(self._channel)
            self._channel.settimeout(None)
        except (EOFError, OSError) as error:
            return {"failed": f"the fork server did not start ({error})"}
        self._reactor.watch(self._channel, self._hear)
        return message

    @property
    def pid(self) -> int:
        """The process that keeps the fork server."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can still make boxes."""
        return not (self._closed or self.lost) and self._process.poll() is None

    def said(self) -> str:
        """The last line that the fork server itself printed, in brackets; empty when it said nothing."""
        lines = self._said.bytes().decode(errors="replace").strip().splitlines()
        return f" [{lines[-1][:300]}]" if lines else ""

    def request(self, handle: Handle, policy: dict[str, Any], descriptors: Sequence[int]) -> None:
        """Ask for a box.

        Args:
            handle: gets the room of the box and a pidfd of its first process.
            policy: fields of viva.model.Limits, and `seed`.
            descriptors: the box's end of the socket, of its output, of the report of its ending, and its cgroups; they
                stay the caller's.

        Raises:
            BoxUnavailable: the fork server has ended, does not answer, or cannot make one.
        """
        future: Future[Answer] = Future()
        uid = handle.uid.uid if handle.uid else 0
        with self._lock:
            if self.lost:  # nobody would hear the answer
                raise BoxUnavailable(f"the fork server has ended{self.said()}")
            self._pending[handle.number] = future
            self._handles[handle.number] = handle
            try:
                control.send(self._channel, {"number": handle.number, "uid": uid, "policy": policy}, descriptors)
            except OSError as error:
                del self._pending[handle.number], self._handles[handle.number]
                raise BoxUnavailable(f"the fork server has ended{self.said()}") from error
        try:
            answer, fds = future.result(_SPAWN_S)
        except TimeoutError as error:
            raise BoxUnavailable(f"the fork server did not answer within {_SPAWN_S:g} s") from error
        if "error" in answer:
            self._handles.pop(handle.number, None)
            raise BoxUnavailable(f"the fork server could not make a box: {answer['error']}")
        if not fds:  # the kernel dropped it; the box ends when it sees its connection close
            raise BoxUnavailable(f"no box could be made: {os.strerror(errno.EMFILE)}")
        handle.room, handle.pidfd = answer["room"], fds[0]

    def close(self) -> None:
        """End every box and the fork server; waits until nothing of it is left."""
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
        self._reactor.forget(self._channel)
        self._reactor.forget(self._said)
        self._all_ended()
        self._free()
        if self.ready.get("base"):
            shutil.rmtree(self.ready["base"], ignore_errors=True)  # already gone, unless the keeper was killed

    def _free(self) -> None:
        self._channel.close()
        self._said.close()

    def _hear(self) -> bool:
        """One message of the fork server; False when it has ended."""
        try:
            message, fds = control.receive(self._channel)
        except (EOFError, OSError):
            self.lost = not self._closed
            self._all_ended()
            return False
        number = int(message["number"])
        if "ended" in message:
            handle = self._handles.pop(number, None)
            if handle:
                handle.ended.set()
            return True
        with self._lock:
            future = self._pending.pop(number, None)
        try:
            if future is None:
                raise InvalidStateError("nobody waits for it any more")
            future.set_result((message, fds))
        except InvalidStateError:
            for fd in fds:
                os.close(fd)
        return True

    def _all_ended(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for future in pending.values():
            future.set_exception(BoxUnavailable(f"the fork server has ended{self.said()}"))
        for handle in list(self._handles.values()):
            handle.ended.set()


def _execute(python: str, channel: int, lifeline: int, output: int) -> subprocess.Popen[bytes]:
    """The keeper, in a session of its own, so that Ctrl-C reaches us alone."""
    return subprocess.Popen(
        [python, "-s", str(START), "serve", str(channel), str(lifeline)],
        env=environment(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=[channel, lifeline],
        start_new_session=True,
    )
