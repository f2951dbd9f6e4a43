"""A box as the examiner sees it: it answers one request at a time, is watched, and is ended."""

import contextlib
import dataclasses
import functools
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Self

import viva.sandbox.guest.transport.wire as wire
from viva.sandbox import system
from viva.sandbox.errors import BoxDied, BoxError, BoxTimeout, BoxUnavailable, ProtocolViolation
from viva.sandbox.guest.process.counted_time import Countdown, CountedTime, wall_countdown
from viva.sandbox.guest.transport.message_types import Request
from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.captured_output import CapturedOutput, channel
from viva.sandbox.host.exit_reason import reason_of
from viva.sandbox.host.limits import processes
from viva.sandbox.host.ready_message import ReadyMessage
from viva.sandbox.limits import Limits
from viva.sandbox.reply import Reply
from viva.sandbox.tier import Tier

if TYPE_CHECKING:
    from viva.sandbox.host.fork_server import ForkServer
    from viva.sandbox.host.fork_server_connection import ForkServerConnection
    from viva.sandbox.host.standalone_boxes import StandaloneBoxes

_READY_S: Final = 60.0
OUT_OF_MEMORY: Final = "this machine ran out of memory, and the system ended the box; use fewer workers"
_OWN_END_S: Final = 2.0
"""How long a box whose connection broke may take to end by itself, so that the reason it reports is used."""
_LONGEST_S: Final = 7 * 24 * 3600.0
"""A week, used for "no limit": sockets accept no infinite timeout."""
DEFAULT_TIMEOUT_S: Final = 60.0
_REPLIES: Final = ("ok", "raised", "missing", "stop")


class Box:
    """One student's process tree. Use from one thread at a time; different boxes from any threads."""

    def __init__(
        self,
        fork_server: "ForkServer",
        resources: BoxResources,
        sock: socket.socket,
        output: CapturedOutput,
        report: int,
    ) -> None:
        self._fork_server, self.resources, self._socket, self._output = fork_server, resources, sock, output
        self._report = report
        self._asked_s = 0.0
        """Wall seconds of the requests that have ended."""
        self._asked_at: float | None = None
        """When the current request began."""
        self._end_reason = ""
        """Why the box ended; empty until someone checks, unless this process killed it."""
        self._unavailable = ""
        """What of this machine ended the box; empty if the program did."""
        self._closed = False
        self.slept = False
        """Whether the program slept most of the time of the last request, so that nothing held it up."""
        self.ready_message = ReadyMessage("none")
        self.polled_peak_mib = 0.0
        """The highest memory use that the watchdog has seen."""
        self._cgroup_peak_mib = 0.0
        self.afterwards: Callable[[], None] = lambda: None
        """Called once, after everything of the box has been removed."""

    @classmethod
    def create(
        cls,
        fork_server: "ForkServer",
        server: "ForkServerConnection | StandaloneBoxes",
        resources: BoxResources,
        limits: Limits,
        seed: int,
        gpu: Mapping[str, object] | None = None,
    ) -> Self:
        """Ask the server for a box and wait for its ready message.

        Args:
            fork_server: owns the box; supplies the reactor and the watchdog.
            server: makes the processes of the box.
            resources: the box's own resources; they are freed if the box cannot be made.
            limits: what the box may use.
            seed: for the random states of the box before a request carries its own.
            gpu: device files (`devices`) and the UUID for CUDA (`visible`) of the GPU that the box gets, and whether
                torch uses deterministic algorithms (`deterministic`).

        Raises:
            BoxUnavailable: The box could not be made, an isolation layer failed, or an escape attempt succeeded.
        """
        try:
            sock, theirs, (reading, writing, file), (report, reporting) = _channels()
        except OSError as error:
            if resources.cgroup:
                resources.cgroup.close_descriptors()
            resources.free()
            raise BoxUnavailable(f"no box could be made: {error.strerror}") from error
        box = cls(fork_server, resources, sock, CapturedOutput(reading, limits.output_kib, file), report)
        cgroups = resources.cgroup.descriptors if resources.cgroup else []
        try:
            policy = {**dataclasses.asdict(limits), "seed": seed, **({"gpu": dict(gpu)} if gpu else {})}
            descriptors = [theirs.fileno() if theirs else -1, writing, reporting, *cgroups]
            connected = server.request(resources, policy, descriptors)
            if connected is not None:
                sock.close()
                box._socket = connected
        except BaseException:
            resources.ended.set()
            box.close()
            raise
        finally:
            if theirs is not None:
                theirs.close()
            os.close(writing)
            os.close(reporting)
            if resources.cgroup:
                resources.cgroup.close_descriptors()
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
            self.ready_message = ReadyMessage.from_wire(wire.receive(self._socket, wall_countdown(_READY_S)))
        except (EOFError, OSError, wire.WireError) as error:
            self.resources.ended.wait(_OWN_END_S)
            lines = self.printed().decode(errors="replace").strip().splitlines()
            why = lines[-1] if lines else str(error) or "it ended without a word"
            raise BoxUnavailable(f"the box did not come up: {why}") from error
        found = self.ready_message.open_probes
        if found and self._fork_server.tier > Tier.T0:
            raise BoxUnavailable(
                f"a sandbox of isolation level {self._fork_server.tier} was destroyed, because an isolation layer "
                "failed: " + "; ".join(f"{name} ({text})" for name, text in found.items())
            )

    @property
    def alive(self) -> bool:
        """Return whether the box can answer; may still be True for a moment after it has died."""
        return not (self._closed or self._end_reason or self.resources.is_gone)

    def ask(self, op: str, *, timeout_s: float, **fields: object) -> dict[str, object]:
        """Send one request and return the raw reply.

        Args:
            op: the operation, as viva.sandbox.guest.process.worker names it.
            timeout_s: counted seconds (counted_time.py) for the request and the whole reply together.
            **fields: the arguments of the operation: plain values, arrays, Refs.

        Raises:
            BoxTimeout: No complete reply arrived in time; the box was killed.
            BoxDied: The box ended; the message says how.
            BoxUnavailable: The fork server ended, and the box with it; the student's program is not at fault.
            ProtocolViolation: The reply was not a valid message; the box was killed.
            TypeError, wire.TooLarge: The request cannot be sent; the box is unchanged.
        """
        if self._closed or self._end_reason:
            raise BoxDied(self._end_reason or "the box is closed")
        if self.resources.ended.is_set():
            raise self._death()
        parts = wire.dump({"op": op, **fields})
        countdown = Countdown(self._clock, min(timeout_s, _LONGEST_S))
        self._asked_at = time.monotonic()
        try:
            wire.transmit(self._socket, parts, countdown.left_s)
            reply = wire.receive(self._socket, countdown.left_s)
            self.slept = countdown.slept()
        except TimeoutError as error:
            self.slept = countdown.slept()
            self.end_for("no answer in time")
            raise BoxTimeout(f"no answer within {timeout_s:g} s; the box was killed") from error
        except (EOFError, ConnectionError) as error:
            raise self._death() from error
        except wire.WireError as error:
            raise self._violation(str(error)) from error
        finally:
            self._asked_s, self._asked_at = self._busy_s(), None
        if not isinstance(reply, dict) or not any(key in reply for key in _REPLIES):
            raise self._violation("the reply has none of the known forms")
        return reply

    def send(self, request: Request, *, timeout_s: float = DEFAULT_TIMEOUT_S, release: Sequence[int] = ()) -> Reply:
        """Send one request and return the reply; `release` frees kept objects, the rest is as for `ask`."""
        try:
            return Reply.parse(self.ask(request.op, timeout_s=timeout_s, release=release, **request.fields()))
        except ProtocolViolation:
            self.kill()
            raise

    @property
    def counted_s(self) -> float:
        """Return the counted time of all requests so far; between requests, the box has nothing to do."""
        return self._clock.now(exact=True)

    @functools.cached_property
    def _clock(self) -> CountedTime:
        """Return a clock that begins with the first request."""
        return processes.clock_of(lambda: self.resources.first, self._busy_s)

    def _busy_s(self) -> float:
        """Return the wall seconds of all requests so far."""
        return self._asked_s + (0.0 if self._asked_at is None else time.monotonic() - self._asked_at)

    def printed(self) -> bytes:
        """Return what the box wrote to its stdout and stderr descriptors so far, at most the first `output_kib`."""
        return self._output.bytes()

    @property
    def peak_memory_mib(self) -> float:
        """Return the peak memory of the whole box in MiB; 0.0 where this host cannot measure it.

        Without a cgroup it is an upper bound: it includes the memory shared with the fork server until limits come
        near.
        """
        cgroup = self.resources.cgroup
        if cgroup and not self._closed:
            self._cgroup_peak_mib = cgroup.peak_mib
        return self._cgroup_peak_mib or self.polled_peak_mib

    def kill(self) -> None:
        """End the box now; every later request raises BoxDied."""
        self.end_for("the examiner ended it")

    def look_at_output(self) -> None:
        """Read the output where no selector can wait for it, and end a box that floods; called by the watchdog."""
        if not self._output.is_pipe:
            self._drain()

    def close(self) -> None:
        """End the box, wait until all of it has gone, and free its resources. May be called more than once."""
        if self._closed:
            return
        self.resources.kill()
        self._fork_server.watchdog.dismiss(self)
        if not self.resources.ended.wait(20):
            raise BoxError("a box could not be ended within 20 s; the host is overloaded or a process is stuck")
        self._output.drain()
        _ = self.peak_memory_mib
        self._closed = True
        if self._output.is_pipe:
            self._fork_server.reactor.forget(self._output)
        self._output.close()
        self._socket.close()
        os.close(self._report)
        self.resources.free()
        self.afterwards()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def end_for(self, reason: str) -> None:
        """End the box because of a limit that it exceeded, for example; later requests report the reason."""
        self._end_reason = self._end_reason or reason
        self.resources.kill()

    def _drain(self) -> bool:
        more = self._output.drain()
        if self._output.flooded and not self._end_reason:
            self.end_for("too much output")
        return more

    def _death(self) -> BoxDied | BoxUnavailable:
        if not self.resources.ended.wait(_OWN_END_S if not self._end_reason else 0.0):
            self.end_for("it closed the connection to the examiner")
        if not self._end_reason and self._fork_server.lost:
            return BoxUnavailable("the fork server has ended, and with it the box")
        if not self._end_reason:
            report = b""
            with contextlib.suppress(BlockingIOError):
                if system.INHERITS_DESCRIPTORS:  # elsewhere it is complete before `ended` is set
                    os.set_blocking(self._report, False)
                report = os.read(self._report, 4096)
            self._end_reason = reason_of(report, out_of_memory=self.resources.beyond_its_memory)
            if self.resources.killed_for_others(self._end_reason):
                self._unavailable = OUT_OF_MEMORY
        return BoxUnavailable(self._unavailable) if self._unavailable else BoxDied(self._end_reason)

    def _violation(self, what: str) -> ProtocolViolation:
        self.end_for(f"protocol violation: {what}")
        return ProtocolViolation(f"the box sent a message that is not valid and was killed: {what}")


def _channels() -> tuple[socket.socket, socket.socket | None, tuple[int, int, str], tuple[int, int]]:
    """Open the connection, the output channel and the report pipe of a box; all of them or none.

    Where a box cannot inherit its end of the connection, the second socket is None: the first one is then replaced by
    the connection that the box makes itself.
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
