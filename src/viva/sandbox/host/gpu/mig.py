"""MIG slices: parts of one NVIDIA GPU, each with memory and a UUID of its own, that CUDA uses like a GPU.

Three places describe a slice. `nvidia-smi -L` has its UUID by its number on the GPU. `nvidia-smi -q -x` has, by the
same number, its GPU instance, its compute instance and its memory. The driver's /proc has the number of the device file
of each instance, in a container only in `nvidia-caps/mig-minors`. Formats: chapter "Device Nodes and Capabilities" of
NVIDIA's MIG user guide.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

CAPABILITIES: Final = "nvidia-caps"
"""The folder of the device files, below /dev."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a GPU."""

    number: int
    """Its number on the GPU, from 0."""
    instance: str
    """GPU instance and compute instance, `1/0`."""
    memory_mib: int | None
    used_mib: int | None


@dataclass(frozen=True, slots=True)
class NamedSlice:
    """What `nvidia-smi -L` says of a slice."""

    uuid: str
    """`MIG-…`."""
    profile: str
    """How much of the GPU it is: `3g.20gb`."""


def parse_list(text: str) -> dict[tuple[str, int], NamedSlice]:
    """Parse the output of `nvidia-smi -L`; return the slices by the UUID of their GPU and their number on it."""
    found, gpu = {}, ""
    for line in text.splitlines():
        if match := re.match(r"GPU \d+: .*\(UUID: (GPU-[0-9a-fA-F-]{8,64})\)", line):
            gpu = match[1]
        elif match := re.match(r"\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (MIG-[0-9a-zA-Z/-]{8,96})\)", line):
            found[gpu, int(match[2])] = NamedSlice(match[3], match[1])
    return found


def parse_report(text: str) -> dict[str, list[Slice]]:
    """Parse the output of `nvidia-smi -q -x`; return the slices of each GPU in MIG mode by its bus address."""
    from xml.etree import ElementTree

    try:
        report = ElementTree.fromstring(text)  # noqa: S314  # the program of the driver wrote it
    except ElementTree.ParseError:
        return {}
    return {
        gpu.get("id", "").lower()[-12:]: list(_slices(gpu.iterfind("mig_devices/mig_device")))
        for gpu in report.iterfind("gpu")
        if (gpu.findtext("mig_mode/current_mig") or "").strip() == "Enabled"
    }


def _slices(elements: "Iterable[Element]") -> Iterator[Slice]:
    for element in elements:
        texts = {name: _text(element, name) for name in ("index", "gpu_instance_id", "compute_instance_id")}
        if all(text.isdecimal() for text in texts.values()):
            yield Slice(
                int(texts["index"]),
                f"{texts['gpu_instance_id']}/{texts['compute_instance_id']}",
                _mib(_text(element, "fb_memory_usage/total")),
                _mib(_text(element, "fb_memory_usage/used")),
            )


def device_files(minor: str, instance: str, dev: Path, driver: Path) -> tuple[str, ...]:
    """Return the device files of a slice besides those of its GPU; empty if one of them is missing.

    Args:
        minor: the number of the GPU's device file.
        instance: GPU instance and compute instance, `1/0`.
        dev: the folder of the device files.
        driver: the folder of the driver's /proc.
    """
    of_gpu, of_computing = instance.split("/")
    numbers = [_number(driver, minor, place) for place in (f"gi{of_gpu}", f"gi{of_gpu}/ci{of_computing}")]
    files = [dev / CAPABILITIES / f"nvidia-cap{number}" for number in numbers]
    return tuple(map(str, files)) if all(numbers) and all(path.exists() for path in files) else ()


def may_have_slices(dev: Path) -> bool:
    """Return whether there are device files of slices, so that it is worth asking for slices."""
    return (dev / CAPABILITIES).is_dir()


def _number(driver: Path, minor: str, place: str) -> str:
    """Read the number of an instance's device file, `DeviceFileMinor: 30` or `gpu0/gi1/access 30`; empty if unknown."""
    own = _read(driver / "capabilities" / f"gpu{minor}" / "mig" / place / "access")
    match = re.search(r"^DeviceFileMinor:\s*(\d+)\s*$", own, re.M)
    if match is None:
        everyone = _read(driver.parent / CAPABILITIES / "mig-minors")
        match = re.search(rf"^gpu{minor}/{place}/access\s+(\d+)\s*$", everyone, re.M)
    return match[1] if match else ""


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _text(element: "Element", path: str) -> str:
    return (element.findtext(path) or "").strip()


def _mib(text: str) -> int | None:
    """Read `20096 MiB`."""
    return int(text.removesuffix(" MiB")) if re.fullmatch(r"\d+ MiB", text) else None
