"""What a browser gets while the pages are still being made: a page at once, and then the one it has asked for."""

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
    """Stands for an app that is being made: importing its libraries takes longer than a blank page should be looked at.

    The first page that a session asks for says so, and asks for itself again; that request, and every one that is not
    for a page, waits for the app.
    """

    def __init__(self, making: "Future[ASGIApp]") -> None:
        self._making = making
        self._told: set[str] = set()
        """Sessions that have had that page."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or hand it on."""
        asked, session = Asked.of(scope), scope["viva"].id
        if not self._making.done() and asked.method == "GET" and asked.for_a_page and session not in self._told:
            self._told.add(session)
            return await page(200, "viva review", _SOON, head=_AT_ONCE).send(send)
        try:
            app = await asyncio.shield(asyncio.wrap_future(self._making))  # who leaves must not end it for others
        except Exception:  # `serve` tells it, and ends
            return await sentence(503, _NEVER, plain=asked.by_script).send(send)
        return await app(scope, receive, send)
