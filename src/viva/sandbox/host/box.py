"""A box as the examiner sees it: asked one question at a time, watched, ended."""

import contextlib
import dataclasses
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

import viva.sandbox.guest.transport.wire as wire
from viva.model import Limits, Tier, system
from viva.model.errors import BoxDied, BoxError, BoxTimeout, BoxUnavailable, ProtocolViolation
from viva.sandbox.host.box_resources import Handle
from viva.sandbox.host.captured_output import Output, channel
from viva.sandbox.host.exit_reason import reason_of
from viva.sandbox.host.ready_message import ReadyMessage

if TYPE_CHECKING:
    from viva.sandbox.host.fork_server import ForkServer, Server

_HELLO_S: Final = 60.0
_LAST_WORDS_S: Final = 2.0
"""How long a box whose socket broke may take to end by itself, so that its own ending is reported."""
_LONGEST_S: Final = 7 * 24 * 3600.0
"""A week stands for "no limit", which sockets do not know."""
_REPLIES: Final = ("ok", "raised", "missing", "stop")


class Box:
    """One student's process tree. Use from one thread at a time; different boxes from any threads."""

    def __init__(
        self, fork_server: "ForkServer", handle: Handle, sock: socket.socket, output: Output, report: int
    ) -> None:
        self._fork_server, self._handle, self._socket, self._output = fork_server, handle, sock, output
        self._report = report
        self._verdict = ""
        """Why we killed it, when we did."""
        self._closed = False
        self._out_of_memory = False
        self.ready_message = ReadyMessage("none")
        self.polled_peak_mib = 0.0
        """The most the watchdog has seen."""
        self._cgroup_peak_mib = 0.0
        self.afterwards: Callable[[], None] = lambda: None
        """Called once, when nothing of the box is left."""

    @classmethod
    def born(
        cls,
        fork_server: "ForkServer",
        server: "Server",
        handle: Handle,
        limits: Limits,
        seed: int,
        gpu: Mapping[str, Any] | None = None,
    ) -> Self:
        """Ask the server of the fork server for a box and wait for its hello.

        Args:
            gpu: device files (`devices`) and the UUID for CUDA (`visible`) of the GPU that it is given.

        Raises:
            BoxUnavailable: it could not be made, a wall did not stand, or an attempt to get out succeeded.
        """
        try:
            sock, theirs, (reading, writing, file), (report, reporting) = _channels()
        except OSError as error:
            if handle.cgroup:
                handle.cgroup.close_descriptors()
            handle.free()
            raise BoxUnavailable(f"no box could be made: {error.strerror}") from error
        box = cls(fork_server, handle, sock, Output(reading, limits.output_kib, file), report)
        cgroups = handle.cgroup.descriptors if handle.cgroup else []
        try:
            policy = {**dataclasses.asdict(limits), "seed": seed, **({"gpu": dict(gpu)} if gpu else {})}
            descriptors = [theirs.fileno() if theirs else -1, writing, reporting, *cgroups]
            connected = server.request(handle, policy, descriptors)
            if connected is not None:
                sock.close()
                box._socket = connected
        except BaseException:
            handle.ended.set()
            box.close()
            raise
        finally:
            if theirs is not None:
                theirs.close()
            os.close(writing)
            os.close(reporting)
            if handle.cgroup:
                handle.cgroup.close_descriptors()
        try:
            if box._output.is_pipe:
                fork_server.reactor.watch(box._output, box._drain)
            fork_server.watchdog.guard(box, limits)
            box._greet()
        except BaseException:
            box.close()
            raise
        return box

    def _greet(self) -> None:
        try:
            self.ready_message = ReadyMessage.from_wire(wire.receive(self._socket, time.monotonic() + _HELLO_S))
        except (EOFError, OSError, wire.WireError) as error:
            self._handle.ended.wait(_LAST_WORDS_S)
            said = self.printed().decode(errors="replace").strip().splitlines()
            why = said[-1] if said else str(error) or "it ended without a word"
            raise BoxUnavailable(f"the box did not come up: {why}") from error
        found = self.ready_message.open_probes
        if found and self._fork_server.tier > Tier.T0:
            raise BoxUnavailable(
                f"a box of tier {self._fork_server.tier} was destroyed because a wall did not hold: "
                + "; ".join(f"{name} ({text})" for name, text in found.items())
            )

    @property
    def alive(self) -> bool:
        """Whether it can be asked; may still be True for a moment after it has died."""
        return not (self._closed or self._verdict or self._handle.is_gone)

    def ask(self, op: str, *, timeout_s: float, **fields: Any) -> dict[str, Any]:
        """Send one request and return the raw reply.

        Args:
            op: the operation, as viva.sandbox.guest.process.worker names it.
            timeout_s: wall seconds for the request and the whole reply together.
            **fields: what the operation needs; plain values, arrays, Refs.

        Raises:
            BoxTimeout: no whole reply in time; the box was killed.
            BoxDied: the box ended; says how.
            BoxUnavailable: the fork server ended and took the box along, which is no fault of the student's program.
            ProtocolViolation: the reply was no message of ours; the box was killed.
            TypeError, wire.TooLarge: the request cannot be sent; nothing has happened to the box.
        """
        if self._closed or self._verdict:
            raise BoxDied(self._verdict or "the box is closed")
        if self._handle.ended.is_set():
            raise self._death()
        parts = wire.dump({"op": op, **fields})
        deadline = time.monotonic() + min(timeout_s, _LONGEST_S)
        try:
            for part in parts:
                self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
                self._socket.sendall(part)
            reply = wire.receive(self._socket, deadline)
        except TimeoutError as error:
            self._end("no answer in time")
            raise BoxTimeout(f"no answer within {timeout_s:g} s; the box was killed") from error
        except (EOFError, ConnectionError) as error:
            raise self._death() from error
        except wire.WireError as error:
            raise self._violation(str(error)) from error
        if not isinstance(reply, dict) or not any(key in reply for key in _REPLIES):
            raise self._violation("the reply has none of the known forms")
        return reply

    def printed(self) -> bytes:
        """What the box wrote to its stdout and stderr descriptors so far, the first `output_kib` of it."""
        return self._output.bytes()

    @property
    def peak_memory_mib(self) -> float:
        """Most memory the whole box used at once; 0.0 where nothing on this host can say.

        Without a cgroup an upper bound: what the fork server shares with the box is in it until limits come near.
        """
        cgroup = self._handle.cgroup
        if cgroup and not self._closed:
            self._cgroup_peak_mib = cgroup.peak_mib
        return self._cgroup_peak_mib or self.polled_peak_mib

    @property
    def handle(self) -> Handle:
        """For the watchdog."""
        return self._handle

    def kill(self) -> None:
        """End it now; every later question raises BoxDied."""
        self._end("the examiner ended it")

    def look_at_output(self) -> None:
        """Where no selector can wait for what is printed: read it, and end a box that floods. For the watchdog."""
        if not self._output.is_pipe:
            self._drain()

    def end_for(self, limit: str) -> None:
        """A limit that we watch was passed: end it, and say so when asked."""
        self._end(limit)

    def close(self) -> None:
        """End it, wait until nothing of it is left, free what belongs to it. May be called again."""
        if self._closed:
            return
        self._handle.kill()
        self._fork_server.watchdog.dismiss(self)
        if not self._handle.ended.wait(20):
            raise BoxError("a box could not be ended within 20 s; the host is overloaded or a process is stuck")
        self._output.drain()
        _ = self.peak_memory_mib
        self._closed = True
        if self._output.is_pipe:
            self._fork_server.reactor.forget(self._output)
        self._output.close()
        self._socket.close()
        os.close(self._report)
        self._handle.free()
        self.afterwards()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _end(self, verdict: str) -> None:
        self._verdict = self._verdict or verdict
        self._handle.kill()

    def _drain(self) -> bool:
        more = self._output.drain()
        if self._output.flooded and not self._verdict:
            self._end("too much output")
        return more

    def _death(self) -> BoxDied | BoxUnavailable:
        if not self._handle.ended.wait(_LAST_WORDS_S if not self._verdict else 0.0):
            self._end("it closed the connection to the examiner")
        if not self._verdict and self._fork_server.lost:
            return BoxUnavailable("the fork server has ended, and with it the box")
        if not self._verdict:
            report = b""
            with contextlib.suppress(BlockingIOError):
                if system.INHERITS_DESCRIPTORS:  # elsewhere it is complete before it is said that the box has ended
                    os.set_blocking(self._report, False)
                report = os.read(self._report, 4096)
            cgroup = self._handle.cgroup
            self._verdict = reason_of(report, out_of_memory=bool(cgroup and cgroup.out_of_memory))
        return BoxDied(self._verdict)

    def _violation(self, what: str) -> ProtocolViolation:
        self._end(f"protocol violation: {what}")
        return ProtocolViolation(f"the box sent no message of ours and was killed: {what}")


def _channels() -> tuple[socket.socket, socket.socket | None, tuple[int, int, str], tuple[int, int]]:
    """The wire, what is printed, the pipe of how it ended; all of them or none.

    Where a box cannot inherit its end of the wire there is none: the first socket is exchanged for the connection that
    the box makes itself.
    """
    with contextlib.ExitStack() as opened:
        theirs: socket.socket | None
        if system.INHERITS_DESCRIPTORS:
            ours, theirs = socket.socketpair()
            opened.callback(theirs.close)
        else:
            ours, theirs = socket.socket(), None
        opened.callback(ours.close)
        output = channel()
        for end in output[:2]:
            opened.callback(os.close, end)
        report = os.pipe()
        opened.pop_all()
    return ours, theirs, output, report
