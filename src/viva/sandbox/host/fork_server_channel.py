"""A connection to a fork server: asks for boxes, learns which of them have ended."""

import contextlib
import errno
import os
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final

import viva.sandbox.guest.transport.control as control
from viva.model.errors import BoxUnavailable
from viva.sandbox.guest.process.counted_time import wall_countdown
from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.reactor import Reactor

START_S: Final = 120.0
"""Importing torch from a cold disk takes long; a fork server that uses this much time will never start. What it waits
for a processor, on a busy machine, hardly counts."""
_SPAWN_S: Final = 60.0

Answer = tuple[dict[str, Any], list[int]]


class ForkServerChannel:
    """A connection to a fork server that another examiner has started, and ends; to close it ends its boxes."""

    def __init__(self, channel: socket.socket, reactor: Reactor) -> None:
        """Take over a connection; `greeting` comes next.

        Args:
            channel: this end of it.
            reactor: watches it.
        """
        self._channel, self._reactor = channel, reactor
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Answer]] = {}
        self._resources: dict[int, BoxResources] = {}
        self._closed = False
        self.ready: dict[str, Any] = {}
        """The first message of the fork server."""
        self.lost = False
        """Whether the fork server ended while the connection was open."""

    def greeting(self, left_s: Callable[[], float] | None = None) -> dict[str, Any]:
        """Wait for the first message, and return it.

        Args:
            left_s: how long to wait; None for the longest time that a start may take.
        """
        try:
            message = self._first_message(left_s or wall_countdown(START_S))
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
    def alive(self) -> bool:
        """Return whether it can still make boxes."""
        return not (self._closed or self.lost)

    def last_line(self) -> str:
        """Return the last line that the fork server itself printed, in brackets; empty if it printed nothing."""
        return ""

    def offer(self, other: socket.socket) -> None:
        """Give another examiner a connection to the fork server; it has none if the fork server has ended."""
        with self._lock, contextlib.suppress(OSError):
            control.send(self._channel, {"other": True}, [other.fileno()])

    def request(self, resources: BoxResources, policy: dict[str, object], descriptors: Sequence[int]) -> None:
        """Ask for a box.

        Args:
            resources: receives the box's folder and a pidfd of its first process.
            policy: fields of viva.model.Limits, and `seed`.
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
        """Close the connection; boxes that are left end then. May be called more than once."""
        if self._closed:
            return
        self._hang_up()
        self._forget()
        self._channel.close()

    def _hang_up(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)

    def _forget(self) -> None:
        self._reactor.forget(self._channel)
        self._all_ended()

    def _receive(self) -> bool:
        """Process one message of the fork server; return False when it has ended."""
        try:
            message, fds = control.receive(self._channel)
        except (EOFError, OSError):
            self.lost = not self._closed
            self._all_ended()
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

    def _all_ended(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for future in pending.values():
            future.set_exception(BoxUnavailable(f"the fork server has ended{self.last_line()}"))
        for resources in list(self._resources.values()):
            resources.ended.set()
