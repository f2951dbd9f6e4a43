"""The plan of a box: the examiner's request, completed by the fork server with facts about this host."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Dict, List

from ..lockdown import landlock, seccomp

if TYPE_CHECKING:
    from ..transport.message_types import Canary, Policy

MISSING_IN_T0 = ("namespaces", "a user of its own", "Landlock", "seccomp")
IMPORT_BYTES = (256 << 20, 1 << 30)
"""Private and reserved bytes that a fresh interpreter may need for libraries, in addition to the student's share."""


def in_box(device: str) -> str:
    """Return the path of a host's device file in a box with its own mounts; MIG slices have a folder of their own."""
    folder, name = os.path.split(device)
    return "/dev/" + ("nvidia-caps/" if os.path.basename(folder) == "nvidia-caps" else "") + name


def allowed_calls(tier: str, *, fork: bool, gpu: bool = False) -> seccomp.Allowed:
    """Return what the system call filter of a box allows."""
    return seccomp.Allowed(fork=fork, memory_files=gpu, shared_files=tier != "T1")


@dataclasses.dataclass
class BoxPlan:
    """Everything that a box needs to know; plain data, so that a fresh interpreter can get it as JSON."""

    tier: str
    policy: Policy
    """Fields of Limits, and `seed`; with a GPU also `gpu`: `devices`, `visible`."""
    uid: int
    """The user of the box in T3 and T1; ignored in other tiers."""
    engine: str
    work: str
    scratch: str
    view: List[str]
    """Readable paths for Landlock; in a box with its own namespaces, the root directory."""
    hidden: List[str]
    canary: Canary
    versions: Dict[str, str]
    landlock_abi: int
    """0 if the kernel has none."""
    data_bytes: int = IMPORT_BYTES[0]
    address_bytes: int = IMPORT_BYTES[1]
    """How much of either the preloaded libraries use; the student's share is added."""
    preload: List[str] = dataclasses.field(default_factory=list)
    """The modules that a fresh interpreter still has to import; empty in a fork of the fork server."""
    lifeline: int = -1
    """A descriptor that reaches its end when the examiner of a box without a fork server ends; -1 for none."""
    layers: Dict[str, str] = dataclasses.field(default_factory=dict)
    """The isolation layers applied so far, in order."""
    missing: List[str] = dataclasses.field(default_factory=list)

    @property
    def has_namespaces(self) -> bool:
        """Return whether the box has its own namespaces."""
        return self.tier in ("T2", "T3")

    @property
    def isolates_sockets(self) -> bool:
        """Return whether a namespace, a filter or Landlock's scope isolates abstract unix sockets of others."""
        return self.has_namespaces or not self.fork or self.landlock_abi >= landlock.SCOPE_SINCE

    @property
    def devices(self) -> List[str]:
        """Return the paths in the box of its GPU's device files; empty in almost every box."""
        paths = self.policy.get("gpu", {}).get("devices", [])
        return [in_box(path) for path in paths] if self.has_namespaces else list(paths)

    @property
    def fork(self) -> bool:
        """Return whether the box may start processes."""
        return bool(self.policy["fork"])
