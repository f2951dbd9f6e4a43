"""How long the server waits for a request: uvicorn's protocol, which by itself waits for ever for the first one."""

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 10.0
"""For the head of a request, from the connection or the last reply on."""
BODY_S: Final = 120.0
"""For its body; 16 MiB through a slow tunnel."""


class Patience(H11Protocol):
    """Closes a connection whose request does not come to its end, however steadily it trickles."""

    head_s = HEAD_S
    body_s = BODY_S
    _timer: asyncio.TimerHandle | None = None
    _waits_for: tuple[Any, Any] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Go on waiting for the same, or begin to wait for what comes next."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, or for the rest of one that was answered before it was all here."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """One timer for each head and each body; what arrives in between does not set it back."""
        state = self.conn.their_state
        waits_for = (state, self.cycle) if state in (h11.IDLE, h11.SEND_BODY) else None
        if waits_for == self._waits_for:
            return
        self._stop()
        self._waits_for = waits_for
        if waits_for is not None:
            patience = self.head_s if state is h11.IDLE else self.body_s
            self._timer = self.loop.call_later(patience, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
