"""Opens sockets of every family and kind that the kernel knows: packets, virtual machines, radio, encryption, routing."""

# least tier: T1
import socket

from toolkit import tell

loot = []
for family in range(2, 46):
    for kind in (1, 2, 3, 5):
        for protocol in (0, 1, 17, 132, 255):
            try:
                socket.socket(family, kind, protocol).close()
            except (OSError, OverflowError):
                continue
            # In T2 and T3 a socket leads nowhere, and those of these families do no harm by themselves.
            loot += [] if family in (2, 10) else ["nightingale-" + "0" * 16]
tell(globals(), loot)
