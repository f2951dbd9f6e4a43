"""Leaves something for the next run in the kernel: System V memory, message queues, keys, abstract sockets."""

# turns: 2
# least tier: T1
import ctypes
import os
import socket

from toolkit import tell

libc = ctypes.CDLL(None, use_errno=True)
loot = []
KEY = 0x71676874
for call, arguments in (
    (libc.shmget, (KEY, 4096, 0o1600)),
    (libc.msgget, (KEY, 0o1600)),
    (libc.semget, (KEY, 1, 0o1600)),
):
    if call(*arguments) >= 0:
        loot = ["nightingale-" + "0" * 16]
try:
    queue = libc.mq_open(b"/viva-hostile", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600, None)
except AttributeError:
    queue = -1
if queue < 0 and ctypes.get_errno() == 17:
    loot = ["nightingale-" + "0" * 16]
try:
    if os.fork() == 0:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\0viva-hostile-listener")
        listener.listen(1)
        os.setsid()
        while True:
            listener.accept()
except OSError:
    loot += []
tell(globals(), loot)
