"""A fork server that two examiners use: each has its own boxes, and only those end with it."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from viva.model import Limits, Tier
from viva.model.errors import BoxDied, BoxUnavailable
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork servers run on Linux")

TIERS = [report.tier for report in detect_tiers() if report.available]
_SOON_S = 60.0


@pytest.fixture(params=TIERS, ids=str)
def own(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    """A fork server."""
    with ForkServer.start(request.param, preload=[]) as made:
        yield made


def joined(own: ForkServer) -> ForkServer:
    """The same fork server, as another examiner uses it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        own.offer(theirs)
    return ForkServer.join(own.tier, ours)


def answers(box: Box) -> bool:
    return "ok" in box.ask("put", timeout_s=20, path="a.txt", data=b"a")


def waits_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _SOON_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_both_make_boxes_and_each_ends_its_own(own: ForkServer) -> None:
    with own.spawn(Limits()) as first:
        with joined(own) as other, joined(own) as third:
            with other.spawn(Limits()) as second, third.spawn(Limits()) as last:
                assert answers(first) and answers(second) and answers(last)
                assert second.ready_message.tier == str(own.tier)
                assert second.ready_message.layers.keys() == first.ready_message.layers.keys()
                assert not second.ready_message.open_probes or own.tier is Tier.T0
            assert other.alive
        assert not other.lost and own.alive
        assert answers(first)
    with own.spawn(Limits()) as later:
        assert answers(later)


def test_what_a_killed_examiner_leaves_ends(own: ForkServer) -> None:
    """Its connection closes, and no other box ends with it."""
    with own.spawn(Limits()) as first:
        other = joined(own)
        left = other.spawn(Limits())
        assert answers(left)
        server = other._server
        assert server is not None
        server._channel.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]  # as the kernel does when it ends
        assert waits_for(lambda: _is_gone(left))
        assert answers(first)
        left.close()
        other.close()
    with joined(own) as another, another.spawn(Limits()) as box:
        assert answers(box)


def _is_gone(box: Box) -> bool:
    try:
        signal.pidfd_send_signal(box.resources.pidfd, 0)
    except ProcessLookupError:
        return True
    return False


def test_it_ends_with_the_examiner_that_started_it() -> None:
    own = ForkServer.start(TIERS[0], preload=[])
    other = joined(own)
    box = other.spawn(Limits())
    os.kill(own.pid, signal.SIGKILL)
    assert waits_for(lambda: other.lost) and not other.alive
    with pytest.raises((BoxUnavailable, BoxDied)):
        answers(box)
    with pytest.raises(BoxUnavailable, match="the fork server has ended"):
        other.spawn(Limits())
    box.close()
    other.close()
    own.close()


def test_one_that_has_ended_cannot_be_joined() -> None:
    own = ForkServer.start(TIERS[0], preload=[])
    own.close()
    with pytest.raises(BoxUnavailable, match="the fork server did not start"):
        joined(own)
