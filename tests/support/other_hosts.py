"""Turns this root shell into another host and runs a command there: `python other_hosts.py KIND [--apart] COMMAND...`.

KIND is `root` (this one: tier T3), `unprivileged` (an ordinary user, as on a student's laptop: tier T2), `masked` (the
same where parts of /proc are covered, as in containers: the kernel then refuses a fresh one) or `container` (root with
the fourteen capabilities that Docker leaves, no CAP_SYS_ADMIN: tier T1). Needs root. The interpreter and this checkout
are made reachable in a private mount namespace even if they lie below a closed home directory.

`--apart` gives the host temporary directories of its own, which go with it, and a network of its own where nothing but
loopback is, so that all it leaves behind and all it sends can be counted. A `container` keeps this machine's network:
there examiners agree on the users of their boxes.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))

from viva.sandbox.guest.lockdown import kernel_calls, kernel_namespaces, mounts  # noqa: E402

ORDINARY_USER = 60000
"""Below the range that boxes take their users from."""
DOCKER_CAPABILITIES = [0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31]
"""In the order of their numbers: chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service,
net_raw, sys_chroot, mknod, audit_write, setfcap."""


TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"]
_SIOCADDRT, _SIOCSIFFLAGS, _IFF_UP, _RTF_UP = 0x890B, 0x8914, 1, 1


def open_ways_to(paths: list[Path]) -> None:
    """Let every user reach `paths`: closed directories above them are replaced, here only, by open ones."""
    blocked: dict[Path, list[Path]] = {}
    for path in paths:
        for parent in reversed(path.parents):
            if not parent.stat().st_mode & 0o001:
                blocked.setdefault(parent, []).append(path)
                break
    for parent, below in blocked.items():
        replace(parent, below, size="1m", inodes=200, mode="755")


def replace(folder: Path, kept: list[Path], *, size: str, inodes: int, mode: str) -> None:
    """Mount an empty file system over `folder`, in which only the paths `kept` are what they were."""
    held = [(path, os.open(path, os.O_PATH)) for path in kept]
    mounts.small_file_system(str(folder), size=size, inodes=inodes, mode=mode)
    for path, fd in held:
        path.mkdir(parents=True, exist_ok=True)
        kernel_calls.mount(f"/proc/self/fd/{fd}", str(path), "", mounts.BIND | mounts.REC)
        os.close(fd)


def own_temporary_directories(needed: list[Path]) -> None:
    """Empty ones, in which only what is `needed` can still be found."""
    for place in map(Path, TEMPORARY):
        if place.is_dir():
            below = [path for path in needed if place in path.parents]
            replace(place, below, size="1g", inodes=100_000, mode="1777")


def own_network() -> None:
    """Only loopback, which is the way to every address: whatever is sent to anywhere is counted there."""
    kernel_calls.unshare(kernel_namespaces.NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
        name = ctypes.create_string_buffer(b"lo")
        address = struct.pack("=H14x", socket.AF_INET)
        route = struct.pack("=8x16s16s16sH22x8xQ24x", address, address, address, _RTF_UP, ctypes.addressof(name))
        fcntl.ioctl(any_socket, _SIOCADDRT, route)


def leave_only(capabilities: list[int]) -> None:
    """Root as a container has it; the next program executed is bound by it."""
    for number in range(41):
        if number not in capabilities:
            kernel_calls.prctl(kernel_calls.PR_CAPBSET_DROP, number)
    mask = sum(1 << number for number in capabilities)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    kernel_calls.syscall("capset", struct.pack("=II", 0x20080522, 0), struct.pack("=6I", low, low, 0, high, high, 0))


def main(kind: str, command: list[str], *, apart: bool) -> None:
    """Replace this process by `command` on the other host."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), ROOT]
    if apart and kind != "container":
        own_network()
    kernel_calls.unshare(kernel_namespaces.NEWNS)
    mounts.make_private()
    if apart:
        own_temporary_directories(needed)
    open_ways_to(needed)
    if kind == "masked":
        kernel_calls.mount("/dev/null", "/proc/timer_list", "", mounts.BIND)
    if kind in ("unprivileged", "masked"):
        os.setgroups([])
        os.setresgid(*[ORDINARY_USER] * 3)
        os.setresuid(*[ORDINARY_USER] * 3)
    elif kind == "container":
        if Path("/sys/fs/cgroup").is_dir():
            mounts.small_file_system("/sys/fs/cgroup", size="4k", inodes=2)  # a container's is read-only or absent
        leave_only(DOCKER_CAPABILITIES)
    environment = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    kept = {name: value for name, value in os.environ.items() if name.startswith(("VIVA_TEST_", "PYTHONPATH"))}
    os.execve(command[0], command, {**environment, **kept})


if __name__ == "__main__":
    is_apart = sys.argv[2] == "--apart"
    main(sys.argv[1], sys.argv[3 if is_apart else 2 :], apart=is_apart)
