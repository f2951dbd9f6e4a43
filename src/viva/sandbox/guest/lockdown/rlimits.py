"""Resource limits of each process; the cgroup or the watchdog limits the sum over all processes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, List, Tuple

if TYPE_CHECKING:
    from ..transport.message_types import Policy

try:
    import resource
except ImportError:  # Windows has no such limits; `apply` says so
    resource = None  # type: ignore[assignment]

_MIB = 1 << 20
KNOWN = resource is not None
"""Whether this system has such limits."""
NONE = "none: this system has no such limits"
_MEMORY = ("RLIMIT_DATA", "RLIMIT_AS")
_RESERVED_BYTES = 4 << 30
"""Address space that is reserved but not used: allocator arenas and thread stacks."""


def limits_for(policy: Policy, data_bytes: int, address_bytes: int) -> List[Tuple[str, int]]:
    """Return the limits of one process as (name, value).

    Args:
        policy: fields of Limits, and `gpu` if the box has one.
        data_bytes: private writable memory that preloaded libraries use; it does not count as the student's.
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
        # RLIMIT_DATA does not count shared mappings; the limit on address space bounds them loosely.
        ("RLIMIT_AS", address_bytes + 2 * memory + _RESERVED_BYTES),
    ]
    if policy.get("gpu"):  # CUDA reserves address space for the memory of every GPU; memory itself stays limited
        return [(name, value) for name, value in limits if name != "RLIMIT_AS"]
    return limits


def apply(limits: List[Tuple[str, int]]) -> str:
    """Set the soft and hard value of each limit, never above what the host allows."""
    if resource is None:
        return NONE
    linux = sys.platform == "linux"
    for name, value in limits:
        kind = getattr(resource, name, None)
        if kind is None or (not linux and name in _MEMORY):
            continue  # macOS has no message queues, and refuses or ignores limits on memory
        _, hard = resource.getrlimit(kind)
        bounded = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # The soft limit of processor time sends SIGXCPU, which names the reason; the hard one sends only SIGKILL.
        soft = bounded - 1 if name == "RLIMIT_CPU" and bounded > 1 else bounded
        resource.setrlimit(kind, (soft, bounded))
    return "set" if linux else "set, but none on memory"


def lift_locked_memory(value: int) -> None:
    """Let the process lock `value` bytes for copies to a GPU; if only root may raise the limit, keep it."""
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (value, value))
    except (ValueError, OSError):
        return


def limit_processes(count: int) -> str:
    """Limit this user (in this user namespace) to `count` processes and threads; root is exempt."""
    apply([("RLIMIT_NPROC", count)])
    return str(count)


def memory_in_use(self_view: int) -> Tuple[int, int]:
    """Return (private writable bytes, address space bytes) of this process.

    Args:
        self_view: a descriptor of /proc/self.
    """
    values = {"VmData:": 0, "VmSize:": 0}
    with open(os.open("status", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self_view)) as file:
        for line in file:
            words = line.split()
            if words and words[0] in values:
                values[words[0]] = int(words[1]) * 1024
    return values["VmData:"], values["VmSize:"]
