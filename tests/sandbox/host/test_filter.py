"""The system call filter: a small machine runs the program, so that both architectures are tested on either."""

import errno
import platform
import re
import shutil
import struct
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import system_calls
from viva.sandbox.guest.lockdown import kernel_calls, numbers_aarch64, numbers_x86_64, seccomp

ARCHITECTURES = {"x86_64": numbers_x86_64, "aarch64": numbers_aarch64}
HEADERS = [Path("/usr/include/x86_64-linux-gnu"), Path("/usr/include")]
ALLOWED, KILLED = "allowed", "killed"


def decide(code: bytes, arch: int, number: int, arguments: tuple[int, ...] = ()) -> str:
    """Run classic BPF over one system call; "allowed", "killed", or the name of the error it answers."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, arch, 0, *[value & (2**64 - 1) for value in padded])
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator = position = 0
    while True:
        operation, if_true, if_false, value = steps[position]
        position += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            break
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[operation]
            position += if_true if holds else if_false
    if value == 0x7FFF0000:
        return ALLOWED
    if value == 0x80000000:
        return KILLED
    assert value & 0xFFFF0000 == 0x00050000
    return errno.errorcode.get(value & 0xFFFF, "0")


@pytest.fixture(params=ARCHITECTURES)
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The numbers of one architecture, as if this machine were one."""
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    seccomp.program.cache_clear()
    return ARCHITECTURES[request.param]


def name_of(table: ModuleType) -> str:
    """The architecture that a table is for."""
    return next(name for name, each in ARCHITECTURES.items() if each is table)


def verdict(
    table: ModuleType,
    name: str,
    *arguments: int,
    fork: bool = True,
    memory_files: bool = False,
    shared_files: bool = True,
) -> str:
    """What the filter of `table` answers to a call by name."""
    allowed = seccomp.Allowed(fork=fork, memory_files=memory_files, shared_files=shared_files)
    return decide(seccomp.program(allowed), table.AUDIT_ARCH, table.NUMBERS[name], arguments)


def test_filter_fits_kernel_limit(table: ModuleType) -> None:
    assert len(seccomp.program(seccomp.Allowed())) // 8 < 4096


def test_another_architecture_is_killed(table: ModuleType) -> None:
    code = seccomp.program(seccomp.Allowed())
    for other in (numbers_x86_64.AUDIT_ARCH, numbers_aarch64.AUDIT_ARCH, 0x40000003, 0x40000028):
        expected = ALLOWED if other == table.AUDIT_ARCH else KILLED
        assert decide(code, other, 0) == expected


def test_x32_numbers_are_killed(table: ModuleType) -> None:
    answer = decide(seccomp.program(seccomp.Allowed()), table.AUDIT_ARCH, 0x40000000 | 39)
    assert answer == (KILLED if table is numbers_x86_64 else "ENOSYS")


@pytest.mark.parametrize("number", [457, 462, 467, 512, 547, 10_000])
def test_what_nobody_has_reviewed_does_not_exist(table: ModuleType, number: int) -> None:
    assert decide(seccomp.program(seccomp.Allowed()), table.AUDIT_ARCH, number) == "ENOSYS"


NEWER_THAN_THE_HEADERS = {"fchmodat2": 452}
"""Since Linux 6.6, under one number everywhere."""


def test_numbers_match_kernel_headers(table: ModuleType) -> None:
    theirs = system_calls.stored()[name_of(table)]
    assert len(theirs) > 300 and max(theirs.values()) == 450, "Linux 6.1"
    assert {name: theirs.get(name, NEWER_THAN_THE_HEADERS.get(name)) for name in table.NUMBERS} == table.NUMBERS


def test_stored_numbers_match_headers() -> None:
    """Where it has any; headers may be newer and know more."""
    folder = next((path for path in HEADERS if (path / "asm").is_dir()), None)
    if folder is None or shutil.which("cpp") is None or platform.machine() != "x86_64":
        pytest.skip("no kernel headers for x86-64 here")
    assert system_calls.stored()["x86_64"].items() <= system_calls.read_headers(str(folder)).items()


REACHES_OUT = re.compile(
    r"mount|_module|kexec|^bpf$|perf_|ptrace|process_vm|process_m|pidfd_(getfd|open|send)|io_uring|keyctl|_key$|swapo|reboot"
    r"|settime|adjtim|^sethost|^setdomain|^setns$|unshare|^quota|handle_at|fanotify|userfault|^set(re|res|fs)?[ug]id$"
    r"|setgroups|capset|mknod|chroot|pivot|^acct$|^iop|^ioperm|^(msg|shm|sem)get|mq_open|landlock_create|memfd_secret"
    r"|personality|inotify_init|vmsplice|memfd_create|^fs(open|config|mount|pick)|open_tree|kcmp|syslog|lookup_dcookie|vhangup|tkill|sigqueue|^clone3$"
)
"""What no box needs and kernels have had holes in, by name, so that no call of a family is forgotten."""
ALIKE_IN_NAME = {"ioprio_get", "ioprio_set", "timer_settime", "timerfd_settime"}
"""A program's own order at the disk, and its own timers."""


def test_outreaching_calls_are_refused(table: ModuleType) -> None:
    """Every call that the kernel's headers know is put to the filter."""
    theirs = system_calls.stored()[name_of(table)]
    code = seccomp.program(seccomp.Allowed())
    verdicts = {name: decide(code, table.AUDIT_ARCH, number) for name, number in theirs.items()}
    forgotten = {name for name, verdict in verdicts.items() if verdict == ALLOWED and REACHES_OUT.search(name)}
    assert forgotten == ALIKE_IN_NAME
    assert KILLED not in verdicts.values()
    assert {"read", "write", "openat", "mmap", "futex", "execve", "clone", "socketpair"} <= {
        name for name, verdict in verdicts.items() if verdict == ALLOWED or name in ("clone", "socketpair")
    }


def test_both_architectures_answer_alike() -> None:
    """A call that both know gets one verdict."""
    verdicts: list[dict[str, str]] = []
    for name, table in ARCHITECTURES.items():
        numbers = system_calls.stored()[name]
        code = seccomp._Assembler(table, table.NUMBERS).assemble(seccomp.Allowed())
        verdicts.append({call: decide(code, table.AUDIT_ARCH, number) for call, number in numbers.items()})
    one, other = verdicts
    both = one.keys() & other.keys()
    assert len(both) > 250
    assert {call: (one[call], other[call]) for call in both if one[call] != other[call]} == {}


def test_processes_may_be_made_but_not_namespaces(table: ModuleType) -> None:
    assert verdict(table, "clone", 17) == ALLOWED
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(table, "clone", flag | 17) == "EPERM"


def test_without_fork_only_threads_are_made(table: ModuleType) -> None:
    threads = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000
    assert verdict(table, "clone", threads, fork=False) == ALLOWED
    assert verdict(table, "clone", 17, fork=False) == "EAGAIN"
    assert verdict(table, "execve", fork=False) == "EPERM"
    assert verdict(table, "execve", fork=True) == ALLOWED
    assert verdict(table, "socketpair", 1, fork=False) == ALLOWED  # event loops wake themselves with one
    assert verdict(table, "socket", 1, fork=False) == "ENOTSUP"


def test_only_unix_sockets_exist(table: ModuleType) -> None:
    assert verdict(table, "socket", 1) == ALLOWED
    for family in (2, 10, 16, 17, 38, 40):
        assert verdict(table, "socket", family) == "ENOTSUP"


def test_arguments_are_looked_at(table: ModuleType) -> None:
    assert verdict(table, "kill", 1234, 9) == ALLOWED
    assert verdict(table, "kill", -1, 9) == "EPERM"
    assert verdict(table, "kill", -1234, 9) == "EPERM"
    assert verdict(table, "ioctl", 0, 0x5401) == ALLOWED
    assert verdict(table, "ioctl", 0, 0x5412) == "EPERM"
    assert verdict(table, "ioctl", 0, 0x541C) == "EPERM"
    assert verdict(table, "ioctl", 0, 0x5412 | 1 << 32) == "EPERM"  # the kernel looks at 32 bits of it
    assert verdict(table, "prlimit64", 0, 7) == ALLOWED
    assert verdict(table, "prlimit64", 1, 7) == "EPERM"
    assert verdict(table, "fchmodat", 0, 0, 0o755) == ALLOWED
    assert verdict(table, "fchmodat", 0, 0, 0o4755) == "EPERM"
    assert verdict(table, "fchmod", 0, 0o2755) == "EPERM"
    assert verdict(table, "prctl", 15) == ALLOWED
    assert verdict(table, "prctl", kernel_calls.PR_SET_PDEATHSIG) == "0"  # says yes and does nothing


def test_uncounted_memory_is_refused(table: ModuleType) -> None:
    assert verdict(table, "vmsplice") == "EPERM"
    assert verdict(table, "memfd_create") == "ENOSYS"
    assert verdict(table, "memfd_create", memory_files=True) == ALLOWED, "CUDA needs it"


def test_file_watches_are_refused(table: ModuleType) -> None:
    for name in ("inotify_init", "inotify_init1"):
        assert name not in table.NUMBERS or verdict(table, name) == "ENOSYS"
    assert verdict(table, "fcntl", 3, 1026) == verdict(table, "fcntl", 3, 1024) == "EPERM"
    assert verdict(table, "fcntl", 3, 6) == ALLOWED, "locks: libraries that keep a cache need them"


def test_shared_folder_permissions(table: ModuleType) -> None:
    for name, before in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2)):
        if name in table.NUMBERS:
            at = (0,) * before
            assert verdict(table, name, *at, 0o700, shared_files=False) == ALLOWED
            for mode in (0o4700, 0o4755):
                assert verdict(table, name, *at, mode, shared_files=False) == "EPERM"
            for bit in (0o001, 0o002, 0o004, 0o010, 0o020, 0o040):
                assert verdict(table, name, *at, 0o600 | bit, shared_files=False) == "0", "says yes and does nothing"
                assert verdict(table, name, *at, 0o600 | bit) == ALLOWED
    assert verdict(table, "umask", 0, shared_files=False) == "0"  # says yes and does nothing
    assert verdict(table, "umask", 0) == ALLOWED
    for name in ("setxattr", "lsetxattr", "fsetxattr"):
        assert verdict(table, name, shared_files=False) == "ENOTSUP"


def test_unknown_machine_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    seccomp.program.cache_clear()
    with pytest.raises(OSError, match="riscv64"):
        seccomp.program(seccomp.Allowed())
