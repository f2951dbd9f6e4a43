"""The cgroup: it limits the memory and the processes of the whole box. The examiner makes it; the box enters it."""

from __future__ import annotations

import os
from typing import Sequence


def enter(descriptors: Sequence[int]) -> str:
    """Move this process by writing "0" to each inherited `cgroup.procs`; this needs no path of the host."""
    for fd in descriptors:
        os.write(fd, b"0")
        os.close(fd)
    return "entered"
