"""Where the server listens, and under which names."""

import socket
from pathlib import Path

import pytest

from viva.model.errors import UsageError
from viva.plugins.review.web.listening import is_loopback, listen


def test_default_address() -> None:
    at, elsewhere = listen(None, None, 0)
    with at.socket:
        assert at.socket.getsockname() == ("127.0.0.1", at.port) and not elsewhere
        assert at.origin("http") == f"http://127.0.0.1:{at.port}"
        assert at.hosts is not None
        assert {"127.0.0.1", "localhost", "[::1]"} <= set(at.hosts)


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
        assert at.origin("http") == f"http://[::1]:{at.port}" and "[::1]" in (at.hosts or ())
