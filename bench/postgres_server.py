"""A PostgreSQL server for measurements: the distribution's, with default settings, on a socket in its own folder."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))


@contextmanager
def server() -> Iterator[str | None]:
    """Start one and yield the URL of an empty database; None if PostgreSQL is not installed."""
    if not BINARIES:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres")
    data = str(folder / "data")
    _run("initdb", "-D", data, "-A", "trust", "-U", "viva")
    try:
        options = f"-c listen_addresses= -c unix_socket_directories={folder}"
        _run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-w", "-o", options, "start")
        try:
            _run("createdb", "-h", str(folder), "-U", "viva", "records")
            yield f"postgresql://viva@/records?host={folder}"
        finally:
            _run("pg_ctl", "-D", data, "-m", "fast", "-w", "stop")
    finally:
        shutil.rmtree(folder)


def pid(url: str) -> int:
    """Return the process of the server at a URL; the processes of its connections are its children."""
    folder = Path(url.rpartition("host=")[2])
    return int((folder / "data" / "postmaster.pid").read_text().split()[0])


def _run(program: str, *arguments: str) -> None:
    command = [str(BINARIES[-1] / program), *arguments]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/", check=True)
