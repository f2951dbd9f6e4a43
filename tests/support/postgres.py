"""A real PostgreSQL in a folder of its own, on a socket in that folder, for the tests that need one."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))


def installed() -> bool:
    """Whether the distribution's packages are there."""
    return bool(_BINARIES)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a server for all tests of a run; CI must have one."""
    if not installed():
        if os.environ.get("VIVA_REQUIRED_TIERS"):
            pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
        pytest.skip("PostgreSQL is not installed")
    with server() as url:
        yield url


@contextmanager
def server() -> Iterator[str]:
    """Start one; yields the URL of an empty database. It listens on no port."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))  # pytest's own folders are closed to the server's user
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(folder, _user())
    url = f"postgresql://viva@/records?host={folder}"
    _run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "viva", "--no-sync")
    start(url)
    try:
        _run("createdb", "-h", str(folder), "-U", "viva", "records")
        yield url
    finally:
        stop(url)
        shutil.rmtree(folder)


def start(url: str) -> None:
    """Start the server of a URL, which has been stopped."""
    folder = _folder(url)
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    _run("pg_ctl", "-D", str(folder / "data"), "-l", str(folder / "log"), "-w", "-o", options, "start")


def stop(url: str) -> None:
    """Stop the server of a URL in the middle of whatever it does."""
    _run("pg_ctl", "-D", str(_folder(url) / "data"), "-m", "immediate", "-w", "stop")


def _folder(url: str) -> Path:
    return Path(url.rpartition("host=")[2])


def _user() -> str:
    return "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name


def _run(program: str, *arguments: str) -> None:
    command = [str(_BINARIES[-1] / program), *arguments]
    if os.geteuid() == 0:
        command = ["setpriv", f"--reuid={_user()}", f"--regid={_user()}", "--init-groups", *command]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{program}: {done.stdout.decode(errors='replace')[-2000:]}")
