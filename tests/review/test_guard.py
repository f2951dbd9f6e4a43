"""The guard on a real server: who gets to the pages, and what can be changed from where."""

import socket
import urllib.parse
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.served_app import Browser, Review, served
from viva.plugins.review.web.guard import HEADERS
from viva.plugins.review.web.static_files import address, read_files

LINE = 200 * b"x"


@pytest.fixture(scope="module")
def review() -> Iterator[Review]:
    with served() as running:
        yield running


@pytest.fixture
def inside(review: Review) -> Browser:
    return review.browser()


@pytest.fixture
def csrf(inside: Browser) -> str:
    return str(urllib.parse.quote(eval(inside.ask("GET", "/").body)["csrf"]))


def multipart(*fields: tuple[str, str, bytes]) -> bytes:
    parts = [b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (name.encode(), more.encode(), data)
             for name, more, data in fields]  # fmt: skip
    return b"".join(parts) + b"--b--\r\n"


MULTIPART = "multipart/form-data; boundary=b"


# --- the address


def test_token_starts_a_session(review: Review) -> None:
    browser = Browser(review.port)
    entered = browser.ask("GET", f"/?token={review.access.token}")
    assert (entered.status, entered.headers["location"]) == (303, "/")
    assert entered.headers["set-cookie"].startswith(f"viva-review-{review.port}=")
    page = browser.ask("GET", "/")
    assert page.status == 200 and '"marker":"ada","round":1' in page.body


def test_session_from_a_file(review: Review) -> None:
    """Browsers hold a strict cookie back from a redirect that another site began."""
    browser = Browser(review.port)
    entered = browser.ask("GET", f"/?token={review.access.token}", sec_fetch_site="cross-site")
    assert entered.status == 200 and 'http-equiv="refresh" content="0; url=/"' in entered.body
    assert str(review.access.token) not in entered.body
    assert browser.ask("GET", "/").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/mark", "/nowhere", "/static/htmx.min.js", "/login"]
)
def test_no_session_is_refused(review: Review, path: str) -> None:
    answer = Browser(review.port).ask("GET", path)
    assert answer.status == 403 and "open the address that `viva review` printed" in answer.body
    assert str(review.access.token) not in answer.body and "set-cookie" not in answer.headers


def test_script_without_session_is_refused(review: Review) -> None:
    answer = Browser(review.port).ask("GET", "/", hx_request="true")
    assert answer.status == 403 and "This page is closed to you" in answer.body and "<" not in answer.body


@pytest.mark.parametrize("cookie", ["", "x", "x.y", "é" * 50, "A" * 5000, "eyJ9.", "a;b=c", '"quoted"'])
def test_forged_cookie_is_refused(review: Review, cookie: str) -> None:
    browser = Browser(review.port, {f"viva-review-{review.port}": cookie})
    assert browser.ask("GET", "/").status == 403


def test_token_elsewhere_is_refused(review: Review) -> None:
    stranger, token = Browser(review.port), review.access.token
    assert stranger.ask("GET", f"/mark?token={token}").status == 403
    assert stranger.ask("POST", f"/?token={token}", "").status == 403
    assert stranger.ask("GET", "/", cookie=f"viva-review-{review.port}={token}").status == 403


# --- the name under which the server is asked


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "127.0.0.1.evil:{port}"),
        *("127.0.0.1:{port}@evil", "127.0.0.1:{port}, evil", "0.0.0.0:{port}"),
    ],
)
def test_dns_rebinding_is_refused(review: Review, inside: Browser, host: str) -> None:
    """A name whose address an attacker changes to this machine's (DNS rebinding)."""
    host = host.format(port=review.port)
    for path in ("/", f"/?token={review.access.token}", "/static/plain.css"):
        answer = inside.ask("GET", path, host=host)
        assert answer.status == 400 and "set-cookie" not in answer.headers and "marker" not in answer.body


@pytest.mark.parametrize("host", ["localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_local_host_names_are_taken(review: Review, inside: Browser, host: str) -> None:
    assert inside.ask("GET", "/", host=host.format(port=review.port)).status == 200


def raw(port: int, data: bytes) -> Iterator[bytes]:
    """Yield the reply to bytes that no library would send, part by part until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(data)
        while part := connection.recv(65536):
            yield part


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nHost: evil\r\n\r\n",
        b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: " + 400 * LINE + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_malformed_request_is_refused(review: Review, request_: bytes) -> None:
    answer = next(raw(review.port, request_.replace(b"%d", str(review.port).encode())))
    status = int(answer.split()[1])
    assert status in (400, 403, 404, 405, 413, 431, 501), answer
    assert review.browser().ask("GET", "/").status == 200


@pytest.mark.parametrize(
    "method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 100]
)
def test_other_methods_are_refused(inside: Browser, method: str) -> None:
    answer = inside.ask(method, "/")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, POST")


# --- what changes something


def test_own_form_is_taken(review: Review, inside: Browser, csrf: str) -> None:
    own = f"http://127.0.0.1:{review.port}"
    review.app.state.marks.clear()
    header = urllib.parse.unquote(csrf)
    for headers in ({}, {"origin": own}, {"sec_fetch_site": "same-origin", "origin": own}, {"sec_fetch_site": "none"}):
        assert inside.ask("POST", "/mark", f"points=1&csrf={csrf}", **headers).body == "kept"
        assert inside.ask("POST", "/mark", "points=2", x_csrf_token=header, **headers).body == "kept"
        body = multipart(("points", "", b"3"), ("csrf", "", header.encode()))
        assert inside.ask("POST", "/mark", body, content_type=MULTIPART, **headers).body == "kept"
    assert review.app.state.marks == [("ada", "1"), ("ada", "2"), ("ada", "3")] * 4


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:{port}"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://localhost:{port}"},
        {"origin": ""},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},  # another port of this machine
        {"sec_fetch_site": "same-origin, cross-site"},
        {"sec_fetch_site": ""},
        {"origin": "http://127.0.0.1:{port}", "sec_fetch_site": "cross-site"},
    ],
)
def test_foreign_origin_is_refused(review: Review, inside: Browser, csrf: str, headers: dict[str, str]) -> None:
    review.app.state.marks.clear()
    sent = {name: value.format(port=review.port) for name, value in headers.items()}
    assert inside.ask("POST", "/mark", f"points=1&csrf={csrf}", **sent).status == 403
    assert review.app.state.marks == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"points=1"),
        ("application/x-www-form-urlencoded", b"points=1&csrf="),
        ("application/x-www-form-urlencoded", b"points=1&csrf=wrong"),
        ("application/x-www-form-urlencoded", b"points=1&csrf=%ff%fe\xff"),
        ("application/x-www-form-urlencoded", b"points=1&CSRF={csrf}"),
        ("text/plain", b"points=1&csrf={csrf}"),
        ("application/json", b'{"csrf": "{csrf}"}'),
        ("", b"csrf={csrf}"),
        (MULTIPART, multipart(("points", "", b"1"))),
        (MULTIPART, multipart(("csrf", '; filename="csrf"', b"{csrf}"))),
    ],
)
def test_missing_csrf_token_is_refused(review: Review, inside: Browser, csrf: str, kind: str, body: bytes) -> None:
    review.app.state.marks.clear()
    sent = body.replace(b"{csrf}", csrf.encode())
    assert inside.ask("POST", "/mark", sent, content_type=kind).status == 403
    assert inside.ask("POST", "/mark", sent, content_type=kind, x_csrf_token="wrong").status == 403
    assert review.app.state.marks == []


def test_csrf_token_of_another_session_is_refused(review: Review, inside: Browser, csrf: str) -> None:
    other = review.browser()
    assert other.ask("POST", "/mark", f"points=1&csrf={csrf}").status == 403
    assert Browser(review.port).ask("POST", "/mark", f"points=1&csrf={csrf}").status == 403


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"--b"),
        (MULTIPART, b"no form at all"),
        (MULTIPART, b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n"),
        (MULTIPART, multipart(*[("f", "", b"")] * 2000)),
        ("application/x-www-form-urlencoded", b"a=1&" * 5000),
    ],
)
def test_unreadable_form_changes_nothing(review: Review, inside: Browser, kind: str, body: bytes) -> None:
    review.app.state.marks.clear()
    answer = inside.ask("POST", "/mark", body, content_type=kind)
    assert answer.status == 400 and "nothing was changed" in answer.body
    assert review.app.state.marks == []


def test_sign_out(review: Review, inside: Browser, csrf: str) -> None:
    copy = Browser(review.port, dict(inside.cookies))
    assert inside.ask("POST", "/logout", "csrf=wrong").status == 403
    assert "You are signed out" in inside.ask("POST", "/logout", f"csrf={csrf}").body
    assert copy.ask("GET", "/").status == 403


# --- bounds


def chunked(parts: int, part: bytes) -> Iterator[bytes]:
    for _ in range(parts):
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


@pytest.mark.parametrize("path", ["/mark", "/nowhere", "/login", "/logout"])
def test_body_limit(inside: Browser, csrf: str, path: str) -> None:
    token = urllib.parse.unquote(csrf)
    for headers in ({"x_csrf_token": token}, {}):
        answer = inside.ask("POST", path, bytes(1024**2 + 1), **headers)
        assert answer.status == 413 and "send less" in answer.body
        told = inside.ask("POST", path, chunked(17, bytes(65536)), transfer_encoding="chunked", **headers)
        assert told.status == 413
        for said in (str(1024**2 + 1), "9" * 30):  # refused without waiting for what is only announced
            assert inside.ask("POST", path, b"", content_length=said, **headers).status in (400, 413)
    assert (
        inside.ask("POST", "/mark", chunked(2, b"points=1"), transfer_encoding="chunked", x_csrf_token=token).status
        == 200
    )


def test_body_limit_of_tables(inside: Browser, csrf: str) -> None:
    token = urllib.parse.unquote(csrf).encode()
    body = multipart(("file", '; filename="marks.csv"', bytes(8 * 1024**2)), ("csrf", "", token))
    answer = inside.ask("POST", "/marks.csv", body, content_type=MULTIPART)
    assert (answer.status, answer.body) == (200, str(8 * 1024**2))
    assert inside.ask("POST", "/mark", body, content_type=MULTIPART).status == 413
    body = multipart(("file", '; filename="marks.csv"', bytes(16 * 1024**2)), ("csrf", "", token))
    assert inside.ask("POST", "/marks.csv", body, content_type=MULTIPART).status == 413


def test_body_of_a_stranger_is_refused(review: Review) -> None:
    answer = Browser(review.port).ask("POST", "/marks.csv", b"", content_length=str(10**9))
    assert answer.status == 403


# --- headers and files


@pytest.mark.parametrize(
    "path", ["/", "/nowhere", "/fails", "/says-500", "/own-headers", "/static/plain.css", "/static/x"]
)
def test_security_headers(review: Review, inside: Browser, path: str, capfd: Any) -> None:
    for browser in (inside, Browser(review.port)):
        answer = browser.ask("GET", path)
        for name, value in {**HEADERS, "cache-control": "no-store"}.items():
            assert answer.headers.get_all(name) == [value], name
        assert "server" not in answer.headers
    assert "frame-ancestors 'none'" in HEADERS["content-security-policy"]
    assert "unsafe" not in HEADERS["content-security-policy"]
    capfd.readouterr()


def test_headers_of_the_app(inside: Browser) -> None:
    assert inside.ask("GET", "/own-headers").headers["x-own"] == "kept"


def test_static_files_are_cached(review: Review, inside: Browser) -> None:
    answer = inside.ask("GET", address("htmx.min.js"))
    assert answer.status == 200 and answer.body.encode() == read_files()["htmx.min.js"]
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert inside.ask("GET", "/static/htmx.min.js?v=0123456789abcdef").headers["cache-control"] == "no-store"
    assert Browser(review.port).ask("GET", address("plain.css")).status == 200  # the page for signing in uses it
    assert inside.ask("HEAD", address("plain.css")).body == ""


@pytest.mark.parametrize(
    "name",
    [
        *("../access.py", "..%2faccess.py", "%2e%2e/access.py", "..%5caccess.py", "/etc/passwd", "%2fetc%2fpasswd"),
        *("", ".", "..", "%00", "plain.css/", "plain.css/../../access.py", "htmx.min.js%00.css", "x" * 5000),
    ],
)
def test_path_traversal_is_refused(inside: Browser, name: str) -> None:
    answer = inside.ask("GET", f"/static/{name}")
    assert answer.status == 404 and "import" not in answer.body


# --- faults


def test_server_error(inside: Browser, capfd: Any) -> None:
    answer = inside.ask("GET", "/fails")
    assert answer.status == 500 and "Something went wrong on viva" in answer.body and "ours" not in answer.body
    told = capfd.readouterr().err
    assert "Traceback" in told and "RuntimeError: a fault of ours" in told and "\x1b" not in told
    assert inside.ask("GET", "/says-500").body == "its own words"
    assert capfd.readouterr().err == ""


def test_server_error_after_the_headers(review: Review, inside: Browser, capfd: Any) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in inside.cookies.items())
    head = f"GET /fails-late HTTP/1.1\r\nHost: 127.0.0.1:{review.port}\r\nCookie: {cookie}\r\n\r\n"
    answer = b"".join(raw(review.port, head.encode()))
    assert answer.startswith(b"HTTP/1.1 200") and not answer.endswith(b"0\r\n\r\n")  # never taken for the whole
    assert "RuntimeError: too late" in capfd.readouterr().err
