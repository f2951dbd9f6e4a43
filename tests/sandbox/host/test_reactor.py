"""The thread that hears all boxes of a fork server outlives whatever is closed while it listens."""

import functools
import selectors
import socket
import threading
from collections.abc import Iterator

import pytest

from viva.sandbox.host.reactor import Reactor


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    made = Reactor("test")
    yield made
    made.close()


def _hears(reactor: Reactor) -> bool:
    """Whether a message still arrives."""
    heard = threading.Event()

    def hear() -> bool:
        heard.set()
        return False

    ours, theirs = socket.socketpair()
    with ours, theirs:
        reactor.watch(theirs, hear)
        ours.send(b"!")
        return heard.wait(60)


def test_callback_closes_another(reactor: Reactor) -> None:
    pairs = [socket.socketpair() for _ in range(2)]
    called: list[int] = []
    both = threading.Barrier(2)

    def close_the_other(index: int) -> bool:
        called.append(index)
        other = pairs[1 - index][1]
        reactor.forget(other)
        other.close()
        return False

    def hold_until_both_are_ready() -> bool:
        both.wait(60)  # the thread is here ...
        both.wait(60)  # ... and both have a message now, so that the next look finds them together
        return False

    ours, theirs = socket.socketpair()
    reactor.watch(theirs, hold_until_both_are_ready)
    ours.send(b"!")
    both.wait(60)
    for index, (near, far) in enumerate(pairs):
        # Not by `watch`, which waits for the thread that waits for us.
        reactor._selector.register(far, selectors.EVENT_READ, functools.partial(close_the_other, index))
        near.send(b"!")
    both.wait(60)
    assert _hears(reactor) and len(called) == 1
    for near, far in [*pairs, (ours, theirs)]:
        near.close()
        far.close()


def test_callback_forgets_itself(reactor: Reactor) -> None:
    ours, theirs = socket.socketpair()

    def close_myself() -> bool:
        reactor.forget(theirs)
        theirs.close()
        return False

    reactor.watch(theirs, close_myself)
    ours.send(b"!")
    assert _hears(reactor)
    ours.close()
