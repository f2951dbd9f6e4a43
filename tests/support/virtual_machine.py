"""Runs a command in a virtual machine with a kernel of its own: no image, no network, no installation.

The guest sees this machine's files, read-only, through a shared folder (9p), and has memory-backed folders where
programs write. A first script, packed with the few modules that it needs, mounts that and starts
virtual_machine_guest.py.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

ROOT: Final = Path(__file__).parents[2]
GUEST: Final = Path(__file__).with_name("virtual_machine_guest.py")
EMULATOR: Final = "qemu-system-x86_64"
_MODULES: Final = ("virtio_pci", "9pnet_virtio", "9p")
_ADVICE: Final = (
    "virtual machines need root on x86-64, qemu-system-x86, a kernel with its modules, and busybox: `apt-get download` "
    "busybox-static and the package that linux-image-amd64 depends on, unpack both with `dpkg -x`, name the folder in "
    "VIVA_TEST_KERNEL"
)
_FIRST_SCRIPT: Final = """#!/busybox sh
for module in {modules}; do /busybox insmod /$module; done
/busybox mount -t 9p -o trans=virtio,version=9p2000.L,cache=loose,msize=262144,ro host /new
exec /busybox switch_root /new {python} -s {guest}
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel image, the folder of its modules, and a busybox that needs no library."""

    image: Path
    modules: Path
    busybox: Path

    @classmethod
    def find(cls) -> Self | None:
        """The newest below VIVA_TEST_KERNEL, or else of this machine; None where something is missing."""
        base = Path(os.environ.get("VIVA_TEST_KERNEL", "/"))
        busybox = next((path for path in (base / "bin/busybox", base / "usr/bin/busybox") if path.is_file()), None)
        for image in sorted(base.glob("boot/vmlinuz-*"), reverse=True):
            modules = base / "lib" / "modules" / image.name.removeprefix("vmlinuz-")
            if busybox and next(modules.rglob(f"{_MODULES[-1]}.ko"), None):
                return cls(image, modules, busybox)
        return None

    def needed(self) -> list[Path]:
        """The modules for the shared folder, each after those that it needs."""
        found: list[Path] = []
        for name in _MODULES:
            self._add(name, found)
        return found

    def _add(self, name: str, found: list[Path]) -> None:
        file = next(self.modules.rglob(f"{name}.ko"), None)
        if file is None or file in found:
            return  # part of the kernel itself
        needs = re.search(rb"\0depends=([^\0]*)\0", file.read_bytes())
        for needed in filter(None, needs[1].decode().split(",") if needs else ()):
            self._add(needed, found)
        found.append(file)


@dataclass(frozen=True, slots=True)
class Machine:
    """What kind of machine is started."""

    cgroups: str = "v2"
    """`v2`, `delegated`, `v1` or `none`; virtual_machine_guest.py says what they are."""
    kernel_arguments: str = ""
    sysctls: Mapping[str, str] = field(default_factory=dict)


def missing() -> str | None:
    """What has to be installed or changed before a machine can be started here, in one sentence; None if nothing."""
    if any(str(path).startswith("/tmp/") for path in (ROOT, Path(sys.prefix))):
        return "virtual machines have a /tmp of their own, which hides a checkout or an environment that lies there"
    if sys.platform != "linux" or os.geteuid() != 0 or os.uname().machine != "x86_64":
        return _ADVICE
    return None if shutil.which(EMULATOR) and Kernel.find() else _ADVICE


def run(
    command: Sequence[str], machine: Machine, *, environment: Mapping[str, str], timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Run `command` as root in a fresh machine; it is gone afterwards whatever happens.

    Returns:
        What it printed, and its exit status; the machine's own messages as `stderr`.

    Raises:
        subprocess.TimeoutExpired: it took longer than `timeout_s`.
    """
    kernel = Kernel.find()
    assert kernel is not None
    with tempfile.TemporaryDirectory(prefix="machine-of-viva-") as folder:
        exchange, archive, console = Path(folder, "exchange"), Path(folder, "initrd"), Path(folder, "console")
        exchange.mkdir()
        settled = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp", "LANG": "C.UTF-8"}
        order = {
            "command": list(command),
            "folder": str(ROOT),
            "environment": {**settled, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            "cgroups": machine.cgroups,
            "sysctls": dict(machine.sysctls),
        }
        (exchange / "order").write_text(json.dumps(order))
        archive.write_bytes(_first_files(kernel))
        try:
            subprocess.run(_emulator(kernel, machine, exchange, archive, console), timeout=timeout_s, check=True)
        except subprocess.TimeoutExpired as error:
            error.stderr = console.read_bytes()
            raise
        status, printed = exchange / "status", exchange / "printed"
        return subprocess.CompletedProcess(
            list(command),
            int(status.read_text()) if status.exists() else -1,
            printed.read_text("utf-8", "replace") if printed.exists() else "",
            console.read_text("utf-8", "replace"),
        )


# An emulated timer may be late where the real machine is busy; a kernel that checks it then gives up.
_ARGUMENTS: Final = "console=ttyS0 quiet panic=-1 no_timer_check"


def _emulator(kernel: Kernel, machine: Machine, exchange: Path, archive: Path, console: Path) -> list[str]:
    shared = []
    for tag, path, options in (("host", "/", ",readonly=on,multidevs=remap"), ("exchange", str(exchange), "")):
        shared += ["-fsdev", f"local,id={tag},path={path},security_model=none{options}"]
        shared += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    return [
        *(EMULATOR, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *(*_accelerator(), "-smp", "2", "-m", "4096"),
        *("-kernel", str(kernel.image), "-initrd", str(archive), "-serial", f"file:{console}"),
        *("-append", f"{_ARGUMENTS} {machine.kernel_arguments}".strip()),
        *shared,
    ]


def _accelerator() -> tuple[str, ...]:
    """The processor's own help where it has any (its flags say so; /dev/kvm alone does not), or else emulation."""
    helped = re.search(r"^flags\b.*\b(vmx|svm)\b", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    if helped and os.access("/dev/kvm", os.W_OK):
        return ("-accel", "kvm", "-cpu", "host")
    return ("-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max")


def _first_files(kernel: Kernel) -> bytes:
    """The archive that the kernel unpacks into memory: the first script, busybox, modules."""
    modules = kernel.needed()
    script = _FIRST_SCRIPT.format(
        modules=" ".join(module.name for module in modules), python=os.path.realpath(sys.executable), guest=GUEST
    )
    files = {"init": (0o755, script.encode()), "busybox": (0o755, kernel.busybox.read_bytes())}
    return _archive(files | {module.name: (0o644, module.read_bytes()) for module in modules})


def _archive(files: Mapping[str, tuple[int, bytes]]) -> bytes:
    """A cpio archive of the kind that kernels read ("newc"): folders first, then files."""
    folders = {str(parent) for name in files for parent in Path(name).parents if str(parent) != "."} | {"new"}
    entries = [(name, 0o040755, b"") for name in sorted(folders)]
    entries += [(name, 0o100000 | mode, data) for name, (mode, data) in files.items()]
    parts = []
    for inode, (name, mode, data) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        label = name.encode() + b"\0"
        numbers = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(label), 0)
        header = b"070701" + b"".join(b"%08x" % number for number in numbers) + label
        parts += [header, bytes(-len(header) % 4), data, bytes(-len(data) % 4)]
    return b"".join(parts)
