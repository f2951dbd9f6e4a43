"""Where the server listens, and under which names browsers may ask for it."""

import socket
from pathlib import Path

import pytest

from viva.model.errors import UsageError
from viva.review.web.serving.listening import is_loopback, listen


def test_nobody_else_can_reach_it_unless_asked_for() -> None:
    at, elsewhere = listen(None, None, 0)
    with at.socket:
        assert at.socket.getsockname() == ("127.0.0.1", at.port) and not elsewhere
        assert at.origin("http") == f"http://127.0.0.1:{at.port}"
        assert at.hosts is not None
        assert set(at.hosts) == {f"{name}:{at.port}" for name in ("127.0.0.1", "localhost", "[::1]")}


def test_the_port_of_the_last_time_is_taken_again_where_it_is_free() -> None:
    first, _ = listen(None, None, 0)
    with first.socket:
        other, elsewhere = listen(None, None, first.port)
        with other.socket:
            assert other.port != first.port and elsewhere
    again, elsewhere = listen(None, None, first.port)
    with again.socket:
        assert again.port == first.port and not elsewhere


def test_a_port_that_was_asked_for_is_that_one_or_a_sentence() -> None:
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
def test_an_address_that_is_not_ours_is_a_sentence(address: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        listen(address, None, 0)


@pytest.mark.parametrize("address", [None, "127.0.0.1", "127.0.0.2", "localhost", "::1"])
def test_addresses_of_this_machine_alone(address: str | None) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "203.0.113.7", "2001:db8::1"])
def test_addresses_that_others_reach(address: str) -> None:
    assert not is_loopback(address)


def test_everywhere_is_called_by_the_name_of_this_machine() -> None:
    at, _ = listen("0.0.0.0", None, 0)
    with at.socket:
        assert at.hosts is None and at.origin("https") == f"https://{socket.gethostname()}:{at.port}"


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_an_address_of_version_6_is_written_as_browsers_want_it() -> None:
    at, _ = listen("::1", None, 0)
    with at.socket:
        assert at.origin("http") == f"http://[::1]:{at.port}" and f"[::1]:{at.port}" in (at.hosts or ())
