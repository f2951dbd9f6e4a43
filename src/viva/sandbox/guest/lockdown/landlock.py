"""Landlock: which files, ports and foreign processes the student's process may access, whatever its user is.

Rights and their first ABI: https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import os
import stat
import struct
from typing import Iterable, List, Tuple

from . import kernel_calls

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_FILE, MAKE_CHAR, MAKE_REG, MAKE_BLOCK = 1 << 5, 1 << 6, 1 << 8, 1 << 11
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
CHANGE = ((1 << 15) - 1) & ~MAKE_CHAR & ~MAKE_BLOCK
SHARED_MEMORY = WRITE_FILE | READ_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE
"""The rights for a /dev/shm that is not private: regular files, by names that cannot be listed."""
DEVICE = READ_FILE | WRITE_FILE
GPU = DEVICE | IOCTL_DEV
"""A GPU is controlled by ioctl; kernels before ABI 5 do not distinguish it from reading and writing."""
_FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

_ALL_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_NET_SINCE, _NEWEST_TABLE = 4, 5
SCOPE_SINCE = 6
"""From this ABI on, Landlock can isolate abstract unix sockets of other programs."""
_RULE_PATH_BENEATH = 1
_NOT_ITS_OWN = ("mem", "net", "task")
_OF_A_THREAD = ("stat", "status", "schedstat", "comm", "children")

Rule = Tuple[str, int]


def abi() -> int:
    """Return the kernel's Landlock ABI; 0 if there is none (older than Linux 5.13, or disabled at boot)."""
    try:
        return kernel_calls.syscall("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


class Ruleset:
    """A set of rules about paths, to be applied to the calling thread."""

    def __init__(self, rules: Iterable[Rule], *, optional: Iterable[Rule] = ()) -> None:
        """Open every path and add its rule.

        Args:
            rules: paths that must exist.
            optional: paths that may be absent on this host.

        Raises:
            OSError: The kernel has no Landlock, or a path of `rules` cannot be opened.
        """
        self.abi = abi()
        if self.abi < 1:
            raise OSError("this kernel has no Landlock")
        self._handled = _ALL_BY_ABI[min(self.abi, _NEWEST_TABLE)]
        tcp = 3 if self.abi >= _NET_SINCE else 0
        scope = 3 if self.abi >= SCOPE_SINCE else 0
        size = 8 if self.abi < _NET_SINCE else 16 if self.abi < SCOPE_SINCE else 24
        attributes = struct.pack("=QQQ", self._handled, tcp, scope)[:size]
        self.fd = kernel_calls.syscall("landlock_create_ruleset", attributes, size, 0)
        for path, rights in rules:
            self.allow(path, rights)
        for path, rights in optional:
            try:
                self.allow(path, rights)
            except FileNotFoundError:
                continue

    def allow(self, path: str, rights: int) -> None:
        """Allow `rights` on one path and everything below it."""
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                rights &= _FOR_FILES
            # `__attribute__((packed))`: no padding between the two fields.
            beneath = struct.pack("=Qi", rights & self._handled, fd)
            kernel_calls.syscall("landlock_add_rule", self.fd, _RULE_PATH_BENEATH, beneath, 0)
        finally:
            os.close(fd)

    def apply(self) -> str:
        """Restrict this thread and all that it starts; needs no_new_privs or CAP_SYS_ADMIN."""
        kernel_calls.syscall("landlock_restrict_self", self.fd, 0)
        os.close(self.fd)
        return f"ABI {self.abi}"


def own_process() -> List[Rule]:
    """Build rules for what a process may read about itself where it shares a network with others.

    Left out are its memory and the sockets of its network; both are also below the folder of each thread.
    """
    folder = "/proc/self"
    rules: List[Rule] = [(folder, READ_DIR)]
    for entry in os.scandir(folder):
        if not entry.is_symlink() and entry.name not in _NOT_ITS_OWN:
            rules.append((entry.path, READ))
    task = f"{folder}/task/{os.getpid()}"
    return rules + [(f"{task}/{name}", READ) for name in _OF_A_THREAD]


def split_around(path: str, hidden: Iterable[str]) -> List[Rule]:
    """Build rules that allow reading `path` but none of the `hidden` paths below it (Landlock can only allow).

    Directories above a hidden path may be listed, but not read as a whole.
    """
    inside = [h for h in hidden if h == path or h.startswith(path.rstrip("/") + "/")]
    if not inside:
        return [(path, READ)]
    if path in inside or not os.path.isdir(path):
        return []
    rules: List[Rule] = [(path, READ_DIR)]
    for name in sorted(os.listdir(path)):
        rules += split_around(os.path.join(path, name), inside)
    return rules
