"""Messages between the examiner and the fork server: one JSON object per packet, with descriptors.

Only trusted code uses this socket; student processes never hold it.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any, List, Mapping, Sequence, Tuple

_LARGEST, _MOST_DESCRIPTORS = 1 << 18, 16
FOLDER_PREFIX = "viva-examiner-"
"""The prefix of every directory that is removed once its examiner has ended; the examiner's pid follows it.

It must be so specific that no one uses it by chance, as a folder for results might well be called viva-results.
"""


def send(control: socket.socket, message: Mapping[str, object], descriptors: Sequence[int] = ()) -> None:
    """Send one packet; `descriptors` are duplicated into the receiver."""
    packet = json.dumps(message).encode()
    if descriptors:
        socket.send_fds(control, [packet], list(descriptors))
    else:
        control.send(packet)


def receive(control: socket.socket) -> Tuple[Any, List[int]]:
    """Receive the next packet; raises EOFError when the other side has ended."""
    packet, descriptors, flags, _ = socket.recv_fds(control, _LARGEST, _MOST_DESCRIPTORS)
    for fd in descriptors:
        os.set_inheritable(fd, False)  # noqa: FBT003  # a positional-only parameter
    if not packet:
        raise EOFError("the control socket was closed")
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise OSError(f"a control message was cut short ({len(packet)} bytes)")
    return json.loads(packet), descriptors
