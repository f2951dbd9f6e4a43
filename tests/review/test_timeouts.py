"""A connection that does not come to the end of its request is closed, however steadily it trickles."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from viva.review.web.serving.timeouts import BODY_S, HEAD_S, Timeouts

HEAD = b"POST /mark HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"


class Timer:
    """What `call_later` returns."""

    def __init__(self, seconds: float, call: Callable[[], None]) -> None:
        self.seconds, self.call, self.off = seconds, call, False

    def cancel(self) -> None:
        self.off = True


class Task:
    """An app that was asked and has not answered."""

    def add_done_callback(self, call: object) -> None:
        pass


class Loop:
    """A loop whose clock stands still."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(seconds, call))
        return self.timers[-1]

    def time(self) -> float:
        return 0.0

    def create_task(self, task: Coroutine[Any, Any, None]) -> Task:
        task.close()
        return Task()


class Transport:
    """A connection that remembers whether it was closed."""

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True

    def get_extra_info(self, name: str) -> None:
        pass

    def is_closing(self) -> bool:
        return self.aborted

    def pause_reading(self) -> None:
        pass

    resume_reading = close = pause_reading


class Connection:
    """A connection to the server, without a server."""

    def __init__(self) -> None:
        self.loop, self.transport = Loop(), Transport()
        config = uvicorn.Config(lambda: None, log_config=None, ws="none")
        self.protocol = Timeouts(config, ServerState(), {}, self.loop)  # type: ignore[arg-type]
        self.protocol.connection_made(self.transport)  # type: ignore[arg-type]

    def waits(self) -> list[Timer]:
        return [timer for timer in self.loop.timers if not timer.off]


@pytest.fixture
def connection() -> Connection:
    return Connection()


def test_a_head_that_trickles_has_one_deadline_from_the_connection_on(connection: Connection) -> None:
    (first,) = connection.waits()
    for byte in HEAD[:-1]:
        connection.protocol.data_received(bytes([byte]))
        assert connection.waits() == [first]
    assert first.seconds == HEAD_S and not connection.transport.aborted
    first.call()
    assert connection.transport.aborted


def test_so_does_a_body_from_its_head_on(connection: Connection) -> None:
    connection.protocol.data_received(HEAD + b"a")
    (body,) = connection.waits()
    connection.protocol.data_received(b"b")
    assert connection.waits() == [body] and body.seconds == BODY_S


def test_an_app_may_take_its_time_once_the_request_is_here(connection: Connection) -> None:
    connection.protocol.data_received(HEAD + b"abc")
    assert connection.waits() == []
    connection.protocol.data_received(b"GET / HT")  # the next one, which waits for its turn
    assert connection.waits() == []


def test_a_body_that_was_answered_before_it_was_here_is_still_bounded(connection: Connection) -> None:
    connection.protocol.data_received(HEAD + b"a")
    (body,) = connection.waits()
    connection.protocol.on_response_complete()
    assert body in connection.waits()


def test_a_connection_that_has_gone_leaves_no_timer(connection: Connection) -> None:
    connection.protocol.connection_lost(None)
    assert connection.waits() == []
