"""Requests to one platform: the token goes to its site alone, answers are bounded, and refusals become sentences.

- The token is sent over HTTPS, or to this machine. No redirect is followed with it, and no paging link leads elsewhere.
  What comes back does not hold it: an error that repeats the request cannot show it.
- A request that only reads is repeated if no answer came. One that changes something is repeated only if the platform
  said that it did nothing, because it asks for fewer requests.
"""

import contextlib
import functools
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic, sleep
from typing import IO, Any, Final
from urllib.parse import urlsplit

from viva.formats.escaping import line
from viva.plugins.cohorts.lms.access_token import Token
from viva.plugins.cohorts.lms.address import is_loopback
from viva.plugins.cohorts.lms.errors import LmsError, NotAllowed, Unreachable

TRIES: Final = 5
MOST_WAIT_S: Final = 120.0
"""A platform that asks for a longer pause gets an error instead."""
MOST_ANSWER: Final = 64 << 20
"""Bytes of an answer that is not a file."""
_SLOW_S: Final = 30.0
"""Seconds without a byte."""
_TOTAL_S: Final = 600.0
"""Seconds for a whole answer."""
_MOST_REDIRECTS: Final = 5
_BUSY: Final = (502, 503, 504)
_CHUNK: Final = 1 << 16
_THROTTLED: Final = b"rate limit exceeded"

Fields = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the platform answered."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    data: bytes
    links: Mapping[str, str]
    """The addresses of the Link header by their relation."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    method: str
    url: str
    what: str
    """What it is for, as the beginning of a message."""
    fields: Fields = ()
    """In the query of a GET, else in the body."""
    file: tuple[str, bytes, str] | None = None
    """Name, content and type of a file to upload, as the field `file` after all others."""
    headers: Mapping[str, str] | None = None
    """With the token, if the platform expects it there."""
    reads: bool = True
    """Whether repeating it changes nothing."""


class Connection:
    """Sends requests to a site; a context manager."""

    def __init__(self, site: str, token: Token, *, slow_s: float = _SLOW_S) -> None:
        import httpx2  # the commands have checked that it is there

        self.site = site
        self._token = token
        self._httpx = httpx2
        # A proxy of the environment is for other machines, and gets no unencrypted request.
        encrypted = site.startswith("https://")
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(slow_s, connect=15.0), follow_redirects=False, trust_env=encrypted
        )

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_error: object) -> None:
        self._client.close()

    def is_own(self, url: str) -> bool:
        """Return whether an address is on the site: the only place to which the token may be sent."""
        return _origin(url) == _origin(self.site) and urlsplit(url).path.startswith(f"{urlsplit(self.site).path}/")

    def send(self, call: Call) -> Answer:
        """Send a request to the site, again if it was refused for now, and return the answer.

        Raises:
            LmsError: the site refused it or answered with an error or a redirect.
        """
        if not self.is_own(call.url):
            raise LmsError(f"{call.what}: the platform named an address on another site, which gets no token.")
        return self._checked(self._tried(call, functools.partial(self._once, call)), call)

    def send_elsewhere(self, call: Call) -> Answer:
        """Send a request without the token to an address that the platform named; a redirect is an answer.

        Raises:
            LmsError: the address is not encrypted, or it answered with an error.
        """
        self._refuse_plain(call.url, call.what)
        bare = Call(call.method, call.url, call.what, call.fields, call.file, None, call.reads)
        answer = self._tried(bare, functools.partial(self._once, bare))
        return answer if 300 <= answer.status < 400 else self._checked(answer, bare)

    def download(self, call: Call, into: IO[bytes], most: int) -> None:
        """Download a file; a redirect to another site is followed without the token.

        Args:
            into: an empty file; what an attempt that failed wrote is removed.
            most: bytes that are accepted.

        Raises:
            LmsError: it is larger, or it cannot be downloaded completely.
        """
        for _ in range(_MOST_REDIRECTS + 1):
            self._refuse_plain(call.url, call.what)
            headers, fields = (call.headers, call.fields) if self.is_own(call.url) else (None, ())
            method = call.method if fields else "GET"
            now = Call(method, call.url, call.what, fields, None, headers)
            answer = self._tried(now, functools.partial(self._once, now, into, most))
            if not 300 <= answer.status < 400:
                self._checked(answer, now)
                return
            call = Call("GET", self._target(answer, call), call.what, (), None, call.headers)
        raise LmsError(f"{call.what}: the platform redirects more than {_MOST_REDIRECTS} times.")

    def pages(self, call: Call) -> Iterator[Answer]:
        """Yield the answers of a list in pages, which the Link header connects.

        Raises:
            LmsError: as `send`, or the pages lead in a circle.
        """
        seen = {call.url}
        while True:
            answer = self.send(call)
            yield answer
            following = answer.links.get("next")
            if following is None:
                return
            url = self._joined(call.url, following)
            if url in seen or len(seen) > 10_000:
                raise LmsError(f"{call.what}: the pages of the platform's list lead in a circle.")
            seen.add(url)
            call = Call("GET", url, call.what, (), None, call.headers)

    def _tried(self, call: Call, once: Callable[[], Answer]) -> Answer:
        """Try until there is an answer other than to wait."""
        for number in range(TRIES):
            last = number == TRIES - 1
            pause = float(2**number)
            try:
                answer = once()
            except Unreachable:
                if last or not call.reads:
                    raise
            else:
                throttled = _is_throttled(answer)
                if last or not (throttled or (answer.status in _BUSY and call.reads)):
                    return answer
                pause = _asked_pause(answer, pause)
                if pause > MOST_WAIT_S:
                    raise LmsError(f"{call.what}: the platform asks to wait for {pause:.0f} s; run the command later.")
            sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _once(self, call: Call, into: IO[bytes] | None = None, most: int = MOST_ANSWER) -> Answer:
        httpx = self._httpx
        kept = io.BytesIO()
        try:
            with self._client.stream(**self._request(call)) as response:
                is_file = into is not None and response.status_code == 200
                target = into if into is not None and is_file else kept
                target.seek(0)
                target.truncate()
                _copy(response.iter_bytes(_CHUNK), target, most if is_file else MOST_ANSWER, call.what)
                return Answer(
                    response.status_code,
                    {name.lower(): value for name, value in response.headers.items()},
                    self._token.removed_from(kept.getvalue()),
                    {rel: str(each.get("url", "")) for rel, each in response.links.items() if rel is not None},
                )
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
            # The text of these errors may hold the address, and with it what was sent.
            raise Unreachable(f"{call.what}: {_cause(httpx, error)} ({_host(call.url)}).") from None

    def _request(self, call: Call) -> dict[str, Any]:
        request: dict[str, Any] = {"method": call.method, "url": call.url, "headers": dict(call.headers or {})}
        if call.file is not None:
            name, content, kind = call.file
            parts = [(key, (None, value.encode())) for key, value in call.fields]
            request["files"] = [*parts, ("file", (name, content, kind))]
        elif call.fields and call.method == "GET":
            request["params"] = list(call.fields)
        elif call.fields:
            from urllib.parse import urlencode

            request["content"] = urlencode(call.fields).encode()
            request["headers"]["Content-Type"] = "application/x-www-form-urlencoded"
        return request

    def _checked(self, answer: Answer, call: Call) -> Answer:
        """Return a good answer; raise the sentence for any other."""
        status, host = answer.status, _host(call.url)
        if 200 <= status < 300:
            return answer
        if 300 <= status < 400:
            there = _host(self._target(answer, call))
            raise LmsError(
                f"{call.what}: {host} redirects to {there}; pass the address that a browser shows in the end."
            )
        if status == 401 and "www-authenticate" in answer.headers:
            raise NotAllowed(f"{call.what}: {host} does not accept the token; make a new one there.")
        if status in (401, 403) and not _is_throttled(answer):
            raise LmsError(f"{call.what}: the token's owner is not allowed to do that at {host}.")
        if status == 404:
            raise LmsError(f"{call.what}: {host} has no such page, or the token's owner may not see it (404).")
        if _is_throttled(answer):
            raise Unreachable(f"{call.what}: {host} still asks for fewer requests; run the command later.")
        if status >= 500:
            raise Unreachable(f"{call.what}: {host} has an error of its own ({status}); run the command later.")
        raise LmsError(f"{call.what}: {host} refuses the request ({status}{_said(answer)}).")

    def _target(self, answer: Answer, call: Call) -> str:
        return self._joined(call.url, answer.headers.get("location", ""))

    def _joined(self, base: str, address: str) -> str:
        with contextlib.suppress(self._httpx.InvalidURL, ValueError):
            return str(self._httpx.URL(base).join(address))
        return ""

    def _refuse_plain(self, url: str, what: str) -> None:
        parts = urlsplit(url)
        local = self.site.startswith("http://") and parts.scheme == "http" and is_loopback(parts.hostname or "")
        if parts.scheme != "https" and not local:
            raise LmsError(f"{what}: the platform named an address that is not encrypted.")


def _copy(parts: Iterable[bytes], target: IO[bytes], most: int, what: str) -> None:
    """Copy an answer, which may be slow or endless."""
    size, end = 0, monotonic() + _TOTAL_S
    for part in parts:
        size += len(part)
        if size > most:
            raise LmsError(f"{what}: it is larger than {_mib(most)}.")
        if monotonic() > end:
            raise Unreachable(f"{what}: the answer did not end within {_TOTAL_S:.0f} s.")
        target.write(part)


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None:
            return "", "", None
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
        return parts.scheme, parts.hostname or "", port
    except ValueError:
        return "", "", None


def _host(url: str) -> str:
    return line(_origin(url)[1]) or "an address that is not one"


def _is_throttled(answer: Answer) -> bool:
    """Return whether the platform asks for fewer requests; Canvas says so with status 403."""
    return answer.status == 429 or (answer.status == 403 and _THROTTLED in answer.data[:1000].lower())


def _asked_pause(answer: Answer, otherwise: float) -> float:
    """Return the seconds that Retry-After asks for, as a number or a date."""
    asked = answer.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        moment = parsedate_to_datetime(asked)
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    return otherwise


def _said(answer: Answer) -> str:
    """Return what a refused request's answer says, if it is in Canvas's form of errors."""
    import json

    with contextlib.suppress(ValueError, KeyError, IndexError, TypeError, RecursionError):
        errors = json.loads(answer.data)["errors"]
        message = errors[0]["message"] if isinstance(errors, list) else errors
        if isinstance(message, str):
            return f": {line(message, characters=200)}"
    return ""


def _cause(httpx: Any, error: Exception) -> str:
    """Say why no answer came."""
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
        return "no connection"
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.DecodingError | httpx.RemoteProtocolError):
        return "the answer is incomplete or damaged"
    return "the connection broke"


def _mib(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size} bytes"
