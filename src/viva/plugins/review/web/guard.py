"""Who gets to the pages: hosts, sessions, signing in, and the origin of forms, as middleware around the app."""

import asyncio
import secrets
import sys
import time
import traceback
import unicodedata
from collections.abc import Awaitable, Callable
from html import escape
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viva.formats import escaping
from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.review.web.access import LIFETIME_S, NAME_CHARACTERS, RENEWED_S, Access, is_same, normalize_marker
from viva.plugins.review.web.static_files import PREFIX, address, send_static

MAX_BYTES: Final = 1024**2
_LOGIN: Final = "/login"
_LIMITS: Final = {"/marks.csv": 16 * MAX_BYTES, _LOGIN: 16 * 1024}
"""The largest forms of other sizes: a table of grades, and the one for signing in."""
BODY_S: Final = 120.0
"""The time in which a form must arrive; enough for 16 MiB through a slow tunnel."""
PAUSE_S: Final = 1.0
"""The wait after a wrong password. Sign-ins are checked one at a time, so a day allows 86,400 guesses."""
MAX_WAITING: Final = 20
_SIGN_IN_STYLE: Final = f"{PREFIX}plain.css"
_METHODS: Final = ("GET", "HEAD", "POST")
_REFUSED: Final = (
    *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation"),
    *("gyroscope", "magnetometer", "microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "usb"),
)
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: browsers would then send `Origin: null` with the forms of these pages.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": ", ".join(f"{feature}=()" for feature in _REFUSED),
}
"""The headers of every reply."""
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">{head}
<title>viva review</title><link rel="stylesheet" href="{style}"></head>
<body><main>
{body}
</main></body></html>
"""
_FORM: Final = """<h1>viva review</h1>
{wrong}<form method="post" action="/login">
<input type="hidden" name="csrf" value="{csrf}">
<label>Your name<input name="marker" required maxlength="{longest}" autocomplete="username" value="{marker}"></label>
<label class="inline"><input type="checkbox" name="second" value="yes"{second}>
I am a second marker, and do not see what the first one said.</label>
<label>Password of this review
<input type="password" name="password" required autocomplete="current-password"></label>
<button>Sign in</button>
</form>"""
_WRONG: Final = (
    '<p class="wrong" role="alert">That did not work: give your name and the password of this review, and try again.'
    "</p>\n"
)
_CLOSED: Final = "This page is closed to you: open the address that `viva review` printed."
_SIGNED_OUT: Final = "You are signed out, and nothing was changed: load the page again and sign in."
_FAULT: Final = (
    "Something went wrong on viva's side, and the terminal in which it runs says what: load the page again, and "
    "see whether what you did last was kept."
)


class _RefusedError(Exception):
    """A request is refused: the status and the sentence of the reply."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def protect(app: ASGIApp, access: Access) -> ASGIApp:
    """Return an app that passes requests with a session on to `app`, which finds it as `request.session`.

    Requests that change something must come from the pages of the app. `/static/`, `/login` and `/logout` are answered
    here.
    """
    passwords = PasswordCheck(access)

    async def show_form(request: Request) -> Response:
        return _show_form(request, 200, wrong="")

    async def sign_in(request: Request) -> Response:
        async with request.form() as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
        marker = normalize_marker(fields.get("marker", ""))
        is_right = await passwords.check(fields.get("password", ""))
        if is_right is None:
            busy = "Too many people are signing in: try again in a minute."
            return write_sentence(request, 429, busy, {"retry-after": "60"})
        if not is_right or marker is None:
            return _show_form(request, 403, wrong=_WRONG, fields=fields)
        request.session.clear()
        request.session.update(access.begin_session(marker, SECOND if "second" in fields else FIRST))
        return RedirectResponse(access.start, 303)

    async def sign_out(request: Request) -> Response:
        access.end_session(request.session)
        request.session.clear()
        if access.needs_password:
            return RedirectResponse(_LOGIN, 303)
        return write_sentence(
            request, 200, "You are signed out: to go on, open the address that `viva review` printed."
        )

    routes: list[Route | Mount] = [
        Route(f"{PREFIX}{{name:path}}", send_static),
        Route("/logout", sign_out, methods=["POST"]),
    ]
    if access.needs_password:
        routes += [Route(_LOGIN, show_form), Route(_LOGIN, sign_in, methods=["POST"])]
    middleware = [
        Middleware(_Headers),
        Middleware(TrustedHostMiddleware, allowed_hosts=access.hosts or ["*"], www_redirect=False),
        Middleware(
            SessionMiddleware,
            secret_key=access.secret,
            session_cookie=access.cookie,
            max_age=LIFETIME_S,
            same_site="strict",
            https_only=access.https,
        ),
        Middleware(_Guard, access=access),
    ]
    return Starlette(routes=[*routes, Mount("/", app)], middleware=middleware)


class _Headers:
    """Adds the headers of every reply, which the app cannot override."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                del headers["server"]
                headers.update(HEADERS)
                headers["cache-control"] = scope.get("viva.cache", "no-store")
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            if status != 500:  # `show_fault` has not seen it, because the reply had begun
                _print_traceback(error)
            raise  # the server closes the connection


class _Guard:
    """Passes on what a session allows, and refuses the rest."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access
        self._scheme = "https" if access.https else "http"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            reply = self._answer_without_session(request)
            if reply is None and request.method == "POST":
                receive = await self._check_form(request)
        except _RefusedError as error:
            reply = write_sentence(request, error.status, str(error))
        except ClientDisconnect:
            return
        await (reply or self._app)(scope, receive, send)

    def _answer_without_session(self, request: Request) -> Response | None:
        """Return the reply to a request that does not reach the app; None for any other.

        Raises:
            _RefusedError: the request is refused.
        """
        access, path = self._access, request.url.path
        is_read = request.method in ("GET", "HEAD")
        if not path.startswith("/") or "host" not in request.headers:
            raise _RefusedError(400, "This is not a request that a browser sends.")
        if request.method not in _METHODS:
            sentence = "Pages are read and forms are sent here, and nothing else is possible: go back to the review."
            return write_sentence(request, 405, sentence, {"allow": ", ".join(_METHODS)})
        if (path == _SIGN_IN_STYLE and is_read) or (path == _LOGIN and access.needs_password):
            return None
        if path == "/" and request.method == "GET" and access.is_token(request.query_params.get("token", "")):
            return self._enter(request)
        if access.has_session(request.session):
            now = int(time.time())
            if now - request.session["seen"] > RENEWED_S:
                request.session["seen"] = now
            return None
        if not access.needs_password:
            raise _RefusedError(403, _CLOSED)
        if is_read and "text/html" in request.headers.get("accept", "") and "hx-request" not in request.headers:
            return RedirectResponse(_LOGIN, 303)
        raise _RefusedError(403, _SIGNED_OUT)

    def _enter(self, request: Request) -> Response:
        """Begin a session, and lead to an address without the token."""
        request.session.clear()
        request.session.update(self._access.begin_session())
        if request.headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return RedirectResponse(self._access.start, 303)
        # The link is in a file or on another site: browsers store the cookie, but do not send it after a redirect.
        start = escape(self._access.start)
        reload = f'<meta http-equiv="refresh" content="0; url={start}">'
        return _write_page(200, f'<p><a href="{start}">To the answers</a></p>', head=reload)

    async def _check_form(self, request: Request) -> Receive:
        """Check that a request comes from a page of its session; return what delivers its body again.

        Raises:
            _RefusedError: it comes from elsewhere, is too large, or cannot be read.
        """
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        own = f"{self._scheme}://{request.headers['host'].lower()}"
        if (origin is not None and origin.lower() != own) or site not in (None, "same-origin", "none"):
            other = "Another page has sent this, and nothing was changed: go back to the review and do it there."
            raise _RefusedError(403, other)
        body = await _read_body(request, _LIMITS.get(request.url.path, MAX_BYTES))
        given = request.headers.get("x-csrf-token")
        if given is None:
            given = await _read_field(request, body, "csrf")
        if not is_same(given, request.session.get("csrf") or secrets.token_hex()):
            old = "This form does not belong to your session, and nothing was changed: load the page again."
            raise _RefusedError(403, old)
        return _replay(body, request.receive)


class PasswordCheck:
    """Checks passwords one at a time; wrong ones delay other sign-ins, but no other page."""

    def __init__(self, access: Access, pause: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._access, self._pause = access, pause
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def check(self, password: str) -> bool | None:
        """Return whether it is the password; None if too many others wait."""
        if self._waiting >= MAX_WAITING:
            return None
        self._waiting += 1
        try:
            async with self._lock:
                is_right = await asyncio.to_thread(self._access.is_password, password)
                if not is_right:
                    await self._pause(PAUSE_S)
                return is_right
        finally:
            self._waiting -= 1


def write_sentence(request: Request, status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return a page of one sentence, which says what to do; to a script only the sentence, which it shows itself."""
    if "hx-request" in request.headers:
        return PlainTextResponse(sentence, status, headers)
    return _write_page(status, f"<h1>viva review</h1>\n<p>{escape(sentence)}</p>", headers=headers)


def _print_traceback(error: Exception) -> None:
    print(escaping.terminal("".join(traceback.format_exception(error))), file=sys.stderr, flush=True)


def show_fault(request: Request, error: Exception) -> Response:
    """Print the traceback of an error of the app, and return the reply."""
    _print_traceback(error)
    return write_sentence(request, 500, _FAULT)


def _write_page(status: int, body: str, *, head: str = "", headers: dict[str, str] | None = None) -> Response:
    html = _PAGE.format(body=body, head=head, style=escape(address("plain.css")))
    return HTMLResponse(html, status, headers)


def _show_form(request: Request, status: int, *, wrong: str, fields: dict[str, Any] | None = None) -> Response:
    fields = fields or {}
    csrf = request.session.setdefault("csrf", secrets.token_urlsafe(32))
    html = _FORM.format(
        csrf=csrf,
        longest=NAME_CHARACTERS,
        marker=escape(unicodedata.normalize("NFC", fields.get("marker", ""))[:NAME_CHARACTERS]),
        second=" checked" if "second" in fields else "",
        wrong=wrong,
    )
    return _write_page(status, html)


async def _read_body(request: Request, limit: int) -> bytes:
    """Read the whole body of a request.

    Raises:
        _RefusedError: it has more bytes than the limit, or its Content-Length says so, or it does not arrive in time.
    """
    length = request.headers.get("content-length", "0")
    too_large = _RefusedError(413, "This is more than can be taken at once, and nothing was changed: send less.")
    if not length.isascii() or not length.isdigit() or len(length) > 18 or int(length) > limit:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_large
    except TimeoutError:
        raise _RefusedError(408, "This took too long to arrive, and nothing was changed: send it again.") from None
    return bytes(body)


async def _read_field(request: Request, body: bytes, name: str) -> str:
    """Return a field of a form as the app will read it; empty if it is missing.

    Raises:
        _RefusedError: the form cannot be read.
    """
    try:
        async with Request(request.scope, _replay(body, request.receive)).form() as form:
            value = form.get(name, "")
    except (HTTPException, ValueError, LookupError):
        raise _RefusedError(400, "This form cannot be read, and nothing was changed: load the page again.") from None
    return value if isinstance(value, str) else ""


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that delivers a body again that was already read."""
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay
