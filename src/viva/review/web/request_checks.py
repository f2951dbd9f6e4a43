"""A request before anybody trusts it: what its headers say, and its body within bounds."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope

SAFE: Final = ("GET", "HEAD")
METHODS: Final = (*SAFE, "POST")
_OWN_SITE: Final = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    """Names in lower case; those that came twice are joined by commas, as HTTP allows."""

    @classmethod
    def of(cls, scope: "Scope") -> "Asked":
        """The request of an ASGI scope."""
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
            between = "; " if name == "cookie" else ", "
            headers[name] = f"{headers[name]}{between}{text}" if name in headers else text
        return cls(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), headers)

    @property
    def host(self) -> str:
        """What the browser believes to speak with; empty where it does not say."""
        return self.headers.get("host", "")

    @property
    def cookies(self) -> str:
        """The Cookie header."""
        return self.headers.get("cookie", "")

    @property
    def safe(self) -> bool:
        """Whether it changes nothing."""
        return self.method in SAFE

    @property
    def by_script(self) -> bool:
        """Whether htmx asks, which shows a sentence within a page."""
        return "hx-request" in self.headers

    @property
    def for_a_page(self) -> bool:
        """Whether somebody looks at what comes back, and not the browser for itself at an icon."""
        return "text/html" in self.headers.get("accept", "")

    def of_query(self, name: str) -> str:
        """A value of the query; empty where there is none."""
        try:
            return dict(parse_qsl(self.query, max_num_fields=20)).get(name, "")
        except ValueError:  # more fields than any address of ours has
            return ""

    def own(self, scheme: str) -> bool:
        """Whether a page of ours has sent this, as far as the browser tells: older ones leave out one or the other."""
        origin, site = self.headers.get("origin"), self.headers.get("sec-fetch-site")
        return (origin is None or origin.lower() == f"{scheme}://{self.host.lower()}") and site in (None, *_OWN_SITE)


class TooLarge(Exception):
    """The body is larger than it may be; most of it was not read."""


class Gone(Exception):
    """The browser has left before all of the body was here."""


async def body_of(asked: Asked, receive: "Receive", most: int) -> bytes:
    """The whole body.

    Raises:
        TooLarge: it has more than `most` bytes, or says so.
        Gone: the browser has left.
    """
    said = asked.headers.get("content-length", "0")
    if not said.isascii() or not said.isdigit() or len(said) > 18 or int(said) > most:
        raise TooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Gone
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


def again(body: bytes, receive: "Receive") -> "Receive":
    """A body that was read, for one more reader."""
    left = [body]

    async def replayed() -> "Message":
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replayed
