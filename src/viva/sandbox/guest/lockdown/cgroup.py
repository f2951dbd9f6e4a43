"""The cgroup: memory and processes of the whole box together. The examiner makes it; the box walks in by itself."""

from __future__ import annotations

import os
from typing import Sequence


def enter(descriptors: Sequence[int]) -> str:
    """Move this process by writing "0" to each inherited `cgroup.procs`; no path of the host is needed in the jail."""
    for fd in descriptors:
        os.write(fd, b"0")
        os.close(fd)
    return "entered"
