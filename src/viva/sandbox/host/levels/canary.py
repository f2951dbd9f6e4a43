"""Things that only the examiner may reach; the escape probes of a box try to reach them and must fail."""

import os
import secrets
import shutil
import socket
import sys
import tempfile

from viva.formats.folder_locks import lock_folder, unlock_folder
from viva.sandbox.guest.transport.control import FOLDER_PREFIX


class Canary:
    """A secret file in a private folder, a listening TCP port, an abstract unix socket, and the examiner's own pid."""

    def __init__(self) -> None:
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-canary-"))
        self._lock_fd = lock_folder(self._folder)
        self._file = os.path.join(self._folder, "secret")
        with open(self._file, "wb") as file:
            file.write(secrets.token_bytes(16))
        os.chmod(self._file, 0o600)
        self._tcp = _listen(socket.AF_INET, ("127.0.0.1", 0))
        self._name = f"viva-canary-{os.getpid()}-{secrets.token_hex(8)}"
        address: bytes | str
        address = b"\0" + self._name.encode() if sys.platform == "linux" else os.path.join(self._folder, "socket")
        self._unix = _listen(socket.AF_UNIX, address) if hasattr(socket, "AF_UNIX") else None

    def described(self) -> dict[str, object]:
        """Return what the probes in the box need to know."""
        port = self._tcp.getsockname()[1] if self._tcp else 9
        name = self._name if sys.platform == "linux" else ""
        return {"file": self._file, "folder": self._folder, "tcp": port, "unix": name, "examiner": os.getpid()}

    def close(self) -> None:
        """Remove the folder and stop listening."""
        for listener in (self._tcp, self._unix):
            if listener is not None:
                listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)
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
