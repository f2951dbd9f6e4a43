"""A page that is shown at once while the app is still being made, and then reloads itself."""

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from viva.review.web.replies import page, sentence
from viva.review.web.request_checks import Asked

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_AT_ONCE: Final = '<meta http-equiv="refresh" content="0">'
_SOON: Final = '<h1>viva review</h1>\n<p role="status">The answers are being fetched …</p>'
_NEVER: Final = "The pages could not be made: the terminal in which `viva review` was started says why."


class Meanwhile:
    """Takes the place of an app while it is being made, because importing its libraries takes seconds.

    The first page request of a session gets the loading page, which reloads at once. The second one, and every request
    that is not for a page, waits for the app.
    """

    def __init__(self, making: "Future[ASGIApp]") -> None:
        self._making = making
        self._told: set[str] = set()
        """Ids of the sessions that have got the loading page."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or pass it to the app."""
        asked, session = Asked.of(scope), scope["viva"].id
        if not self._making.done() and asked.method == "GET" and asked.for_a_page and session not in self._told:
            self._told.add(session)
            return await page(200, "viva review", _SOON, head=_AT_ONCE).send(send)
        try:
            # Shielded, so that a browser that disconnects does not cancel it for others.
            app = await asyncio.shield(asyncio.wrap_future(self._making))
        except Exception:  # `serve` raises it again and ends
            return await sentence(503, _NEVER, plain=asked.by_script).send(send)
        return await app(scope, receive, send)
