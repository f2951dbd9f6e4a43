"""What the kernel answers to a student's program, call by call: the same in each tier."""

import os
import platform

import pytest

from tests.support import system_calls
from tests.support.boxed_program import Program, from_tier
from tests.support.table_rows import Rows
from viva.sandbox.errors import BoxDied
from viva.sandbox.guest.lockdown import landlock
from viva.sandbox.tier import Tier

PROGRAM = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def system_call(number, *arguments):
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    given = [ctypes.c_char_p(each) if isinstance(each, bytes) else ctypes.c_long(each) for each in padded]
    if libc.syscall(ctypes.c_long(number), *given) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return "done"
def answers(calls):
    return [system_call(number, *arguments) for number, *arguments in calls]
def attempt(action):
    try:
        exec(action)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
def attempts(actions):
    return [attempt(action) for action in actions]
"""

_NEW_USER_NAMESPACE, _NEW_PID_NAMESPACE = 0x10000000, 0x20000000
_ATTACH, _TIOCSTI, _TIOCLINUX = 16, 0x5412, 0x541C
_SET_LEASE, _NOTIFY, _GET_LOCK = 1024, 1026, 5
_WITHOUT_ARGUMENTS = """
process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise process_mrelease umount2 pivot_root setns
open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr bpf perf_event_open userfaultfd keyctl add_key
request_key memfd_secret init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff
acct quotactl quotactl_fd syslog settimeofday clock_settime clock_adjtime adjtimex personality open_by_handle_at
name_to_handle_at fanotify_init fanotify_mark lookup_dcookie nfsservctl vhangup setdomainname sethostname mknodat
setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset landlock_create_ruleset
migrate_pages move_pages mbind set_mempolicy set_mempolicy_home_node msgget semget mq_open pidfd_open
pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo tkill vmsplice
"""
REFUSED: dict[str, tuple[int | bytes, ...]] = {
    **dict.fromkeys(_WITHOUT_ARGUMENTS.split(), ()),
    "ptrace": (_ATTACH, 1),
    "mount": (b"tmpfs", b"/tmp", b"tmpfs"),
    "chroot": (b"/tmp",),
    "unshare": (_NEW_USER_NAMESPACE,),
    "clone": (_NEW_PID_NAMESPACE | 17,),
    "shmget": (0, 4096, 0o600),
    "kill": (-1, 0),
    "prlimit64": (1, 7),
}
"""EPERM. Arguments that are left out are 0."""
ABSENT = {
    "io_uring_setup": (8,), "io_uring_enter": (), "io_uring_register": (), "clone3": (), "inotify_init1": (),
    "memfd_create": (b"x",),
}  # fmt: skip
"""ENOSYS, as on a kernel that has no such call."""
ARGUMENTS = {
    "TIOCSTI": ("ioctl", (0, _TIOCSTI, b"x"), "EPERM"),
    "TIOCLINUX": ("ioctl", (0, _TIOCLINUX, b"x"), "EPERM"),
    "F_SETLEASE": ("fcntl", (0, _SET_LEASE), "EPERM"),
    "F_NOTIFY": ("fcntl", (0, _NOTIFY), "EPERM"),
    "a network socket": ("socket", (2, 1), "ENOTSUP"),
    "a netlink socket": ("socket", (16, 3), "ENOTSUP"),
    "a pair of network sockets": ("socketpair", (2, 1), "ENOTSUP"),
    "a process of its own": ("getpid", (), "done"),
    "its own limits": ("prlimit64", (0, 7), "done"),
}
"""Calls whose arguments decide: what it is, the call, its arguments, the answer."""
ACTIONS = {
    "os.setuid(0)": "EPERM",
    "os.setgroups([0])": "EPERM",
    "os.mknod('device', 0o600 | 0o060000, os.makedev(8, 0))": "EPERM",
    "os.mkfifo('fifo')": "EPERM",
    "os.chmod('solution.py', 0o4755)": "EPERM",
    "os.chown('solution.py', 12345, 12345)": "EPERM EINVAL",
    "os.chmod('solution.py', 0o644)": "done",
    "os.symlink('solution.py', 'link')": "done",
    "import fcntl; fcntl.flock(os.open('solution.py', os.O_RDONLY), fcntl.LOCK_EX)": "done",
    "open('/proc/self/mem', 'r+b')": "EACCES",
    "open('/proc/self/oom_score_adj', 'w')": "EACCES",
    "open('/proc/1/mem', 'rb')": "EACCES",
    "open('/proc/kcore')": "EACCES ENOENT",
}
"""Statements -> the answer; two where a host without that user or that file has another one."""


@from_tier(Tier.T1)
def test_every_call_gets_one_answer_in_each_tier(program: Program) -> None:
    numbers = system_calls.stored()[platform.machine()]
    table = [
        *((name, name, arguments, "EPERM") for name, arguments in REFUSED.items()),
        *((name, name, arguments, "ENOSYS") for name, arguments in ABSENT.items()),
        *((what, *row) for what, row in ARGUMENTS.items()),
    ]
    known = [row for row in table if row[1] in numbers]
    assert len(known) >= 95
    program.load(PROGRAM)
    found = program.call("answers", [[numbers[name], *arguments] for _, name, arguments, _ in known])
    with Rows() as row:
        for (what, _, _, expected), answer in zip(known, found, strict=True):
            with row(what):
                assert answer == expected


@from_tier(Tier.T1)
def test_every_action_gets_one_answer_in_each_tier(program: Program) -> None:
    program.load(PROGRAM)
    by_permissions = program.tier is Tier.T1 and not landlock.abi()  # then a program owns its part of /proc
    actions = {action: answer for action, answer in ACTIONS.items() if not (by_permissions and "/proc/self" in action)}
    found = program.call("attempts", list(actions))
    with Rows() as row:
        for (action, expected), answer in zip(actions.items(), found, strict=True):
            with row(action):
                assert answer in expected.split()


@from_tier(Tier.T1)
def test_new_and_unreviewed_calls_do_not_exist(program: Program) -> None:
    program.load(PROGRAM)
    unreviewed = [457, 460, 462, 467, 500, 1000]
    assert program.call("answers", [[number] for number in unreviewed]) == ["ENOSYS"] * len(unreviewed)


@from_tier(Tier.T1)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the x32 ABI exists on x86-64 only")
def test_other_abi_is_killed(program: Program) -> None:
    program.load(PROGRAM)
    with pytest.raises(BoxDied, match="SIGSYS"):
        program.call("system_call", 0x40000000 | 39)
