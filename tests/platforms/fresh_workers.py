"""Workers that are programs of their own, for the tests of the box's inside where nothing may fork.

A plugin of pytest (`-p fresh_workers`), and the program that it starts: `fresh_workers.py FOLDER PORT MODULE…`.
"""

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


class Starter:
    """Has the face of bare_worker.Forker."""

    def __init__(self, preload: Sequence[str], python: str = sys.executable) -> None:
        self._preload, self._python = preload, python
        self._processes: list[subprocess.Popen[bytes]] = []

    def fork(self, work: Path) -> object:
        """A worker whose work directory is `work`; it connects over the loopback."""
        from tests.support import bare_worker
        from viva.sandbox.guest.transport.loopback import ONLY, Listener

        with Listener() as listener:
            command = [self._python, __file__, str(bare_worker.INSIDE), str(listener.port), *self._preload]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=work)
            self._processes.append(process)
            assert process.stdin is not None
            process.stdin.write(listener.token)
            process.stdin.close()
            return bare_worker.Worker(listener.accept(process, ONLY)[ONLY], work)

    def close(self) -> None:
        """Wait for all; their connections are closed."""
        for process in self._processes:
            process.kill()
            process.wait()


def pytest_configure() -> None:
    """Take the place of the fork server before a test asks for it."""
    from tests.support import bare_worker

    bare_worker.Forker = Starter  # type: ignore[misc,assignment]  # it has the same face


def serve(folder: str, port: int, preload: list[str]) -> None:
    """Be one worker until the other side closes the connection."""
    spec = importlib.util.spec_from_file_location(
        "viva_box", f"{folder}/__init__.py", submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["viva_box"] = package
    spec.loader.exec_module(package)
    for name in preload:
        importlib.import_module(name)
    loopback = importlib.import_module("viva_box.transport.loopback")
    worker = importlib.import_module("viva_box.process.worker")
    sock = loopback.connect(port, loopback.read_token(), loopback.ONLY)
    ready_message = {"pid": os.getpid(), "python": sys.version_info[:2]}
    worker.serve(sock, ready_message, {"work": str(Path.cwd()), "seed": 1})


if __name__ == "__main__":
    sys.path[:] = [place for place in sys.path if place != str(Path(__file__).parent)]
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
