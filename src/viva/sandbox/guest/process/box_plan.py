"""What a box is to be: the request of the examiner, completed by the fork server with what it knows of this host."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List

from ..lockdown import landlock

MISSING_IN_T0 = ("namespaces", "a user of its own", "Landlock", "seccomp")
ROOM_FOR_IMPORTS = (256 << 20, 1 << 30)
"""Private and reserved bytes that a fresh interpreter may need beyond the student's share, for the libraries."""


def in_box(device: str) -> str:
    """Where a device file of the host is shown in a box that has mounts of its own."""
    return "/dev/" + os.path.basename(device)


@dataclasses.dataclass
class BoxPlan:
    """Plain data, so that it can be handed to a fresh interpreter as JSON."""

    tier: str
    policy: Dict[str, Any]
    """Fields of viva.model.Limits, and `seed`; with a GPU also `gpu`: `devices`, `visible`."""
    uid: int
    """The user to become in T3 and T1; ignored elsewhere."""
    engine: str
    work: str
    scratch: str
    view: List[str]
    """Readable paths for Landlock; in a jail that is the root directory."""
    hidden: List[str]
    canary: Dict[str, Any]
    versions: Dict[str, str]
    landlock_abi: int
    """0 where the kernel has none."""
    data_bytes: int = ROOM_FOR_IMPORTS[0]
    address_bytes: int = ROOM_FOR_IMPORTS[1]
    """What the libraries loaded beforehand take of either; the student's share comes on top."""
    preload: List[str] = dataclasses.field(default_factory=list)
    """What a fresh interpreter still has to import; empty in a fork of the fork server."""
    cores: List[int] = dataclasses.field(default_factory=list)
    """Processor cores that the student's code may use where the fork server keeps to one; empty for that one."""
    lifeline: int = -1
    """A descriptor that tells a box without a fork server when its examiner is gone."""
    layers: Dict[str, str] = dataclasses.field(default_factory=dict)
    """The walls raised so far, in order."""
    missing: List[str] = dataclasses.field(default_factory=list)

    @property
    def jailed(self) -> bool:
        """Whether the box has namespaces of its own."""
        return self.tier in ("T2", "T3")

    @property
    def apart(self) -> bool:
        """Whether abstract unix sockets of others are out of reach: by a namespace, a filter, or Landlock's scope."""
        return self.jailed or not self.fork or self.landlock_abi >= landlock.SCOPE_SINCE

    @property
    def devices(self) -> List[str]:
        """The device files of the GPU that this box has, as it names them; empty in almost every box."""
        paths = self.policy.get("gpu", {}).get("devices", [])
        return [in_box(path) for path in paths] if self.jailed else list(paths)

    @property
    def fork(self) -> bool:
        """Whether the box may start processes."""
        return bool(self.policy["fork"])
