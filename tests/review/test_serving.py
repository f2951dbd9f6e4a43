"""Where the server listens, what it replies while pages load, and when it closes a connection."""

import asyncio
import socket
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from viva.model.errors import UsageError
from viva.plugins.review.web.serving.listening import is_loopback, listen
from viva.plugins.review.web.serving.loading_page import LoadingPage
from viva.plugins.review.web.serving.timeouts import BODY_S, HEAD_S, Timeouts
from viva.plugins.review.web.sign_in.access import Session


def test_default_address() -> None:
    at, elsewhere = listen(None, None, 0)
    with at.socket:
        assert at.socket.getsockname() == ("127.0.0.1", at.port) and not elsewhere
        assert at.origin("http") == f"http://127.0.0.1:{at.port}"
        assert at.hosts is not None
        assert set(at.hosts) == {f"{name}:{at.port}" for name in ("127.0.0.1", "localhost", "[::1]")}


def test_port_of_the_last_run() -> None:
    first, _ = listen(None, None, 0)
    with first.socket:
        other, elsewhere = listen(None, None, first.port)
        with other.socket:
            assert other.port != first.port and elsewhere
    again, elsewhere = listen(None, None, first.port)
    with again.socket:
        assert again.port == first.port and not elsewhere


def test_port_in_use() -> None:
    first, _ = listen(None, None, 0)
    with first.socket, pytest.raises(UsageError, match=f"--port {first.port}: another program listens there"):
        listen(None, first.port, 0)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("203.0.113.7", "this machine has no such address"),
        ("x" * 300, "there is no such address"),
        ("127.0.0.1:80", "there is no such address"),
    ],
)
def test_foreign_address(address: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        listen(address, None, 0)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        *((address, True) for address in (None, "127.0.0.1", "127.0.0.2", "localhost", "::1")),
        *((address, False) for address in ("0.0.0.0", "::", "203.0.113.7", "2001:db8::1")),
    ],
)
def test_is_loopback(address: str | None, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_all_addresses() -> None:
    at, _ = listen("0.0.0.0", None, 0)
    with at.socket:
        assert at.hosts is None and at.origin("https") == f"https://{socket.gethostname()}:{at.port}"


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_ipv6_address() -> None:
    at, _ = listen("::1", None, 0)
    with at.socket:
        assert at.origin("http") == f"http://[::1]:{at.port}" and f"[::1]:{at.port}" in (at.hosts or ())


MADE = PlainTextResponse("the page")


class Request:
    """One request, which is answered at its own time."""

    def __init__(self, app: LoadingPage, method: str = "GET", who: str = "ada", **headers: str) -> None:
        self.sent: list[MutableMapping[str, Any]] = []
        given = {"accept": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "http", "method": method, "path": "/", "query_string": b"", "viva": Session(who, 1, "", who, 0),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }  # fmt: skip
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    async def _receive(self) -> MutableMapping[str, Any]:
        raise AssertionError("what is sent along is left for the page")

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        self.sent.append(message)

    @property
    def reply(self) -> tuple[int, str]:
        start, *bodies = self.sent
        return start["status"], b"".join(body["body"] for body in bodies).decode()


async def run_pending_tasks() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_one_loading_page_per_session() -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        app = LoadingPage(making)
        for who in ("ada", "grace"):
            first, second = Request(app, who=who), Request(app, who=who)
            await run_pending_tasks()
            status, text = first.reply
            assert status == 200 and 'http-equiv="refresh" content="0"' in text and not second.sent
        making.set_result(MADE)
        await second.task
        late = Request(app, who="joan")
        await late.task
        assert second.reply == late.reply == (200, "the page")

    asyncio.run(story())


@pytest.mark.parametrize(
    ("method", "headers"), [("POST", {}), ("HEAD", {}), ("GET", {"accept": "*/*", "hx_request": "true"})]
)
def test_other_requests_wait(method: str, headers: dict[str, str]) -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        asked = Request(LoadingPage(making), method, **headers)
        await run_pending_tasks()
        assert not asked.sent
        making.set_result(MADE)
        await asked.task
        assert asked.reply[0] == 200

    asyncio.run(story())


@pytest.mark.parametrize("by_script", [False, True])
def test_pages_that_fail(by_script: bool) -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        asked = Request(LoadingPage(making), "POST", **({"hx_request": "true"} if by_script else {}))
        await run_pending_tasks()
        making.set_exception(UsageError("/home/ada/records.db cannot be read."))
        await asked.task
        status, text = asked.reply
        assert status == 503 and "says why" in text and "/home" not in text
        assert text.startswith("The pages could not") == by_script

    asyncio.run(story())


def test_cancelled_request() -> None:
    async def story() -> None:
        making: Future[Any] = Future()
        app = LoadingPage(making)
        gone, stays = Request(app, "POST", who="ada"), Request(app, "POST", who="grace")
        await run_pending_tasks()
        gone.task.cancel()
        await run_pending_tasks()
        assert not making.cancelled()
        making.set_result(MADE)
        await stays.task
        assert stays.reply == (200, "the page")

    asyncio.run(story())


HEAD = b"POST /mark HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"


class Timer:
    """What `call_later` returns."""

    def __init__(self, seconds: float, call: Callable[[], None]) -> None:
        self.seconds, self.call, self.off = seconds, call, False

    def cancel(self) -> None:
        self.off = True


class Connection:
    """A connection to the server, without a server; its clock stands still, and no app answers."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []
        self.transport, loop = Mock(**{"get_extra_info.return_value": None, "is_closing.return_value": False}), Mock()
        loop.time.return_value = 0.0
        loop.call_later, loop.create_task = self._call_later, lambda task: task.close() or Mock()
        config = uvicorn.Config(lambda: None, log_config=None, ws="none")
        self.protocol = Timeouts(config, ServerState(), {}, loop)
        self.protocol.connection_made(self.transport)

    def _call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(seconds, call))
        return self.timers[-1]

    def waits(self) -> list[Timer]:
        return [timer for timer in self.timers if not timer.off]


@pytest.fixture
def connection() -> Connection:
    return Connection()


def test_slow_head(connection: Connection) -> None:
    (first,) = connection.waits()
    for byte in HEAD[:-1]:
        connection.protocol.data_received(bytes([byte]))
        assert connection.waits() == [first]
    assert first.seconds == HEAD_S and not connection.transport.abort.called
    first.call()
    connection.transport.abort.assert_called_once()


def test_slow_body(connection: Connection) -> None:
    connection.protocol.data_received(HEAD + b"a")
    (body,) = connection.waits()
    connection.protocol.data_received(b"b")
    assert connection.waits() == [body] and body.seconds == BODY_S


def test_slow_reply_is_allowed(connection: Connection) -> None:
    connection.protocol.data_received(HEAD + b"abc")
    assert connection.waits() == []
    connection.protocol.data_received(b"GET / HT")  # the next one, which waits for its turn
    assert connection.waits() == []


def test_slow_body_after_the_reply(connection: Connection) -> None:
    connection.protocol.data_received(HEAD + b"a")
    (body,) = connection.waits()
    connection.protocol.on_response_complete()
    assert body in connection.waits()


def test_closed_connection(connection: Connection) -> None:
    connection.protocol.connection_lost(None)
    assert connection.waits() == []
