"""The sign-in page, for pages that other machines can reach: the marker's name, the round, and the password."""

import asyncio
import secrets
import unicodedata
from collections.abc import Awaitable, Callable
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from viva.model.hand_grading import FIRST, SECOND
from viva.plugins.review.web.replies import Reply, page, redirect, sentence
from viva.plugins.review.web.sign_in.access import NAME_CHARACTERS, Access, cookie_named, marker_of, same
from viva.plugins.review.web.sign_in.request_checks import RequestHead, body_of

if TYPE_CHECKING:
    from starlette.types import Receive

PATH: Final = "/login"
PAUSE_S: Final = 1.0
"""The wait after a wrong password. Sign-ins are checked one at a time, so a day allows 86,400 guesses."""
MOST_WAITING: Final = 20
_MOST_BYTES: Final = 16 * 1024
_FORM_S: Final = 3600
"""How long the form can be sent after it was loaded."""
_WRONG: Final = "That did not work: give your name and the password of this review, and try again."
_OLD: Final = "This form is too old, or came from another page: load the page again."
_BUSY: Final = "Too many people are signing in: try again in a minute."
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


class Login:
    """The sign-in page, and the check of the password; wrong passwords delay other sign-ins, but no other page."""

    def __init__(self, access: Access, pause: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        self._access, self._pause = access, pause
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    async def __call__(self, head: RequestHead, receive: "Receive") -> Reply:
        """Return the form, or the reply to a form that was sent."""
        if head.safe:
            return self._form(200, head)
        fields = await _fields(head, receive)
        nonce = cookie_named(self._access.login_cookie, head.cookies)
        own = head.own("https" if self._access.https else "http")
        if not (own and nonce and same(fields.get("csrf", ""), self._access.login_csrf(nonce))):
            return sentence(403, _OLD)
        if self._waiting >= MOST_WAITING:
            return sentence(429, _BUSY, ("retry-after", "60"))
        marker = marker_of(fields.get("marker", ""))
        if not await self._is_password(fields.get("password", "")) or marker is None:
            return self._form(403, head, fields)
        session = self._access.begin(marker, SECOND if "second" in fields else FIRST)
        expired = self._access.header(self._access.login_cookie, "", 0)
        return redirect(self._access.start, ("set-cookie", self._access.set_cookie(session)), ("set-cookie", expired))

    async def _is_password(self, password: str) -> bool:
        """Return whether it is the password; only one is checked at a time."""
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                if await asyncio.to_thread(self._access.is_password, password):
                    return True
                await self._pause(PAUSE_S)
                return False
        finally:
            self._waiting -= 1

    def _form(self, status: int, head: RequestHead, given: dict[str, str] | None = None) -> Reply:
        # One nonce for all windows of a browser, so that a form that was loaded earlier stays valid.
        nonce = cookie_named(self._access.login_cookie, head.cookies) or secrets.token_urlsafe(16)
        shown = given or {}
        html = _FORM.format(
            csrf=self._access.login_csrf(nonce),
            longest=NAME_CHARACTERS,
            marker=escape(unicodedata.normalize("NFC", shown.get("marker", ""))[:NAME_CHARACTERS]),
            second=" checked" if "second" in shown else "",
            wrong="" if given is None else f'<p class="wrong" role="alert">{escape(_WRONG)}</p>\n',
        )
        cookie = self._access.header(self._access.login_cookie, nonce, _FORM_S)
        return page(status, "Sign in · viva review", html, ("set-cookie", cookie))


async def _fields(head: RequestHead, receive: "Receive") -> dict[str, str]:
    """Return the fields of the form; none if the body is not such a form."""
    body = await body_of(head, receive, _MOST_BYTES)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20, strict_parsing=False))
    except ValueError:
        return {}
