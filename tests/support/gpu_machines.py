"""What drivers and nvidia-smi have said on several machines, and a machine made of such texts."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from viva.model.gpu import Gpus
from viva.sandbox.host.gpu.gpus import find_gpus

RTX_3090 = """\
Model: \t\t NVIDIA GeForce RTX 3090
IRQ:   \t\t 77
GPU UUID: \t GPU-eaf23aa1-4d3d-596c-da66-b86b0e5db584
Video BIOS: \t 94.02.26.40.81
Bus Type: \t PCI
DMA Size: \t 47 bits
DMA Mask: \t 0x7fffffffffff
Bus Location: \t 0000:01:00.0
Device Minor: \t 0
GPU Firmware: \t 590.48.01
GPU Excluded:\t No
"""
TESLA_K80 = """\
Model: \t\t Tesla K80
IRQ:   \t\t 33
GPU UUID: \t GPU-be0a1aaf-c92d-ce5e-6d53-1f064e6842f6
Video BIOS: \t 80.21.25.00.01
Bus Type: \t PCI
DMA Size: \t 40 bits
DMA Mask: \t 0xffffffffff
Bus Location: \t 0000:00:04.0
Device Minor: \t 0
"""
VERSIONS = {
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  384.81  Wed Aug 17 22:24:07 PDT 2016\n"
    "GCC version:  gcc version 4.8.5 20150623 (Red Hat 4.8.5-4) (GCC)\n": "384.81",
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  555.42.06  Release Build  (abuild@host)  "
    "Thu Jul 11 12:00:00 UTC 2024\nGCC version:  gcc version 7.5.0 (SUSE Linux)\n": "555.42.06",
    "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build  "
    "(buildbrain@mobile-u64-6336-d8000)  Tue Jan  7 17:35:12 PST 2025\n": "540.4.0",
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  515.65.01  Wed Mar 16 11:24:05 UTC 2022\n"
    "GCC version:  gcc version 12.2.0 (GCC)\n": "515.65.01",
    "": "",
    "no driver of that name\n": "",
}
FAILED = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)


def _null_device(path: Path) -> None:
    """A null device of its own where this user may make one; else a link to the one there is."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.chmod(0o666)
        path.read_bytes()
    except OSError:
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/null")


class Machine:
    """A folder that looks like a machine with GPUs: /dev, /proc/driver/nvidia, and an nvidia-smi that reads a file."""

    def __init__(self, root: Path) -> None:
        self.dev, self.driver, self.programs = root / "dev", root / "proc", root / "bin"
        self._answer = root / "nvidia-smi.txt"
        for folder in (self.dev, self.driver / "gpus", self.programs):
            folder.mkdir(parents=True)
        self._list, self._report = root / "list.txt", root / "report.xml"
        self._lines: dict[str, list[str]] = {}
        self._slices: dict[str, list[dict[str, str]]] = {}

    def gpus(self, **environ: str) -> Gpus:
        """What viva finds here, with these environment variables."""
        return Gpus.offer(find_gpus(environ, self.dev, self.driver))

    def add(self, bus: str, minor: int, name: str = "NVIDIA L4", memory: str = "23034", used: str = "4") -> None:
        """One more GPU; its device files are null devices."""
        for file in ("nvidiactl", "nvidia-uvm", f"nvidia{minor}"):
            if not (self.dev / file).exists():
                _null_device(self.dev / file)
        uuid = f"GPU-{minor:08x}-1111-2222-3333-444444444444"
        folder = self.driver / "gpus" / bus
        folder.mkdir()
        (folder / "information").write_text(
            f"Model: \t\t {name}\nGPU UUID: \t {uuid}\nBus Location: \t {bus}\nDevice Minor: \t {minor}\n", "utf-8"
        )
        (self.driver / "version").write_text(next(iter(VERSIONS)), "utf-8")
        self._lines[bus] = [f"0000{bus.upper()}", uuid, memory, used, "550.90.07", name]
        self._write()

    def use(self, bus: str, used: str, number: int | None = None) -> None:
        """So much memory is in use from now on, of the GPU or of one of its slices."""
        if number is None:
            self._lines[bus][3] = used
        else:
            self._slices[bus][number]["used"] = used
        self._write()

    def divide(self, bus: str, minor: int, instances: dict[str, int], memory: str = "9856") -> None:
        """Divide a GPU into slices; each instance, such as `1/0`, has device files from this number on."""
        self._slices[bus] = []
        (self.dev / "nvidia-caps").mkdir(exist_ok=True)
        of_gpu = self.driver / "capabilities" / f"gpu{minor}" / "mig"
        of_gpu.mkdir(parents=True)
        for instance, number in instances.items():
            first, second = instance.split("/")
            places = of_gpu / f"gi{first}" / "access", of_gpu / f"gi{first}" / f"ci{second}" / "access"
            for file, place in enumerate(places, number):
                _null_device(self.dev / "nvidia-caps" / f"nvidia-cap{file}")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(f"DeviceFileMinor: {file}\nDeviceFileMode: 292\nDeviceFileModify: 1\n", "utf-8")
            uuid = f"MIG-{number:08x}-1111-5222-8333-{minor:012x}"
            self._slices[bus].append({"gi": first, "ci": second, "uuid": uuid, "memory": memory, "used": "12"})
        self._write()

    def install_smi(self, *, status: int = 0) -> str:
        """Make nvidia-smi answer; returns a PATH on which it is found first."""
        script = self.programs / "nvidia-smi"
        answers = f'case $1 in -L) cat "{self._list}";; -q) cat "{self._report}";; *) cat "{self._answer}";; esac'
        script.write_text(f"#!/bin/sh\n{answers}\nexit {status}\n", "utf-8")
        script.chmod(0o755)
        return f"{self.programs}:{os.environ['PATH']}"

    def remove(self, bus: str) -> None:
        """Let a GPU fall off the bus: nvidia-smi and the driver know it no more; its device file stays."""
        del self._lines[bus]
        (self.driver / "gpus" / bus / "information").unlink()
        (self.driver / "gpus" / bus).rmdir()
        self._write()

    def _write(self) -> None:
        _replace(self._answer, "".join(", ".join(line) + "\n" for line in self._lines.values()))
        _replace(self._list, "".join(map(self._listed, self._lines)))
        reports = "".join(self._reported(bus) for bus in self._lines)
        _replace(self._report, f'<?xml version="1.0" ?>\n<nvidia_smi_log>{reports}</nvidia_smi_log>\n')

    def _listed(self, bus: str) -> str:
        number, line = list(self._lines).index(bus), self._lines[bus]
        slices = enumerate(self._slices.get(bus, []))
        return f"GPU {number}: {line[5]} (UUID: {line[1]})\n" + "".join(
            f"  MIG 1g.10gb     Device  {at}: (UUID: {each['uuid']})\n" for at, each in slices
        )

    def _reported(self, bus: str) -> str:
        slices = "".join(
            f"<mig_device><index>{at}</index><gpu_instance_id>{each['gi']}</gpu_instance_id>"
            f"<compute_instance_id>{each['ci']}</compute_instance_id><fb_memory_usage>"
            f"<total>{each['memory']} MiB</total><used>{each['used']} MiB</used></fb_memory_usage></mig_device>"
            for at, each in enumerate(self._slices.get(bus, []))
        )
        mode = "Enabled" if bus in self._slices else "Disabled"
        return (
            f'<gpu id="{self._lines[bus][0]}"><mig_mode><current_mig>{mode}</current_mig></mig_mode>'
            f"<mig_devices>{slices or 'None'}</mig_devices></gpu>"
        )


def _replace(path: Path, text: str) -> None:
    """Write a file that others read meanwhile."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


@contextmanager
def machine_with_gpu(minor: int = 7) -> Iterator[tuple[Machine, str]]:
    """Yield a machine with one GPU and its place on the bus; the examiner finds its nvidia-smi as well.

    No other test has that place, because the lock of a GPU is the machine's. Users of boxes may enter the folder.
    """
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    bus = f"{secrets.token_hex(2)}:{secrets.token_hex(1)}:00.0"
    machine = Machine(folder)
    machine.add(bus, minor)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", machine.install_smi())
            yield machine, bus
    finally:
        shutil.rmtree(folder)
        for lock in Path("/tmp").glob(f"viva-gpu-{bus[:-1].replace(':', '-')}*.lock"):
            lock.unlink()
