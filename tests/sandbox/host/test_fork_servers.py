"""A fork server that is killed, and one whose examiner is killed while it starts: each leaves nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.wait_until import wait_until
from viva.sandbox.errors import BoxDied, BoxUnavailable
from viva.sandbox.host.box import Box
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.limits import Limits

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork servers run on Linux")
TIERS = [report.tier for report in detect_tiers() if report.available]


def answers(box: Box) -> bool:
    return "ok" in box.ask("put", timeout_s=20, path="a.txt", data=b"a")


def test_fork_server_is_killed() -> None:
    own = ForkServer.start(TIERS[0], preload=[])
    box = own.spawn(Limits())
    assert answers(box)
    os.kill(own.pid, signal.SIGKILL)
    wait_until(lambda: own.lost)
    assert not own.alive
    with pytest.raises((BoxUnavailable, BoxDied)):
        answers(box)
    with pytest.raises(BoxUnavailable, match="the fork server has ended"):
        own.spawn(Limits())
    box.close()
    own.close()


_PROGRAM = """
import os, signal, sys, tempfile
from viva.sandbox.tier import Tier
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
