"""Kernel namespaces: which processes, files and networks a process can see."""

from __future__ import annotations

import os

from . import kernel_calls

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000


def enter_user_namespace(uid: int, gid: int) -> None:
    """Become `uid`:`gid` with every capability over a new user namespace, and over nothing outside it."""
    outer_uid, outer_gid = os.getuid(), os.getgid()
    kernel_calls.unshare(NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {outer_uid} 1"),
        ("gid_map", f"{gid} {outer_gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


class PidNamespace:
    """The fork server's own pid namespace: each box is forked into a new one, then the fork server returns to its own.

    The return needs a pid namespace that this user namespace owns; so the fork server never stays in the host's.
    """

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> None:
        kernel_calls.unshare(NEWPID)

    def __exit__(self, *error: object) -> None:
        kernel_calls.setns(self._own, NEWPID)
