"""An examiner that is killed while it starts a fork server leaves nothing, whichever step it has reached."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork servers run on Linux")

_SOON_S = 60.0

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
def test_it_leaves_nothing(moment: str, tmp_path: Path) -> None:
    """The folder of its canary stayed for a minute: nobody else knew the name before the settings had arrived."""
    place, folders = _PLACES[moment]
    program = _PROGRAM.format(place=place)
    ran = subprocess.run(
        [sys.executable, "-c", program], env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == -9, ran.stderr
    assert folders is None or int(ran.stdout) == folders
    deadline = time.monotonic() + _SOON_S
    while any(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [path.name for path in tmp_path.iterdir()] == []
