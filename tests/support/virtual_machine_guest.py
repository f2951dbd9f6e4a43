"""The first process of a virtual machine: makes the host that was ordered, runs one command there, says how it ended.

Started by the first script of `virtual_machine.py`, with the real machine's files below it, read-only. What is ordered
and what came of it lie in the folder that both machines see.
"""

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

EXCHANGE = Path("/mnt")
CGROUPS = Path("/sys/fs/cgroup")
ORDINARY_USER = 60000
_POWER_OFF = 0x4321FEDC
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_libc = ctypes.CDLL(None, use_errno=True)

_FILE_SYSTEMS = [
    # place, kind, flags, options
    ("/proc", "proc", _NOSUID | _NODEV | _NOEXEC, ""),
    ("/sys", "sysfs", _NOSUID | _NODEV | _NOEXEC, ""),
    ("/dev", "devtmpfs", _NOSUID, "mode=755"),
    ("/tmp", "tmpfs", _NOSUID | _NODEV, "mode=1777"),
    ("/var/tmp", "tmpfs", _NOSUID | _NODEV, "mode=1777"),
    ("/run", "tmpfs", _NOSUID | _NODEV, "mode=755"),
    ("/mnt", "9p", 0, "trans=virtio,version=9p2000.L,cache=none"),
]


def mount(source: str, place: str, kind: str, flags: int, options: str) -> None:
    """mount(2)."""
    if _libc.mount(source.encode(), place.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"{kind} on {place}")


def furnish() -> None:
    """What an init process mounts, and a loopback that works."""
    for place, kind, flags, options in _FILE_SYSTEMS:
        mount("exchange" if kind == "9p" else kind, place, kind, flags, options)
    for place, kind, options in (("/dev/shm", "tmpfs", "mode=1777"), ("/dev/pts", "devpts", "ptmxmode=0666")):
        Path(place).mkdir()
        mount(kind, place, kind, _NOSUID, options)
    for name, target in {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}.items():
        Path("/dev", name).symlink_to(target)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def mount_cgroups(version: str) -> None:
    """Make the control groups of a host.

    `v2`: one hierarchy, this process in a leaf of it, as a login session is. `delegated`: the same, and that part
    belongs to the ordinary user of other_hosts.py, as `systemd-run --user --scope` has it. `v1`: two of the old
    kind. `none`.
    """
    if version in ("v2", "delegated"):
        mount("cgroup2", str(CGROUPS), "cgroup2", _NOSUID | _NODEV | _NOEXEC, "")
        session = CGROUPS / "user.slice" / "session.scope"
        session.mkdir(parents=True)
        for folder in (CGROUPS, session.parent):
            (folder / "cgroup.subtree_control").write_text("+memory +pids")
        (session / "cgroup.procs").write_text("0")
        if version == "delegated":
            for folder in (session.parent, session):
                for path in (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"):
                    os.chown(path, ORDINARY_USER, ORDINARY_USER)
    elif version == "v1":
        mount("tmpfs", str(CGROUPS), "tmpfs", _NOSUID | _NODEV | _NOEXEC, "mode=755")
        for controller in ("memory", "pids"):
            (CGROUPS / controller).mkdir()
            mount("cgroup", str(CGROUPS / controller), "cgroup", _NOSUID | _NODEV | _NOEXEC, controller)


def run(order: dict[str, Any]) -> int:
    """Run the ordered command; reaps whatever loses its parent meanwhile. Returns its exit status."""
    for name, value in order["sysctls"].items():
        Path("/proc/sys", name.replace(".", "/")).write_text(value)
    with (EXCHANGE / "printed").open("wb") as printed:
        command = subprocess.Popen(
            order["command"],
            cwd=order["folder"],
            env=order["environment"],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
        )
        while True:
            pid, status = os.wait()
            if pid == command.pid:
                command.returncode = os.waitstatus_to_exitcode(status)
                return command.returncode


def main() -> None:
    """Never returns: the machine is switched off."""
    try:
        furnish()
        order = json.loads((EXCHANGE / "order").read_text())
        mount_cgroups(order["cgroups"])
        (EXCHANGE / "status").write_text(str(run(order)))
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    os.sync()
    _libc.reboot(ctypes.c_int(_POWER_OFF - (1 << 32) if _POWER_OFF >> 31 else _POWER_OFF))


if __name__ == "__main__":
    main()
