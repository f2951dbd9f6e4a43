"""ASGI middleware around the pages, which answers every request that must not reach them."""

import sys
import traceback
from html import escape
from typing import TYPE_CHECKING, Final

from viva.formats import escaping
from viva.plugins.review.web.replies import NO_STORE, Reply, Sending, page, redirect, sentence
from viva.plugins.review.web.sign_in import login
from viva.plugins.review.web.sign_in.access import Access, Session, same
from viva.plugins.review.web.sign_in.request_checks import METHODS, Disconnected, RequestHead, TooLarge, body_of, replay
from viva.plugins.review.web.static_files import FOREVER, PREFIX, files

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

UPLOAD: Final = "/marks.csv"
"""The path to which a table of grades is uploaded."""
MOST_BYTES: Final = 1024**2
MOST_UPLOADED_BYTES: Final = 16 * 1024**2
_SIGN_IN_STYLE: Final = f"{PREFIX}plain.css"
"""The style sheet of the sign-in page."""
_ALLOW: Final = ("allow", ", ".join(METHODS))
_OTHER_NAME: Final = "No review is served under this name: open the address that `viva review` printed."
_NO_METHOD: Final = "Pages are read and forms are sent here, and nothing else is possible: go back to the review."
_NO_REQUEST: Final = "This is not a request that a browser sends: open the address that `viva review` printed."
_TOO_LARGE: Final = "This is more than can be taken at once, and nothing was changed: send less."
_CLOSED: Final = "This page is closed to you: open the address that `viva review` printed."
_SIGNED_OUT: Final = "You are signed out, and nothing was changed: load the page again and sign in."
_OTHER_SITE: Final = "Another page has sent this, and nothing was changed: go back to the review and do it there."
_OLD_FORM: Final = "This form does not belong to your session, and nothing was changed: load the page again."
_NO_FORM: Final = "This form cannot be read, and nothing was changed: load the page again."
_FAULT: Final = (
    "Something went wrong on viva's side, and the terminal in which it runs says what: load the page again, and "
    "see whether what you did last was kept."
)


class Guard:
    """Passes requests with a session to the app; requests that change something must come from the app's own pages.

    The app finds the session as `scope["viva"]`. `/static/`, `/login` and `/logout` are answered here.
    """

    def __init__(self, app: "ASGIApp", access: Access) -> None:
        self._app, self._access = app, access
        self._login = login.Login(access)
        self._scheme = "https" if access.https else "http"

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request, or pass it to the app."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        head = RequestHead.of(scope)
        try:
            answer = self._refusal(head) or await self._without_session(head, receive)
            if answer is None:
                answer = await self._with_session(head, scope, receive, send)
        except TooLarge:
            answer = sentence(413, _TOO_LARGE, plain=head.by_script)
        except Disconnected:
            return None
        if answer is not None:
            await answer.send(send)
        return None

    def _refusal(self, head: RequestHead) -> Reply | None:
        """Return the reply to an invalid request; None if the request is valid."""
        if not head.host or not head.path.startswith("/"):
            return sentence(400, _NO_REQUEST)
        if not self._access.allows_host(head.host):
            return sentence(421, _OTHER_NAME)
        if head.method not in METHODS:
            return sentence(405, _NO_METHOD, _ALLOW)
        return None

    async def _without_session(self, head: RequestHead, receive: "Receive") -> Reply | None:
        """Return the reply to a request that needs no session; None for any other."""
        if head.path == _SIGN_IN_STYLE and head.safe:
            return _static(head)
        if head.path == login.PATH and self._access.needs_password:
            return await self._login(head, receive)
        if head.path == "/" and head.method == "GET" and self._access.is_token(head.of_query("token")):
            return self._begin_session(head)
        return None

    def _begin_session(self, head: RequestHead) -> Reply:
        """Begin a session, and redirect to an address without the token."""
        cookie = ("set-cookie", self._access.set_cookie(self._access.begin()))
        if head.headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return redirect(self._access.start, cookie)
        # The link is in a file or on another site: browsers store the cookie, but do not send it after a redirect.
        start = escape(self._access.start)
        reload = f'<meta http-equiv="refresh" content="0; url={start}">'
        return page(200, "viva review", f'<p><a href="{start}">To the answers</a></p>', cookie, head=reload)

    async def _with_session(self, head: RequestHead, scope: "Scope", receive: "Receive", send: "Send") -> Reply | None:
        """Return the reply to a request that needs a session; None if the app has answered it."""
        session = self._access.session(head.cookies)
        if session is None:
            return self._no_session(head)
        if head.path.startswith(PREFIX) and head.safe:
            return _static(head)
        if not head.safe:
            body = await self._checked_body(head, scope, receive, session)
            if isinstance(body, Reply):
                return body
            if head.path == "/logout":
                return self._end_session(session)
            receive = replay(body, receive)
        await self._run_app({**scope, "viva": session}, receive, send, session)
        return None

    def _no_session(self, head: RequestHead) -> Reply:
        if not self._access.needs_password:
            return sentence(403, _CLOSED, plain=head.by_script)
        if head.safe and head.for_a_page and not head.by_script:
            return redirect(login.PATH)
        return sentence(403, _SIGNED_OUT, plain=head.by_script)

    def _end_session(self, session: Session) -> Reply:
        """End the session, including copies of its cookie."""
        self._access.end(session)
        expired = ("set-cookie", self._access.header(self._access.cookie, "", 0))
        if self._access.needs_password:
            return redirect(login.PATH, expired)
        return sentence(200, "You are signed out: to go on, open the address that `viva review` printed.", expired)

    async def _checked_body(
        self, head: RequestHead, scope: "Scope", receive: "Receive", session: Session
    ) -> bytes | Reply:
        """Return the body of a request from a page of this session; otherwise the reply that refuses it."""
        if not head.own(self._scheme):
            return sentence(403, _OTHER_SITE, plain=head.by_script)
        body = await body_of(head, receive, MOST_UPLOADED_BYTES if head.path == UPLOAD else MOST_BYTES)
        given = head.headers.get("x-csrf-token")
        if given is None:
            given = await _field("csrf", scope, replay(body, receive))
        if given is None:
            return sentence(400, _NO_FORM, plain=head.by_script)
        return body if same(given, session.csrf) else sentence(403, _OLD_FORM, plain=head.by_script)

    async def _run_app(self, scope: "Scope", receive: "Receive", send: "Send", session: Session) -> None:
        """Let the app answer; print the traceback of an error here, and send one sentence to the browser."""
        renewed = self._access.renewed(session)
        sending = Sending(send, *[("set-cookie", self._access.set_cookie(renewed))] if renewed else ())
        try:
            await self._app(scope, receive, sending)
        except Exception:
            print(escaping.terminal(traceback.format_exc()), file=sys.stderr, flush=True)
            if sending.started:
                raise  # the reply cannot be replaced any more: the server closes the connection
            await sentence(500, _FAULT, plain=RequestHead.of(scope).by_script).send(send)
        else:
            await sending.end()


def _static(head: RequestHead) -> Reply:
    file = files().get(head.path.removeprefix(PREFIX))
    if file is None:
        return sentence(404, "There is no such file: load the page again.")
    return Reply(200, file.data, file.kind, cache=FOREVER if head.of_query("v") == file.digest else NO_STORE)


async def _field(name: str, scope: "Scope", receive: "Receive") -> str | None:
    """Return a field of a form as the app will read it; empty if it is missing, None if the form is invalid."""
    from starlette.formparsers import MultiPartException
    from starlette.requests import Request

    try:
        async with Request(scope, receive).form() as form:
            value = form.get(name, "")
    except (MultiPartException, ValueError, LookupError):
        return None
    return value if isinstance(value, str) else ""
