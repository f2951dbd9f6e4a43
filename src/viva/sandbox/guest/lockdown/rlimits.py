"""Resource limits of each process; the sum over all processes is the cgroup's or the watchdog's business."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, Tuple

try:
    import resource
except ImportError:  # Windows has no such limits; `apply` says so
    resource = None  # type: ignore[assignment]

_MIB = 1 << 20
KNOWN = resource is not None
"""Whether this system has such limits at all."""
NONE = "none: this system has no such limits"
_MEMORY = ("RLIMIT_DATA", "RLIMIT_AS")
_ROOM_FOR_MAPPINGS = 4 << 30
"""Address space that is reserved, not used: allocator arenas and thread stacks."""


def limits_for(policy: Dict[str, Any], data_bytes: int, address_bytes: int) -> List[Tuple[str, int]]:
    """The limits of one process as (name, value).

    Args:
        policy: fields of viva.model.Limits, and `gpu` where the box has one.
        data_bytes: private writable memory that the libraries loaded beforehand take; not the student's.
        address_bytes: the same for address space.
    """
    memory = int(policy["memory_mib"]) * _MIB
    cpu_s = int(2 * policy["submission_s"]) + 1
    limits = [
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_MEMLOCK", 8 * _MIB),
        ("RLIMIT_NOFILE", 512),
        ("RLIMIT_FSIZE", int(policy["disk_mib"]) * _MIB),
        ("RLIMIT_CPU", cpu_s),
        ("RLIMIT_DATA", data_bytes + memory),
        # Shared mappings escape RLIMIT_DATA; address space bounds them loosely.
        ("RLIMIT_AS", address_bytes + 2 * memory + _ROOM_FOR_MAPPINGS),
    ]
    if policy.get("gpu"):  # CUDA reserves address space for the memory of every GPU; memory itself stays limited
        return [(name, value) for name, value in limits if name != "RLIMIT_AS"]
    return limits


def apply(limits: List[Tuple[str, int]]) -> str:
    """Set each limit, soft and hard, never above what the host allows."""
    if resource is None:
        return NONE
    linux = sys.platform == "linux"
    for name, value in limits:
        kind = getattr(resource, name, None)
        if kind is None or (not linux and name in _MEMORY):
            continue  # macOS has no message queues, and refuses or ignores limits on memory
        _, hard = resource.getrlimit(kind)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # At the soft limit of processor time comes SIGXCPU, which says what happened; at the hard one plain SIGKILL.
        soft = bounded - 1 if name == "RLIMIT_CPU" and bounded > 1 else bounded
        resource.setrlimit(kind, (soft, bounded))
    return "set" if linux else "set, but none on memory"


def lift_locked_memory(value: int) -> None:
    """Let a process lock so much memory, as what is copied to a GPU is; where only root may, what there is must do."""
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (value, value))
    except (ValueError, OSError):
        return


def limit_processes(count: int) -> str:
    """At most `count` processes and threads of this user (and user namespace) at once; root is not bound by it."""
    apply([("RLIMIT_NPROC", count)])
    return str(count)


def memory_in_use(self_view: int) -> Tuple[int, int]:
    """(private writable bytes, address space bytes) of this process; `self_view` is a descriptor of /proc/self."""
    values = {"VmData:": 0, "VmSize:": 0}
    with open(os.open("status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self_view)) as file:
        for line in file:
            words = line.split()
            if words and words[0] in values:
                values[words[0]] = int(words[1]) * 1024
    return values["VmData:"], values["VmSize:"]
