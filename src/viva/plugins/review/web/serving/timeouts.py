"""Timeouts for requests, which uvicorn's protocol lacks: it waits for the first request without a limit.

Connections without a request give way to new ones, so that many of them shut no one out.
"""

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
"""The timeout for the head of a request, counted from the connection or the last reply."""
BODY_S: Final = 120.0
"""The timeout for its body; enough for 16 MiB through a slow tunnel."""


MOST_WAITING: Final = 100
"""Connections at once, from which on the oldest one without a request is closed; fewer than the server's own limit."""


class Timeouts(H11Protocol):
    """Closes a connection whose request takes too long, even if it arrives steadily in small parts."""

    head_s = HEAD_S
    body_s = BODY_S
    opened = 0.0
    """When it was connected, or was answered last."""
    _timer: asyncio.TimerHandle | None = None
    _waits_for: tuple[object, object] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the first request, and close another connection if there are many."""
        super().connection_made(transport)
        self.opened = self.loop.time()
        self._watch()
        if len(self.connections) > MOST_WAITING:
            others = (other for other in self.connections if isinstance(other, Timeouts) and other is not self)
            if waiting := [other for other in others if other.is_waiting]:
                min(waiting, key=lambda other: other.opened).transport.abort()

    @property
    def is_waiting(self) -> bool:
        """Return whether no request is being received or answered: it has not come yet, or not to its end."""
        return self.conn.their_state is h11.IDLE and not self.transport.is_closing()

    def data_received(self, data: bytes) -> None:
        """Start the timeout for the next part of a request if this one is complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Start the timeout for the next request, or for the rest of one that was answered early."""
        super().on_response_complete()
        self.opened = self.loop.time()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start one timer for each head and each body; data that arrives in between does not reset it."""
        state = self.conn.their_state
        waits_for = (state, self.cycle) if state in (h11.IDLE, h11.SEND_BODY) else None
        if waits_for == self._waits_for:
            return
        self._stop()
        self._waits_for = waits_for
        if waits_for is not None:
            seconds = self.head_s if state is h11.IDLE else self.body_s
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
