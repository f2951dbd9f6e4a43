"""What drivers and nvidia-smi have said on several machines, and a machine made of such texts."""

import os
import stat
from pathlib import Path

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
        self._lines: dict[str, list[str]] = {}

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

    def use(self, bus: str, used: str) -> None:
        """So much memory is in use from now on."""
        self._lines[bus][3] = used
        self._write()

    def install_smi(self, *, status: int = 0) -> str:
        """Make nvidia-smi answer; returns a PATH on which it is found first."""
        script = self.programs / "nvidia-smi"
        script.write_text(f'#!/bin/sh\ncat "{self._answer}"\nexit {status}\n', "utf-8")
        script.chmod(0o755)
        return f"{self.programs}:{os.environ['PATH']}"

    def _write(self) -> None:
        text = "".join(", ".join(line) + "\n" for line in self._lines.values())
        fresh = self._answer.with_suffix(".new")
        fresh.write_text(text, "utf-8")
        fresh.replace(self._answer)
