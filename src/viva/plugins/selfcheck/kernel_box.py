"""A student's live kernel as the examiner sees it: asked like a box, and never ended."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import viva.sandbox.guest.transport.wire as wire
from viva.model.errors import BoxDied, BoxTimeout, BoxUnavailable, ProtocolViolation
from viva.sandbox.guest.process.counted_time import Countdown, CountedTime

_LATE_S: Final = 20.0
"""How long a question that was given up may still take before nothing more is asked."""


@dataclass(frozen=True, slots=True)
class LiveReadyMessage:
    """What a kernel reports about itself: there are no isolation layers."""

    versions: Mapping[str, str]
    tier: str = "T0"
    layers: Mapping[str, str] = field(default_factory=dict)
    probes: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ("a fresh start: this was asked of a live notebook",)


class KernelBox:
    """The kernel while one test uses it."""

    def __init__(self, source: "KernelSource") -> None:
        self._source = source
        self._lent_at = source.clock.now()
        self._over = ""

    @property
    def ready_message(self) -> LiveReadyMessage:
        """Return what the kernel reported about itself."""
        return self._source.ready_message

    @property
    def alive(self) -> bool:
        """Return whether it can be asked."""
        return not self._over

    @property
    def counted_s(self) -> float:
        """Return the kernel's counted time since it was lent."""
        return self._source.clock.now(exact=True) - self._lent_at

    @property
    def slept(self) -> bool:
        """Return False: a student checks alone, so that no other test would have to wait."""
        return False

    def ask(self, op: str, *, timeout_s: float, **fields: object) -> dict[str, object]:
        """Send one request and return the raw reply; raise what Box.ask raises."""
        if self._over:
            raise BoxDied(self._over)
        parts = wire.dump({"op": op, **fields})
        try:
            return self._source.exchange(parts, timeout_s)
        except TimeoutError as error:
            self._over = "no answer in time"
            raise BoxTimeout(f"no answer within {timeout_s:g} s") from error
        except (EOFError, OSError) as error:
            self._over = "the notebook's kernel has ended"
            raise BoxDied(self._over) from error
        except wire.WireError as error:
            self._over = f"protocol violation: {error}"
            raise ProtocolViolation(f"the kernel sent a message that is not valid: {error}") from error

    def kill(self) -> None:
        """Ask nothing more until the next loan; the kernel is the student's and keeps running."""
        self._over = self._over or "the examiner gave it back"

    def close(self) -> None:
        """Do the same as `kill`."""
        self.kill()


class KernelSource:
    """Lends the one kernel at the other end of a connection."""

    def __init__(self, sock: socket.socket, ready_message: LiveReadyMessage, clock: CountedTime) -> None:
        """Keep the connection.

        Args:
            sock: the connection; its other end answers as a box's worker does.
            ready_message: what is known of the kernel.
            clock: counts the time of the kernel's process.
        """
        self._sock, self.clock = sock, clock
        self.ready_message = ready_message
        self._late = False
        """Whether an answer is still pending that no one waits for."""

    def take(self) -> KernelBox:
        """Return the kernel.

        Raises:
            BoxUnavailable: it is still busy with a question that was given up.
        """
        if self._late:
            try:
                wire.receive(self._sock, Countdown(self.clock, _LATE_S).left_s)
            except (EOFError, OSError, wire.WireError) as error:
                raise BoxUnavailable("the kernel is still busy with an earlier question") from error
            self._late = False
        return KernelBox(self)

    def exchange(self, parts: list[bytes | memoryview], timeout_s: float) -> dict[str, object]:
        """Send one request and return its reply.

        Raises:
            TimeoutError: no reply came in time.
            EOFError: the connection was closed.
            OSError: the connection failed.
            wire.WireError: the reply is not one of our messages.
        """
        self._sock.settimeout(None)
        self._late = True
        wire.transmit(self._sock, parts)
        reply = wire.receive(self._sock, Countdown(self.clock, timeout_s).left_s)
        self._late = False
        if not isinstance(reply, dict):
            raise wire.WireError("the reply was not a message")
        return reply
