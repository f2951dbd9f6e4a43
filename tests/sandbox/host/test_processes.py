"""What is read about processes in /proc, whatever names they give themselves and their files."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from viva.sandbox.host.limits import file_use, processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these files")

NAMES = [
    b"\rVmSwap: -99999",
    b"\x0bVmSwap: -99999",
    b"\x0cThreads: -9",
    b"\x1cState: Z",
    b"a) R 1\n\xff",
    b"\xc2\x85)\n(",
]
COMPUTED_S = 0.2
"""The kernel rounds the parts of it down to hundredths."""
COMPUTES = f"""
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1]), 0, 0, 0)
while time.process_time() < {COMPUTED_S}:
    pass
print("ready", flush=True)
sys.stdin.readline()
"""


@contextmanager
def called(name: bytes) -> Iterator[int]:
    """Yield the pid of a process of that name, which has computed for a while and waits."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", COMPUTES, name.hex()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process.pid
        process.communicate("end\n")


@pytest.mark.parametrize("name", NAMES)
def test_process_name_hides_nothing(name: bytes) -> None:
    with called(b"honest") as honest, called(name) as pid:
        assert processes.clock_of(lambda: pid, time.monotonic).reading().computed_s >= COMPUTED_S / 2
        assert processes.held_bytes([pid]) > processes.held_bytes([honest]) / 2
        assert processes.tasks([pid]) == 1
        assert processes.is_running(pid)


@pytest.mark.parametrize("name", ["a\rb", "a\x0bb", "a\x85b", "\udcff", "a (deleted)\x0c1 2 3 4 5 6"])
def test_mapped_file_name_hides_nothing(name: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype, size = ctypes.c_void_p, 1 << 20
    before = file_use.open_files([os.getpid()], None, ()).memory_bytes
    file = os.memfd_create(name)
    try:
        os.ftruncate(file, size)
        os.posix_fallocate(file, 0, size)
        address = libc.mmap(None, ctypes.c_size_t(size), 3, 1, file, ctypes.c_long(0))
    finally:
        os.close(file)
    try:
        assert file_use.open_files([os.getpid()], None, ()).memory_bytes == before + size
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(size))
