"""Reads whatever descriptors it has inherited, and asks the examiner's socket for passed ones."""

import os
import socket

from toolkit import marks, tell, wire_sockets

loot = []
for fd in range(1024):
    try:
        where = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        where = ""
    loot += marks(where)
    try:
        loot += marks(os.pread(fd, 1 << 20, 0))
    except OSError:
        continue
    try:
        os.lseek(fd, 0, os.SEEK_SET)
        loot += marks("\n".join(os.listdir(f"/proc/self/fd/{fd}")))
    except OSError:
        continue
for wire in wire_sockets():
    wire.setblocking(False)
    try:
        data, control, _, _ = wire.recvmsg(1 << 16, 4096, socket.MSG_PEEK)
        loot += marks(data) + [f"nightingale-{0:016x}" for _ in control]
    except OSError:
        continue
tell(globals(), loot)
