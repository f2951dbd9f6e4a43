"""A page that is shown immediately while the app is being built, and then reloads itself."""

import asyncio
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from viva.plugins.review.web.replies import page, sentence
from viva.plugins.review.web.sign_in.request_checks import RequestHead

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_RELOAD: Final = '<meta http-equiv="refresh" content="0">'
_LOADING: Final = '<h1>viva review</h1>\n<p role="status">The answers are being fetched …</p>'
_FAILED: Final = "The pages could not be made: the terminal in which `viva review` was started says why."


class LoadingPage:
    """Takes the place of an app while it is being made, because importing its libraries takes seconds.

    The first page request of a session gets the loading page, which reloads immediately. The second one, and every
    request that is not for a page, waits for the app.
    """

    def __init__(self, making: "Future[ASGIApp]") -> None:
        self._making = making
        self._shown_to: set[str] = set()
        """Ids of the sessions that have got the loading page."""

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or pass it to the app."""
        head, session = RequestHead.of(scope), scope["viva"].id
        if not self._making.done() and head.method == "GET" and head.for_a_page and session not in self._shown_to:
            self._shown_to.add(session)
            return await page(200, "viva review", _LOADING, head=_RELOAD).send(send)
        try:
            # Shielded, so that a browser that disconnects does not cancel it for others.
            app = await asyncio.shield(asyncio.wrap_future(self._making))
        except Exception:  # `serve` raises it again and ends
            return await sentence(503, _FAILED, plain=head.by_script).send(send)
        return await app(scope, receive, send)
