"""The system call filter, as raw BPF, so that it does not depend on what a library of the host knows.

It is a deny list with a ceiling: calls that reach outside the box or have a history of kernel bugs are refused, and so
is every call newer than the ones reviewed here. An allow list would be too brittle for torch.
"""

from __future__ import annotations

import ctypes
import dataclasses
import errno
import functools
import struct
import types
from typing import Dict, List

from . import kernel_calls

_NEWEST_REVIEWED = 456
"""futex_requeue, the same number on every architecture; anything above it returns ENOSYS."""

_REFUSED = """
ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise process_mrelease
mount umount2 pivot_root chroot setns unshare open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr
bpf perf_event_open userfaultfd keyctl add_key request_key memfd_secret
init_module finit_module delete_module create_module get_kernel_syms query_module
kexec_load kexec_file_load reboot swapon swapoff acct quotactl quotactl_fd syslog
settimeofday clock_settime clock_adjtime adjtimex iopl ioperm modify_ldt personality
open_by_handle_at name_to_handle_at fanotify_init fanotify_mark lookup_dcookie nfsservctl vhangup
sethostname setdomainname mknod mknodat
setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset
landlock_create_ruleset migrate_pages move_pages mbind set_mempolicy set_mempolicy_home_node
msgget shmget semget mq_open pidfd_open pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo tkill
uselib ustat sysfs _sysctl vmsplice
"""
_ABSENT = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "inotify_init", "inotify_init1")
"""These return ENOSYS: callers then use an older call, whose arguments the filter can check, or look for themselves."""
_MEMORY_FILES = "memfd_create"
"""Its pages belong to no process and no file system, so only a cgroup could count them; CUDA needs it."""

_NAMESPACE_FLAGS = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET in the flags of clone(2)."""
_CLONE_THREAD = 0x10000
_AF_UNIX = 1
_TERMINAL_REQUESTS = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX insert input into a terminal that others read."""
_FILE_EVENTS = (1024, 1026)
"""F_SETLEASE and F_NOTIFY reveal what others do with a file; so does inotify."""
_SET_ID_BITS = 0o6000
_BITS_OF_OTHERS = 0o077
_PRCTL_IGNORED = (kernel_calls.PR_SET_PDEATHSIG, kernel_calls.PR_SET_DUMPABLE)
"""The examiner decides whether a process survives its parent or can be inspected: these return 0 and do nothing."""

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_SET_MODE_FILTER, _TSYNC = 1, 1


@dataclasses.dataclass(frozen=True)
class Allowed:
    """What a filter allows beyond what every box may do."""

    fork: bool = True
    """To start processes and use unix sockets (data loaders need both); threads always work."""
    memory_files: bool = False
    """To make files that are nowhere but in memory."""
    shared_files: bool = True
    """To let other users read a file; False where boxes have a folder in common."""


@functools.lru_cache(maxsize=None)  # the fork server builds the usual variants once, for all boxes
def program(allowed: Allowed) -> bytes:
    """Return the filter for this machine.

    Raises:
        OSError: There is no table of call numbers for this machine.
    """
    return _Assembler(kernel_calls.table(), kernel_calls.numbers()).assemble(allowed)


def apply(code: bytes) -> str:
    """Install on every thread of this process; needs no_new_privs."""
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    if kernel_calls.syscall("seccomp", _SET_MODE_FILTER, _TSYNC, header) != 0:
        raise OSError("seccomp: a thread could not be brought under the filter")
    return f"{len(code) // 8} instructions"


class _Assembler:
    """Classic BPF, written top to bottom; every jump is a few instructions forward."""

    def __init__(self, table: types.ModuleType, numbers: Dict[str, int]) -> None:
        self._table, self._numbers = table, numbers
        self._code: List[bytes] = []

    def assemble(self, allowed: Allowed) -> bytes:
        self._check_abi()
        for name in _REFUSED.split():
            self._refuse(name, errno.EPERM)
        for name in _ABSENT:
            self._refuse(name, errno.ENOSYS)
        if not allowed.memory_files:
            self._refuse(_MEMORY_FILES, errno.ENOSYS)
        if not allowed.fork:
            for name, number in (("fork", errno.EAGAIN), ("vfork", errno.EAGAIN), ("execve", errno.EPERM)):
                self._refuse(name, number)
            self._refuse("execveat", errno.EPERM)
        self._clone(fork=allowed.fork)
        self._sockets(fork=allowed.fork)
        self._arguments()
        self._modes(shared_files=allowed.shared_files)
        self._emit(_RETURN, _ALLOW)
        return b"".join(self._code)

    def _check_abi(self) -> None:
        arch, foreign = self._table.AUDIT_ARCH, self._table.FOREIGN_ABI_BIT
        self._emit(_LOAD, 4)
        self._emit(_IF_EQUAL, arch, 1, 0)
        self._emit(_RETURN, _KILL)
        self._emit(_LOAD, 0)
        if foreign:
            self._emit(_IF_AT_LEAST, foreign, 0, 1)
            self._emit(_RETURN, _KILL)
        self._emit(_IF_AT_LEAST, _NEWEST_REVIEWED + 1, 0, 1)
        self._emit(_RETURN, _ERRNO | errno.ENOSYS)

    def _clone(self, *, fork: bool) -> None:
        body = [_argument(0), _step(_IF_BITS, _NAMESPACE_FLAGS, 0, 1), _fail(errno.EPERM)]
        if not fork:
            body += [_step(_IF_BITS, _CLONE_THREAD, 1, 0), _fail(errno.EAGAIN)]
        self._case("clone", body)

    def _sockets(self, *, fork: bool) -> None:
        # libzmq aborts on EAFNOSUPPORT, so a missing family returns EOPNOTSUPP.
        only_unix = [_argument(0), _step(_IF_EQUAL, _AF_UNIX, 1, 0), _fail(errno.EOPNOTSUPP)]
        self._case("socketpair", only_unix)  # it reaches no other process; event loops wake themselves with one
        if fork:
            self._case("socket", only_unix)
        else:
            self._refuse("socket", errno.EOPNOTSUPP)

    def _arguments(self) -> None:
        ioctl = [_argument(1)]
        for request in _TERMINAL_REQUESTS:
            ioctl += [_step(_IF_EQUAL, request, 0, 1), _fail(errno.EPERM)]
        self._case("ioctl", ioctl)
        options = [_argument(0)]
        for option in _PRCTL_IGNORED:
            options += [_step(_IF_EQUAL, option, 0, 1), _fail(0)]
        self._case("prctl", options)
        events = [_argument(1)]
        for command in _FILE_EVENTS:
            events += [_step(_IF_EQUAL, command, 0, 1), _fail(errno.EPERM)]
        self._case("fcntl", events)
        # Allow only the caller's own limits, and no negative pid (a group, or every process).
        self._case("prlimit64", [_argument(0), _step(_IF_EQUAL, 0, 1, 0), _fail(errno.EPERM)])
        self._case("kill", [_argument(0), _step(_IF_BITS, 0x80000000, 0, 1), _fail(errno.EPERM)])

    def _modes(self, *, shared_files: bool) -> None:
        """Refuse set-id bits; if files must stay with their user, give no bits to others, now or for new files.

        A call that would give them says yes and does nothing: programs end if they cannot make a folder of mode 755.
        """
        for name, mode in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2)):
            body = [_argument(mode), _step(_IF_BITS, _SET_ID_BITS, 0, 1), _fail(errno.EPERM)]
            if not shared_files:
                body += [_step(_IF_BITS, _BITS_OF_OTHERS, 0, 1), _fail(0)]
            self._case(name, body)
        if not shared_files:
            self._refuse("umask", 0)
            for name in ("setxattr", "lsetxattr", "fsetxattr"):  # an access list is an extended attribute
                self._refuse(name, errno.EOPNOTSUPP)

    def _refuse(self, name: str, number: int) -> None:
        if name in self._numbers:
            self._emit(_IF_EQUAL, self._numbers[name], 0, 1)
            self._emit(_RETURN, _ERRNO | number)

    def _case(self, name: str, body: List[bytes]) -> None:
        """Check the arguments of one call; it is allowed if no step of `body` returns."""
        if name in self._numbers:
            body = [*body, _step(_RETURN, _ALLOW)]
            self._emit(_IF_EQUAL, self._numbers[name], 0, len(body))
            self._code += body

    def _emit(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._code.append(_step(code, value, if_true, if_false))


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value & 0xFFFFFFFF)


def _argument(index: int) -> bytes:
    """Load the low half of an argument; every value that is checked here has 32 bits."""
    return _step(_LOAD, 16 + 8 * index)


def _fail(number: int) -> bytes:
    return _step(_RETURN, _ERRNO | number)
