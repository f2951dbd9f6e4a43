"""Fork servers that two examiners use, and one whose examiner is killed while it starts: each leaves nothing."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.wait_until import wait_until
from viva.model import Limits, Tier
from viva.model.errors import BoxDied, BoxUnavailable
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork servers run on Linux")
TIERS = [report.tier for report in detect_tiers() if report.available]


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


def test_each_examiner_ends_its_own_boxes(own: ForkServer) -> None:
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


def test_boxes_of_killed_examiner_end(own: ForkServer) -> None:
    """Its connection closes, and no other box ends with it."""
    with own.spawn(Limits()) as first:
        other = joined(own)
        left = other.spawn(Limits())
        assert answers(left)
        server = other._server
        assert server is not None
        server._channel.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]  # as the kernel does when it ends
        wait_until(lambda: _is_gone(left))
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


def test_fork_server_ends_with_its_examiner() -> None:
    own = ForkServer.start(TIERS[0], preload=[])
    other = joined(own)
    box = other.spawn(Limits())
    os.kill(own.pid, signal.SIGKILL)
    wait_until(lambda: other.lost)
    assert not other.alive
    with pytest.raises((BoxUnavailable, BoxDied)):
        answers(box)
    with pytest.raises(BoxUnavailable, match="the fork server has ended"):
        other.spawn(Limits())
    box.close()
    other.close()
    own.close()


def test_ended_fork_server_cannot_be_joined() -> None:
    own = ForkServer.start(TIERS[0], preload=[])
    own.close()
    with pytest.raises(BoxUnavailable, match="the fork server did not start"):
        joined(own)


_PROGRAM = """
import os, signal, sys, tempfile
from viva.model import Tier
from viva.sandbox.host import fork_server_connection as connection
from viva.sandbox.host.fork_server import ForkServer

def killed(*_):
    print(len(os.listdir(tempfile.gettempdir())), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

setattr({place}, killed)
ForkServer.start(Tier.T0, preload=[])
"""

_PLACES = {
    "before its canary is made": ("connection.Canary, 'make'", 0),
    "before it sends the settings": ("connection.control, 'send'", 1),
    "after it has sent them": ("connection.ForkServerConnection, '_first_message'", None),
}
"""What is replaced by the kill, and the number of folders at that moment (None: depends on the fork server)."""


@pytest.mark.parametrize("moment", _PLACES)
def test_examiner_killed_while_starting(moment: str, tmp_path: Path) -> None:
    """The folder of its canary stayed for a minute: nobody else knew the name before the settings had arrived."""
    place, folders = _PLACES[moment]
    program = _PROGRAM.format(place=place)
    ran = subprocess.run(
        [sys.executable, "-c", program], env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == -9, ran.stderr
    assert folders is None or int(ran.stdout) == folders
    wait_until(lambda: not any(tmp_path.iterdir()))
