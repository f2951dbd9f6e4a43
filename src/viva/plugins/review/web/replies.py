"""Replies to a browser: pages of one sentence, and the headers of every reply."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from viva.plugins.review.web.static_files import address

if TYPE_CHECKING:
    from starlette.types import Message, Send

NO_STORE: Final = "no-store"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
)
_REFUSED: Final = (
    *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "geolocation"),
    *("gyroscope", "magnetometer", "microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "usb"),
)
ALWAYS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: browsers would then send `Origin: null` with the forms of these pages.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": ", ".join(f"{feature}=()" for feature in _REFUSED),
}
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">{head}
<title>{title}</title><link rel="stylesheet" href="{style}"></head>
<body><main>
{body}
</main></body></html>
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply that does not come from the app."""

    status: int
    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    cache: str = NO_STORE

    async def send(self, send: "Send") -> None:
        """Send the reply."""
        own = [("content-type", self.kind), ("content-length", str(len(self.body))), *self.headers]
        headers = with_headers([(name.encode(), value.encode("latin-1")) for name, value in own], self.cache)
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def page(status: int, title: str, body: str, *headers: tuple[str, str], head: str = "") -> Reply:
    """Return a page; title, body and head are HTML."""
    html = _PAGE.format(title=title, body=body, head=head, style=escape(address("plain.css")))
    return Reply(status, html.encode(), headers=headers)


def sentence(status: int, text: str, *headers: tuple[str, str], plain: bool = False) -> Reply:
    """Return a page of one sentence, which says what to do.

    Args:
        status: the HTTP status.
        text: the sentence.
        headers: additional headers.
        plain: whether a script reads the reply and shows the sentence itself.
    """
    if plain:
        return Reply(status, text.encode(), "text/plain; charset=utf-8", headers)
    return page(status, "viva review", f"<h1>viva review</h1>\n<p>{escape(text)}</p>", *headers)


def redirect(where: str, *headers: tuple[str, str]) -> Reply:
    """Return a redirect to an address, by GET."""
    return Reply(303, headers=(("location", where), *headers))


def with_headers(headers: "Iterable[tuple[bytes, bytes]]", cache: str = NO_STORE) -> "list[tuple[bytes, bytes]]":
    """Return the headers of a reply with those of every reply, which the app cannot override."""
    ours = {name.encode(): value.encode() for name, value in {**ALWAYS, "cache-control": cache}.items()}
    kept = [(name, value) for name, value in headers if name.lower() not in ours and name.lower() != b"server"]
    return [*kept, *ours.items()]


class Sending:
    """Sends an app's reply with the headers of every reply.

    A reply of status 500 is held back until the app returns, because frameworks send their own before they raise.
    """

    def __init__(self, send: "Send", *more: tuple[str, str]) -> None:
        self.started = False
        """Whether anything was sent to the browser."""
        self._send = send
        self._more = [(name.encode(), value.encode("latin-1")) for name, value in more]
        self._held: list[Message] = []
        self._holds = False

    async def __call__(self, message: "Message") -> None:
        """Send a message of the app, or hold it back."""
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*with_headers(message.get("headers", [])), *self._more]}
            self._holds = message["status"] == 500
        if self._holds:
            self._held.append(message)
        else:
            self.started = True
            await self._send(message)

    async def end(self) -> None:
        """Send what was held back, after the app has returned."""
        for message in self._held:
            await self._send(message)
