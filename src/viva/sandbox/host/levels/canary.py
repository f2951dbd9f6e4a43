"""Things that only the examiner may reach, laid out so that a box can try to reach them and fail."""

import os
import secrets
import shutil
import socket
import sys
import tempfile
from typing import Any

from viva.sandbox.guest.transport.control import OURS
from viva.sandbox.host.leftovers import claim, let_go


class Canary:
    """A secret file in a private folder, a listening TCP port, an abstract unix socket, the examiner's own pid."""

    def __init__(self) -> None:
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix=f"{OURS}{os.getpid()}-canary-"))
        self._claim = claim(self._folder)
        self._file = os.path.join(self._folder, "secret")
        with open(self._file, "wb") as file:
            file.write(secrets.token_bytes(16))
        os.chmod(self._file, 0o600)
        self._tcp = _listen(socket.AF_INET, ("127.0.0.1", 0))
        self._name = f"viva-canary-{os.getpid()}-{secrets.token_hex(8)}"
        address = b"\0" + self._name.encode() if sys.platform == "linux" else os.path.join(self._folder, "socket")
        self._unix = _listen(socket.AF_UNIX, address) if hasattr(socket, "AF_UNIX") else None

    def described(self) -> dict[str, Any]:
        """What the probes in the box are told."""
        port = self._tcp.getsockname()[1] if self._tcp else 9
        name = self._name if sys.platform == "linux" else ""
        return {"file": self._file, "folder": self._folder, "tcp": port, "unix": name, "examiner": os.getpid()}

    def close(self) -> None:
        """Remove the folder and stop listening."""
        for listener in (self._tcp, self._unix):
            if listener is not None:
                listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        let_go(self._claim)


def _listen(family: int, address: Any) -> socket.socket | None:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.bind(address)
        listener.listen(1)
    except OSError:
        listener.close()
        return None  # an examiner without a loopback has nothing there to reach
    return listener
