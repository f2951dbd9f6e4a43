"""One connection: where the token goes, what is repeated, and a sentence for whatever is answered."""

import gzip
import html
import io
import json
import logging
import threading
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from fractions import Fraction
from urllib.parse import quote

import pytest

from tests.support.lms_server import TOKEN, Asked, Reply, Server, serving, times
from tests.support.table_rows import Rows
from viva.plugins.cohorts.lms.answers import LmsError, NotAllowedError, UnreachableError, get_points, parse_json
from viva.plugins.cohorts.lms.connection import TRIES, Call, Connection
from viva.plugins.cohorts.lms.site import Token

SIGNED = {"Authorization": f"Bearer {TOKEN}"}


class Plain(Server):
    def answer(self, asked: Asked) -> Reply:
        return Reply(200, {"path": asked.path})


@pytest.fixture
def server() -> Iterator[Plain]:
    with serving(Plain()) as made:
        yield made


@pytest.fixture
def other() -> Iterator[Plain]:
    with serving(Plain()) as made:
        yield made


@pytest.fixture
def connection(server: Plain) -> Iterator[Connection]:
    with Connection(server.url, Token(TOKEN)) as made:
        yield made


def get(server: Server, path: str = "/a", *, reads: bool = True) -> Call:
    return Call("GET", f"{server.url}{path}", "The list", headers=SIGNED, reads=reads)


ERRORS = [
    (Reply(401, {}, {"WWW-Authenticate": "Bearer"}), NotAllowedError, "does not accept the token"),
    (Reply(401, {}), LmsError, "is not allowed to do that"),
    (Reply(403, {}), LmsError, "is not allowed to do that"),
    (Reply(404, {}), LmsError, "has no such page"),
    (Reply(422, {"errors": [{"message": "too\x1b[31m large"}]}), LmsError, "refuses the request (422: too large)"),
    (Reply(400, b"\xff"), LmsError, "refuses the request (400)"),
    (Reply(400, {"errors": [{"message": None}]}), LmsError, "refuses the request (400)."),
    (Reply(400, {"errors": "no such user"}), LmsError, "refuses the request (400: no such user)"),
    (Reply(500, {}), UnreachableError, "has an error of its own (500)"),
    (Reply(302, b"", {"Location": "https://elsewhere.org/x"}), LmsError, "redirects to elsewhere.org"),
    (Reply(302, b"", {"Location": "mailto:x"}), LmsError, "redirects to an address that is not one"),
]


def test_refusal_is_an_error_with_a_sentence(server: Plain, connection: Connection, waits: list[float]) -> None:
    with Rows() as row:
        for reply, kind, sentence in ERRORS:
            with row(sentence):
                server.faults = [times(TRIES, reply)]
                with pytest.raises(kind) as caught:
                    connection.send(get(server))
                assert sentence in str(caught.value) and "\x1b" not in str(caught.value)
                assert type(caught.value) is kind


def test_token_is_not_in_a_traceback(
    server: Plain, connection: Connection, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.stop()
    monkeypatch.setattr(server, "stop", lambda: None)
    with pytest.raises(UnreachableError, match="no connection") as caught:
        connection.send(Call("POST", f"{server.url}/a", "The list", (("wstoken", TOKEN),), headers=SIGNED))
    assert TOKEN not in "".join(traceback.format_exception(caught.value))
    assert len(waits) == TRIES - 1


def test_token_is_not_in_a_log(server: Plain, connection: Connection, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    connection.download(Call("POST", f"{server.url}/f", "The file", (("token", TOKEN),)), io.BytesIO(), 100)
    assert server.asked[0].has_token() and TOKEN not in caplog.text


THROTTLED = [
    Reply(429, {}, {"Retry-After": "7"}),
    Reply(403, b"403 Forbidden (Rate Limit Exceeded)\n"),
]


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("reply", THROTTLED, ids=["429", "Canvas's 403"])
def test_throttling(server: Plain, connection: Connection, waits: list[float], reply: Reply, reads: bool) -> None:
    """It says that it did nothing: so even a request that changes something is repeated."""
    server.faults = [times(2, reply)]
    assert connection.send(get(server, reads=reads)).status == 200
    assert waits == ([7.0, 7.0] if reply.headers else [1.0, 2.0])


def test_retry_after(server: Plain, connection: Connection, waits: list[float]) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60))
    server.faults = [times(1, Reply(429, {}, {"Retry-After": soon}))]
    connection.send(get(server))
    assert 0 < waits[0] <= 60
    for value in ("9" * 400, "86400"):
        server.faults = [times(1, Reply(429, {}, {"Retry-After": value}))]
        with pytest.raises(LmsError, match="run the command later"):
            connection.send(get(server))
    for value in ("-1", "soon", "٣", "Mon, 99 Foo 2026"):
        server.faults = [times(1, Reply(429, {}, {"Retry-After": value}))]
        assert connection.send(get(server)).status == 200


def test_trying_ends(server: Plain, connection: Connection, waits: list[float]) -> None:
    server.faults = [times(99, THROTTLED[1])]
    with pytest.raises(UnreachableError, match="still asks for fewer requests"):
        connection.send(get(server))
    assert len(server.asked) == TRIES and waits == [1, 2, 4, 8]


LOST = [Reply(503, {}), Reply(200, b"x" * 1000, cut=True)]


@pytest.mark.parametrize("reply", LOST, ids=["503", "cut"])
def test_only_reading_is_repeated(server: Plain, connection: Connection, waits: list[float], reply: Reply) -> None:
    """A request that changes something may have been carried out: repeating it could comment twice."""
    server.faults = [times(2, reply)]
    assert connection.send(get(server)).status == 200
    server.asked.clear()
    server.faults = [times(1, reply)]
    with pytest.raises(UnreachableError):
        connection.send(get(server, reads=False))
    assert len(server.asked) == 1


def test_pages_on_the_site_alone(server: Plain, other: Plain, connection: Connection) -> None:
    server.faults = [
        times(1, Reply(200, [1], {"Link": '</b?page=2>; rel="next", </z>; rel="last"'})),
        times(1, Reply(200, [2], {"Link": f'<{other.url}/b>; rel="next"'})),
    ]
    pages = (parse_json(page.data, "") for page in connection.read_pages(get(server)))
    found = [next(pages), next(pages)]
    with pytest.raises(LmsError, match="another site, which gets no token"):
        next(pages)
    assert found == [[1], [2]] and [a.path for a in server.asked] == ["/a", "/b"] and other.asked == []


def test_pages_in_a_circle_end(server: Plain, connection: Connection) -> None:
    server.faults = [times(99, Reply(200, [], {"Link": f'<{server.url}/a>; rel="next"'}))]
    with pytest.raises(LmsError, match="lead in a circle"):
        list(connection.read_pages(get(server)))


def test_addresses_like_the_site(server: Plain, connection: Connection) -> None:
    port = server.url.rpartition(":")[2]
    table = [
        f"http://127.0.0.1.evil.org:{port}/a", f"http://x@127.0.0.1:{port}/a", f"https://127.0.0.1:{port}/a",
        f"http://localhost:{port}/a", f"http://127.0.0.1:{int(port) ^ 1}/a", "//127.0.0.1/a", "", "http://[", "/a",
        f"http://127.0.0.1:{port}x/a",
    ]  # fmt: skip
    with Rows() as row:
        for url in table:
            with row(url), pytest.raises(LmsError, match="another site"):
                connection.send(Call("GET", url, "The list", headers=SIGNED))
    assert server.asked == []


def test_site_below_a_path(server: Plain) -> None:
    with Connection(f"{server.url}/moodle", Token(TOKEN)) as connection:
        assert connection.is_own(f"{server.url}/moodle/x")
        assert not connection.is_own(f"{server.url}/moodle2/x")
        assert not connection.is_own(f"{server.url}/x")


def test_download_without_the_token(server: Plain, other: Plain, connection: Connection) -> None:
    server.faults = [times(1, Reply(302, b"", {"Location": "/second"}))]
    server.faults += [times(1, Reply(307, b"", {"Location": f"{other.url}/stored"}), lambda a: a.path == "/second")]
    other.faults = [times(1, Reply(200, b"content"))]
    into = io.BytesIO()
    connection.download(Call("POST", f"{server.url}/f", "The file", (("token", TOKEN),), headers=SIGNED), into, 100)
    assert into.getvalue() == b"content"
    assert not other.asked[0].has_token() and server.asked[0].has_token()


def test_broken_download_begins_again(server: Plain, connection: Connection, waits: list[float]) -> None:
    server.faults = [times(1, Reply(200, b"abcdef" * 100_000, cut=True)), times(1, Reply(200, b"whole"))]
    into = io.BytesIO()
    connection.download(get(server), into, 1 << 20)
    assert into.getvalue() == b"whole"


def test_download_is_bounded(server: Plain, connection: Connection) -> None:
    server.faults = [times(1, Reply(200, b"x" * 101))]
    with pytest.raises(LmsError, match="larger than 100 bytes"):
        connection.download(get(server), io.BytesIO(), 100)
    server.faults = [times(99, Reply(302, b"", {"Location": "/a"}))]
    with pytest.raises(LmsError, match="redirects more than 5 times"):
        connection.download(get(server), io.BytesIO(), 100)


@pytest.mark.parametrize("where", ["http://files.example.org/x", "ftp://127.0.0.1/x", "file:///etc/passwd", "//["])
def test_download_stays_encrypted(server: Plain, connection: Connection, where: str) -> None:
    server.faults = [times(1, Reply(302, b"", {"Location": where}))]
    with pytest.raises(LmsError, match="not encrypted"):
        connection.download(get(server), io.BytesIO(), 100)


def test_compressed_answer_is_bounded(server: Plain, connection: Connection) -> None:
    bomb = gzip.compress(b"\0" * (65 << 20), 1)
    server.faults = [times(1, Reply(200, bomb, {"Content-Encoding": "gzip"}))]
    with pytest.raises(LmsError, match="larger than 64 MiB"):
        connection.send(get(server))


def test_slow_answer(server: Plain, waits: list[float]) -> None:
    done = threading.Event()

    def never(asked: Asked) -> Reply | None:
        done.wait(60)
        return None

    server.faults = [never]
    try:
        impatient = Connection(server.url, Token(TOKEN), slow_s=0.05)
        with impatient as connection, pytest.raises(UnreachableError, match="no answer in time"):
            connection.send(get(server, reads=False))
    finally:
        done.set()


def test_answer_that_repeats_the_token(server: Plain) -> None:
    secret = '1187~a/b&c"d'
    for said in (secret, secret.replace("/", "\\/"), quote(secret, safe=""), html.escape(secret)):
        body = f'{{"errors": [{{"message": {json.dumps("no access for " + said)}}}]}}'.replace("\\\\/", "\\/")
        server.faults = [times(2, Reply(422, body.encode()))]
        with Connection(server.url, Token(secret)) as connection:
            with pytest.raises(LmsError, match=r"no access for \(token\)"):
                connection.send(get(server))
            assert secret.encode() not in connection._once(get(server)).data


NOT_JSON = [
    (b"<!DOCTYPE html><p>Sign in", "a web page"),
    (b"", "not JSON"),
    (b'{"a": NaN}', "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b"1" * 10_000, "not JSON"),
    (b"\xff\xfe", "not JSON"),
]


def test_answer_that_is_not_json() -> None:
    with Rows() as row:
        for data, sentence in NOT_JSON:
            with row(data[:20]), pytest.raises(LmsError, match=sentence):
                parse_json(data, "The list")


def test_points_are_read_exactly() -> None:
    found = parse_json(b'{"a": 0.1, "b": "7.50000", "c": null, "d": 1e999999999, "e": "x", "f": true, "g": [1]}', "")
    assert get_points(found, "a", "") == Fraction(1, 10)
    assert get_points(found, "b", "") == Fraction(15, 2)
    assert get_points(found, "c", "") is None and get_points(found, "z", "") is None
    for key in "defg":
        with pytest.raises(LmsError, match="no number of points"):
            get_points(found, key, "The grade")
