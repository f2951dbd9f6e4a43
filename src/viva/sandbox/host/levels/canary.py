"""Things that only the examiner may reach; the escape probes of a box try to reach them and must fail."""

import os
import secrets
import shutil
import socket
import sys
import tempfile

from viva.sandbox.folder_locks import lock_folder, unlock_folder
from viva.sandbox.guest.transport.control import FOLDER_PREFIX


class Canary:
    """A secret file in a private folder, a listening TCP port, an abstract unix socket, and the examiner's own pid.

    The folder has a name before it exists, so that a process that knows the name can be started first: it removes the
    folder when the examiner is killed, at any moment.
    """

    def __init__(self) -> None:
        name = f"{FOLDER_PREFIX}{os.getpid()}-canary-{secrets.token_hex(8)}"
        self.folder = os.path.join(os.path.realpath(tempfile.gettempdir()), name)
        self._lock_fd = -1
        self._tcp: socket.socket | None = None
        self._unix: socket.socket | None = None

    def make(self) -> dict[str, object]:
        """Make the folder, listen, and return what the probes in the box need to know.

        Raises:
            OSError: the folder or its file cannot be made.
        """
        os.mkdir(self.folder, 0o700)
        self._lock_fd = lock_folder(self.folder)
        secret = os.path.join(self.folder, "secret")
        with open(secret, "wb") as file:
            file.write(secrets.token_bytes(16))
        os.chmod(secret, 0o600)
        self._tcp = _listen(socket.AF_INET, ("127.0.0.1", 0))
        name = f"viva-canary-{os.getpid()}-{secrets.token_hex(8)}" if sys.platform == "linux" else ""
        address: bytes | str = b"\0" + name.encode() if name else os.path.join(self.folder, "socket")
        self._unix = _listen(socket.AF_UNIX, address) if hasattr(socket, "AF_UNIX") else None
        port = self._tcp.getsockname()[1] if self._tcp else 9
        return {"file": secret, "folder": self.folder, "tcp": port, "unix": name, "examiner": os.getpid()}

    def close(self) -> None:
        """Remove the folder and stop listening."""
        for listener in (self._tcp, self._unix):
            if listener is not None:
                listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        unlock_folder(self._lock_fd)


def _listen(family: int, address: tuple[str, int] | bytes | str) -> socket.socket | None:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.bind(address)
        listener.listen(1)
    except OSError:
        listener.close()
        return None  # without a loopback interface there is nothing to reach
    return listener
