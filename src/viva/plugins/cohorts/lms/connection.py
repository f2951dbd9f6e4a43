"""Requests to one platform: the token goes to its site alone, answers are bounded, and refusals become sentences.

- The token is sent over HTTPS, or to this machine. No redirect is followed with it, and no paging link leads elsewhere.
  What comes back does not hold it: an error that repeats the request cannot show it.
- A request that only reads is repeated if no answer came. One that changes something is repeated only if the platform
  said that it did nothing, because it asks for fewer requests.
"""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic, sleep
from typing import IO, Any, Final
from urllib.parse import urlencode, urljoin, urlsplit

from viva.formats.escaping import line
from viva.plugins.cohorts.lms.answers import LmsError, NotAllowedError, UnreachableError
from viva.plugins.cohorts.lms.site import Token, is_loopback

TRIES: Final = 5
MAX_WAIT_S: Final = 120.0
"""A platform that asks for a longer pause gets an error instead."""
MAX_ANSWER: Final = 64 << 20
"""Bytes of an answer that is not a file."""
_SLOW_S: Final = 30.0
"""Seconds without a byte."""
_TOTAL_S: Final = 600.0
"""Seconds for a whole answer."""
_MAX_REDIRECTS: Final = 5
_MAX_PAGES: Final = 10_000
_BUSY: Final = (502, 503, 504)
_CHUNK: Final = 1 << 16

Fields = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the platform answered."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    data: bytes
    next_page: str = ""
    """The address of the next page of a list."""

    @property
    def is_redirect(self) -> bool:
        """Return whether it names another address."""
        return 300 <= self.status < 400

    @property
    def is_throttled(self) -> bool:
        """Return whether the platform asks for fewer requests; Canvas says so with status 403."""
        says_so = b"rate limit exceeded" in self.data[:1000].lower()
        return self.status == 429 or (self.status == 403 and says_so)


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
        timeout = httpx2.Timeout(slow_s, connect=15.0)
        self._client = httpx2.Client(timeout=timeout, follow_redirects=False, trust_env=encrypted)

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
        answer = self._retry(call)
        _check(answer, call)
        return answer

    def send_elsewhere(self, call: Call) -> Answer:
        """Send a request without the token to an address that the platform named; a redirect is an answer.

        Raises:
            LmsError: the address is not encrypted, or it answered with an error.
        """
        self._refuse_plain(call)
        answer = self._retry(replace(call, headers=None))
        if not answer.is_redirect:
            _check(answer, call)
        return answer

    def download(self, call: Call, into: IO[bytes], max_bytes: int) -> None:
        """Download a file; a redirect to another site is followed without the token.

        Args:
            call: the request.
            into: an empty file; what an attempt that failed wrote is removed.
            max_bytes: how much is accepted.

        Raises:
            LmsError: it is larger, or it cannot be downloaded completely.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            self._refuse_plain(call)
            if not self.is_own(call.url):
                call = Call("GET", call.url, call.what, headers=None)
            answer = self._retry(call, into, max_bytes)
            if not answer.is_redirect:
                _check(answer, call)
                return
            call = Call("GET", _join(call.url, answer.headers.get("location", "")), call.what, headers=call.headers)
        raise LmsError(f"{call.what}: the platform redirects more than {_MAX_REDIRECTS} times.")

    def read_pages(self, call: Call) -> Iterator[Answer]:
        """Yield the answers of a list in pages, which the Link header connects.

        Raises:
            LmsError: as `send`, or the pages lead in a circle.
        """
        seen: set[str] = set()
        while call.url:
            if call.url in seen or len(seen) > _MAX_PAGES:
                raise LmsError(f"{call.what}: the pages of the platform's list lead in a circle.")
            seen.add(call.url)
            answer = self.send(call)
            yield answer
            following = _join(call.url, answer.next_page) if answer.next_page else ""
            call = Call("GET", following, call.what, headers=call.headers)

    def _retry(self, call: Call, into: IO[bytes] | None = None, max_bytes: int = MAX_ANSWER) -> Answer:
        """Try until there is an answer other than to wait."""
        for number in range(TRIES):
            is_last = number == TRIES - 1
            pause = float(2**number)
            try:
                answer = self._once(call, into, max_bytes)
            except UnreachableError:
                if is_last or not call.reads:
                    raise
            else:
                is_busy = answer.status in _BUSY and call.reads
                if is_last or not (answer.is_throttled or is_busy):
                    return answer
                pause = _requested_pause(answer, pause)
                if pause > MAX_WAIT_S:
                    raise LmsError(f"{call.what}: the platform asks to wait for {pause:.0f} s; run the command later.")
            sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _once(self, call: Call, into: IO[bytes] | None = None, max_bytes: int = MAX_ANSWER) -> Answer:
        httpx = self._httpx
        request: dict[str, Any] = {"method": call.method, "url": call.url, "headers": dict(call.headers or {})}
        if call.file is not None:
            parts = [(key, (None, value.encode())) for key, value in call.fields]
            request["files"] = [*parts, ("file", call.file)]
        elif call.fields and call.method == "GET":
            request["params"] = list(call.fields)
        elif call.fields:
            request["content"] = urlencode(call.fields).encode()
            request["headers"]["Content-Type"] = "application/x-www-form-urlencoded"
        text = io.BytesIO()
        try:
            with self._client.stream(**request) as response:
                target: IO[bytes] = text
                limit = MAX_ANSWER
                if into is not None and response.status_code == 200:
                    target, limit = into, max_bytes
                _copy(response.iter_bytes(_CHUNK), target, limit, call.what)
                headers = {name.lower(): value for name, value in response.headers.items()}
                next_page = str(response.links.get("next", {}).get("url", ""))
                return Answer(response.status_code, headers, self._token.remove_from(text.getvalue()), next_page)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
            # The text of these errors may hold the address, and with it what was sent.
            raise UnreachableError(f"{call.what}: {_cause(httpx, error)} ({_host(call.url)}).") from None

    def _refuse_plain(self, call: Call) -> None:
        scheme, host, _ = _origin(call.url)
        is_local = self.site.startswith("http://") and scheme == "http" and is_loopback(host)
        if scheme != "https" and not is_local:
            raise LmsError(f"{call.what}: the platform named an address that is not encrypted.")


def _check(answer: Answer, call: Call) -> None:
    """Raise the sentence for an answer that is not a good one."""
    status, what, host = answer.status, call.what, _host(call.url)
    if 200 <= status < 300:
        return
    if answer.is_redirect:
        target = _host(_join(call.url, answer.headers.get("location", "")))
        raise LmsError(f"{what}: {host} redirects to {target}; pass the address that a browser shows in the end.")
    if status == 401 and "www-authenticate" in answer.headers:
        raise NotAllowedError(f"{what}: {host} does not accept the token; make a new one there.")
    if answer.is_throttled:
        raise UnreachableError(f"{what}: {host} still asks for fewer requests; run the command later.")
    if status in (401, 403):
        raise LmsError(f"{what}: the token's owner is not allowed to do that at {host}.")
    if status == 404:
        raise LmsError(f"{what}: {host} has no such page, or the token's owner may not see it (404).")
    if status >= 500:
        raise UnreachableError(f"{what}: {host} has an error of its own ({status}); run the command later.")
    raise LmsError(f"{what}: {host} refuses the request ({status}{_describe_refusal(answer.data)}).")


def _describe_refusal(data: bytes) -> str:
    """Return what Canvas says of an error, `{"errors": [{"message": "…"}]}` or `{"errors": "…"}`; empty if nothing."""
    with contextlib.suppress(ValueError, KeyError, IndexError, TypeError, RecursionError):
        errors = json.loads(data)["errors"]
        message = errors if isinstance(errors, str) else errors[0]["message"]
        if isinstance(message, str):
            return f": {line(message, characters=200)}"
    return ""


def _copy(parts: Iterator[bytes], target: IO[bytes], max_bytes: int, what: str) -> None:
    """Copy an answer, which may be slow or endless, over what an earlier try wrote."""
    target.seek(0)
    target.truncate()
    size, end = 0, monotonic() + _TOTAL_S
    for part in parts:
        size += len(part)
        if size > max_bytes:
            limit = f"{max_bytes >> 20} MiB" if max_bytes >= 1 << 20 else f"{max_bytes} bytes"
            raise LmsError(f"{what}: it is larger than {limit}.")
        if monotonic() > end:
            raise UnreachableError(f"{what}: the answer did not end within {_TOTAL_S:.0f} s.")
        target.write(part)


def _origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port; nothing for an address with a user name, or for what is not an address."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
        if parts.username is None and parts.password is None:
            return parts.scheme, parts.hostname or "", port
    return "", "", None


def _join(base: str, address: str) -> str:
    with contextlib.suppress(ValueError):
        return urljoin(base, address)
    return "invalid:"


def _host(url: str) -> str:
    return line(_origin(url)[1]) or "an address that is not one"


def _requested_pause(answer: Answer, otherwise: float) -> float:
    """Return the seconds that Retry-After asks for, as a number or a date."""
    asked = answer.headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        moment = parsedate_to_datetime(asked)
        return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return otherwise


def _cause(httpx: Any, error: Exception) -> str:
    """Say why no answer came."""
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
        return "no connection"
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.DecodingError | httpx.RemoteProtocolError):
        return "the answer is incomplete or damaged"
    return "the connection broke"
