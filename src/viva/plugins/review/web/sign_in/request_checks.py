"""An untrusted request: its headers, and its body up to a maximum size."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope

SAFE: Final = ("GET", "HEAD")
METHODS: Final = (*SAFE, "POST")
_OWN_SITE: Final = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The method, the address and the headers of a request."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    """Names are in lower case; repeated headers are joined by commas, as HTTP allows."""

    @classmethod
    def of(cls, scope: "Scope") -> "RequestHead":
        """Read the request of an ASGI scope."""
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
            between = "; " if name == "cookie" else ", "
            headers[name] = f"{headers[name]}{between}{text}" if name in headers else text
        return cls(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), headers)

    @property
    def host(self) -> str:
        """Return the Host header; empty if there is none."""
        return self.headers.get("host", "")

    @property
    def cookies(self) -> str:
        """Return the Cookie header; empty if there is none."""
        return self.headers.get("cookie", "")

    @property
    def safe(self) -> bool:
        """Return whether the method changes nothing."""
        return self.method in SAFE

    @property
    def by_script(self) -> bool:
        """Return whether htmx sent the request, which shows the reply within a page."""
        return "hx-request" in self.headers

    @property
    def for_a_page(self) -> bool:
        """Return whether the reply is shown as a page, unlike, for example, a favicon."""
        return "text/html" in self.headers.get("accept", "")

    def of_query(self, name: str) -> str:
        """Return a value of the query; empty if there is none."""
        try:
            return dict(parse_qsl(self.query, max_num_fields=20)).get(name, "")
        except ValueError:  # more fields than any address of these pages has
            return ""

    def own(self, scheme: str) -> bool:
        """Return whether the Origin and Sec-Fetch-Site headers allow that one of these pages sent the request.

        Older browsers leave out one of the two headers.
        """
        origin, site = self.headers.get("origin"), self.headers.get("sec-fetch-site")
        return (origin is None or origin.lower() == f"{scheme}://{self.host.lower()}") and site in (None, *_OWN_SITE)


class TooLarge(Exception):
    """The body is larger than the maximum; the rest of it was not read."""


class Disconnected(Exception):
    """The browser has disconnected before the whole body arrived."""


async def body_of(head: RequestHead, receive: "Receive", most: int) -> bytes:
    """Read the whole body of a request.

    Raises:
        TooLarge: it has more than `most` bytes, or its Content-Length says so.
        Disconnected: the browser has disconnected.
    """
    length = head.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or len(length) > 18 or int(length) > most:
        raise TooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


def replay(body: bytes, receive: "Receive") -> "Receive":
    """Return a `receive` that delivers a body again that was already read."""
    left = [body]

    async def replayed() -> "Message":
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replayed
