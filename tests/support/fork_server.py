"""A fork server for tests: loads the inside of the box by path, as boxes do; forks a worker for each socket it gets.

Run as `python fork_server.py FOLDER FD MODULE...`.
"""

import importlib
import importlib.util
import os
import signal
import socket
import sys


def main(folder: str, descriptor: int, preload: list[str]) -> None:
    """Serve until the other side closes the channel."""
    location = f"{folder}/__init__.py"
    spec = importlib.util.spec_from_file_location("viva_box", location, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["viva_box"] = package
    spec.loader.exec_module(package)
    for name in preload:
        importlib.import_module(name)
    worker = importlib.import_module("viva_box.process.worker")
    channel = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        work, fds, _, _ = socket.recv_fds(channel, 4096, 1)
        if not work:
            return
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            channel.close()
            os.chdir(work)
            ready_message = {"pid": os.getpid(), "python": sys.version_info[:2]}
            worker.serve(socket.socket(fileno=fds[0]), ready_message, {"work": work.decode(), "seed": 1})
        os.close(fds[0])


if __name__ == "__main__":
    del sys.path[0]
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
