"""Runs a command in a real container, with `runc` alone: no engine, no image, no network.

The root file system is an empty folder into which this machine's `/usr` and friends, the interpreter and this checkout
are bound, read-only. All else is as Docker starts a container: namespaces, fourteen capabilities, covered parts of
`/proc`, and a system call filter made from the distribution's profile. No control group is asked for: runc cannot
make one where a machine mixes both versions of them.
"""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
PROFILE: Final = Path("/usr/share/containers/seccomp.json")
CAPABILITIES: Final = [
    f"CAP_{name}"
    for name in [
        *("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP"),
        *("NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"),
    ]
]
NAMES_OF_MACHINES: Final = {"x86_64": ("amd64", "SCMP_ARCH_X86_64"), "aarch64": ("arm64", "SCMP_ARCH_AARCH64")}
"""What Go and libseccomp call them."""
WITHHELD_BY_DOCKER: Final = frozenset(
    {
        *("clone", "clone3", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount"),
        *("open_tree", "pivot_root", "setns", "umount", "umount2", "unshare"),
    }
)
"""What the distribution's profile, made for podman, allows everyone, but Docker's only with CAP_SYS_ADMIN."""
LANDLOCK: Final = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
NAMESPACE_FLAGS: Final = 0x7E020000
EPERM: Final = 1
ENOSYS: Final = 38
COVERED: Final = [
    *("/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"),
    *("/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware"),
]
READ_ONLY: Final = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def missing() -> str | None:
    """What has to be installed or changed before a container can be made here, in one sentence; None if nothing."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "containers are made by root on Linux"
    if platform.machine() not in NAMES_OF_MACHINES:
        return f"the system call profile cannot be converted for {platform.machine()}"
    if shutil.which("runc") is None or not PROFILE.is_file():
        return "containers need `apt-get install runc golang-github-containers-common`"
    return None


def run(
    command: Sequence[str], *, environment: Mapping[str, str], timeout_s: float, landlock: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run `command` in a fresh container, which is gone afterwards whatever happens.

    Args:
        command: as the container's pid 1.
        environment: in addition to what every container has.
        timeout_s: wall seconds.
        landlock: False answers its three system calls as a kernel does that has none.

    Raises:
        subprocess.TimeoutExpired: it took longer than `timeout_s`.
    """
    with _bundle(command, environment, landlock) as bundle:
        runc, name = ["runc", "--root", str(bundle / "state")], f"viva-{uuid.uuid4().hex[:12]}"
        try:
            return subprocess.run(
                [*runc, "run", "--bundle", str(bundle), name],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                check=False,
            )
        finally:
            subprocess.run([*runc, "delete", "--force", name], capture_output=True, timeout=60, check=False)


@contextmanager
def _bundle(command: Sequence[str], environment: Mapping[str, str], landlock: bool) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="container-of-viva-") as folder:
        bundle = Path(folder)
        root = bundle / "rootfs"
        (root / "run").mkdir(mode=0o755, parents=True)
        configuration = _configuration(command, environment, _binds(root))
        if not landlock:
            _withhold(LANDLOCK, configuration["linux"]["seccomp"])
        (bundle / "config.json").write_text(json.dumps(configuration))
        yield bundle


def _binds(root: Path) -> list[Path]:
    """Folders to bind, those above before those below; the links among them are made in `root`."""
    libraries = [Path(path) for path in sys.path if path.endswith("-packages")]  # a .pth file may name other places
    found = [Path("/etc"), Path("/usr"), Path(sys.base_prefix), Path(sys.prefix), ROOT, *libraries]
    for path in (Path("/", name) for name in ("bin", "sbin", "lib", "lib64")):
        if path.is_symlink():
            (root / path.name).symlink_to(path.readlink())
        elif path.is_dir():
            found.append(path)
    return [path for path in sorted(set(found)) if not any(above in found for above in path.parents)]


def _configuration(command: Sequence[str], environment: Mapping[str, str], binds: list[Path]) -> dict[str, Any]:
    settled = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    return {
        "ociVersion": "1.0.2",
        "hostname": "container",
        "root": {"path": "rootfs", "readonly": False},
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": list(command),
            "env": [f"{name}={value}" for name, value in {**settled, **environment}.items()],
            "cwd": str(ROOT),
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), CAPABILITIES),
        },
        "mounts": _mounts() + [_mount(str(path), "bind", "rbind ro", source=str(path)) for path in binds],
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")],
            "maskedPaths": COVERED,
            "readonlyPaths": READ_ONLY,
            "seccomp": oci_profile(json.loads(PROFILE.read_text("utf-8"))),
        },
    }


def _mounts() -> list[dict[str, Any]]:
    return [
        _mount("/proc", "proc", "nosuid noexec nodev"),
        _mount("/dev", "tmpfs", "nosuid strictatime mode=755 size=65536k"),
        _mount("/dev/pts", "devpts", "nosuid noexec newinstance ptmxmode=0666 mode=0620 gid=5"),
        _mount("/dev/shm", "tmpfs", "nosuid noexec nodev mode=1777 size=65536k"),
        _mount("/dev/mqueue", "mqueue", "nosuid noexec nodev"),
        _mount("/sys", "sysfs", "nosuid noexec nodev ro"),
        _mount("/tmp", "tmpfs", "nosuid nodev mode=1777"),
    ]


def _mount(place: str, kind: str, options: str, *, source: str = "") -> dict[str, Any]:
    return {"destination": place, "type": kind, "source": source or kind, "options": options.split()}


def oci_profile(profile: Mapping[str, Any]) -> dict[str, Any]:
    """The form that runc reads of a profile in the form that engines read, as Docker would have it for CAPABILITIES."""
    architecture, own = NAMES_OF_MACHINES[platform.machine()]
    related = [
        name for entry in profile["archMap"] if entry["architecture"] == own for name in entry["subArchitectures"]
    ]
    rules = [
        _rule(rule, [name for name in rule["names"] if name not in WITHHELD_BY_DOCKER])
        for rule in profile["syscalls"]
        if _holds(rule.get("includes") or {}, rule.get("excludes") or {}, architecture)
    ]
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile.get("defaultErrnoRet", EPERM),
        "architectures": [own, *related],
        "syscalls": [rule for rule in rules if rule["names"]] + _without_namespaces(),
    }


def _rule(rule: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    kept = {key: rule[key] for key in ("action", "args", "errnoRet") if rule.get(key) is not None}
    return {**kept, "names": names}


def _without_namespaces() -> list[dict[str, Any]]:
    """Docker's rules for who has no CAP_SYS_ADMIN; clone3, whose flags no filter can see, "does not exist"."""
    no_new = {"index": 0, "value": NAMESPACE_FLAGS, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    refused = sorted(WITHHELD_BY_DOCKER - {"clone", "clone3"})
    return [
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [no_new]},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS},
        {"names": refused, "action": "SCMP_ACT_ERRNO", "errnoRet": EPERM},
    ]


def _withhold(names: Sequence[str], profile: dict[str, Any]) -> None:
    """From here on these calls "do not exist"."""
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in names]
    refused = {"names": list(names), "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS}
    profile["syscalls"] = [rule for rule in profile["syscalls"] if rule["names"]] + [refused]


def _holds(includes: Mapping[str, Any], excludes: Mapping[str, Any], architecture: str) -> bool:
    """A rule is for those who meet all that it includes and nothing that it excludes."""
    return (
        set(includes.get("caps", ())) <= set(CAPABILITIES)
        and architecture in includes.get("arches", [architecture])
        and _kernel() >= _version(includes.get("minKernel", "0.0"))
        and not set(excludes.get("caps", ())) & set(CAPABILITIES)
        and architecture not in excludes.get("arches", ())
        and not ("minKernel" in excludes and _kernel() >= _version(excludes["minKernel"]))
    )


@functools.cache
def _kernel() -> tuple[int, ...]:
    return _version(platform.release().partition("-")[0])


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])
