"""The identity of the student's process: a separate user, no capabilities, and no way to regain any."""

from __future__ import annotations

import ctypes
import os
import struct

from . import kernel_calls

_CAPABILITY_VERSION_3 = 0x20080522
# NOROOT and NO_CAP_AMBIENT_RAISE, each with its lock, and the lock of KEEP_CAPS: user 0 has no privileges.
_SECUREBITS = 0x1 | 0x2 | 0x20 | 0x40 | 0x80


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when the thread that forked it ends; raise ProcessLookupError if it has.

    A change of credentials clears this silently, so call it again after `become`.
    """
    kernel_calls.prctl(kernel_calls.PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        raise ProcessLookupError("the parent died before its child was ready")


def become(uid: int) -> str:
    """Switch to `uid` permanently and drop every capability; needs CAP_SETUID, CAP_SETGID and CAP_SETPCAP."""
    _close_bounding_set()
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _drop_capabilities()
    return "a user of its own, no capabilities"  # without the number, which differs between runs


def drop_capabilities() -> str:
    """Drop every capability and keep the user; for a process in a user namespace, which gave it all of them."""
    _close_bounding_set()
    _drop_capabilities()
    return "no capabilities"


def no_new_privileges() -> str:
    """Disable set-uid programs and file capabilities for this process and all that it starts."""
    kernel_calls.prctl(kernel_calls.PR_SET_NO_NEW_PRIVS, 1)
    if kernel_calls.prctl(kernel_calls.PR_GET_NO_NEW_PRIVS) != 1:
        raise OSError("no_new_privs did not hold")
    return "set"


def set_dumpable(*, dumpable: bool) -> None:
    """Set whether processes of the same user may inspect this one."""
    kernel_calls.prctl(kernel_calls.PR_SET_DUMPABLE, int(dumpable))


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process, so that it can end them."""
    kernel_calls.prctl(kernel_calls.PR_SET_CHILD_SUBREAPER, 1)


def _close_bounding_set() -> None:
    kernel_calls.prctl(kernel_calls.PR_CAP_AMBIENT, 4)
    kernel_calls.prctl(kernel_calls.PR_SET_SECUREBITS, _SECUREBITS)
    for capability in range(64):
        try:
            kernel_calls.prctl(kernel_calls.PR_CAPBSET_DROP, capability)
        except OSError:
            return  # this number is above the newest capability of the kernel


def _drop_capabilities() -> None:
    header = struct.pack("=II", _CAPABILITY_VERSION_3, 0)
    kernel_calls.syscall("capset", header, bytes(24))
    left = ctypes.create_string_buffer(24)
    kernel_calls.syscall("capget", header, left)
    if any(left.raw):
        raise OSError(f"capabilities are left after dropping them: {left.raw.hex()}")
