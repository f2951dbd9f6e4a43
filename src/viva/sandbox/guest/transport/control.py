"""Messages between the examiner and the fork server: one JSON object per packet, descriptors beside it.

Only trusted code speaks here; student processes never hold this socket.
"""

from __future__ import annotations

import json
import os
import socket
from typing import Any, Dict, List, Sequence, Tuple

_LARGEST, _MOST_DESCRIPTORS = 1 << 18, 16
OURS = "viva-examiner-"
"""How the name of every directory begins that is removed when its examiner is gone; followed by the examiner's pid.

Nobody may name something of their own like this by chance: a folder for results is called viva-results soon enough.
"""


def send(control: socket.socket, message: Dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """One packet; `descriptors` are duplicated into the receiver."""
    packet = json.dumps(message).encode()
    if descriptors:
        socket.send_fds(control, [packet], list(descriptors))
    else:
        control.send(packet)


def receive(control: socket.socket) -> Tuple[Dict[str, Any], List[int]]:
    """The next packet; raises EOFError when the other side is gone."""
    packet, descriptors, flags, _ = socket.recv_fds(control, _LARGEST, _MOST_DESCRIPTORS)
    for fd in descriptors:
        os.set_inheritable(fd, False)
    if not packet:
        raise EOFError("the control socket was closed")
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise OSError(f"a control message was cut short ({len(packet)} bytes)")
    message: Dict[str, Any] = json.loads(packet)
    return message, descriptors
