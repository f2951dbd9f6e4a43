"""Find the GPUs of this machine by device files, the driver's /proc and nvidia-smi, without importing a library.

`nvidia-smi` numbers GPUs by their bus address, and the device files are numbered in the order in which the driver found
them, so both are matched by the address. Formats: chapter "Using the /proc File System Interface" of the driver's
README, and `nvidia-smi --help-query-gpu`.
"""

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from viva.sandbox.gpu import Gpu, GpuSet
from viva.sandbox.host.gpu import mig

DEV: Final = Path("/dev")
DRIVER: Final = Path("/proc/driver/nvidia")
_SHARED: Final = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
_FIELDS: Final = "pci.bus_id,uuid,memory.total,memory.used,driver_version,name"
_QUERY_S: Final = 30.0
"""Without the persistence daemon the driver starts the GPU again for each query, which takes seconds."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of the output of nvidia-smi; None for values that it does not report."""

    bus: str
    uuid: str
    memory_mib: int | None
    used_mib: int | None
    driver: str
    name: str


def bus_of(text: str) -> str:
    """Normalize a bus address: nvidia-smi writes `00000000:01:00.0`, the kernel `0000:01:00.0`."""
    return text.strip().lower()[-12:]


def parse_query(text: str) -> list[Reading]:
    """Parse the output of `nvidia-smi --query-gpu --format=csv,noheader,nounits`; skip lines of another form."""
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",", 5)]
        if len(parts) == 6 and re.fullmatch(r"[0-9a-fA-F:.]{7,16}", parts[0]):
            bus, uuid, total, used, driver, name = parts
            uuid = uuid if re.fullmatch(r"GPU-[0-9a-fA-F-]{8,64}", uuid) else ""
            driver = "" if driver.startswith("[") else driver
            found.append(Reading(bus_of(bus), uuid, _mib(total), _mib(used), driver, name))
    return found


def parse_information(text: str) -> dict[str, str]:
    r"""Parse /proc/driver/nvidia/gpus/*/information: `Model: \t\t Tesla K80`, `Device Minor: \t 0`."""
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {key.strip(): " ".join(value.split()) for key, _, value in pairs}


def parse_version(text: str) -> str:
    """Return the driver's version in the first line of /proc/driver/nvidia/version; empty if there is none."""
    match = re.search(r"^NVRM version:.*?\s(\d{2,4}(?:\.\d+)+)\s", f"{text}\n", re.M)
    return match[1] if match else ""


def query() -> list[Reading]:
    """Run nvidia-smi; return nothing if it is not installed or does not answer."""
    return parse_query(_answer(f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"))


def _answer(*options: str) -> str:
    """Return what nvidia-smi prints; empty if it is not installed or does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    try:
        result = subprocess.run(  # noqa: S603  # nvidia-smi of the operator's PATH, with constant arguments
            [program, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_QUERY_S,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout if result.returncode == 0 else ""


def used_mib(gpu: Gpu) -> int | None:
    """Return how many MiB of a GPU's memory, or of a slice's, are in use now; None if it is unknown."""
    if not gpu.slice:
        return next((reading.used_mib for reading in query() if reading.bus == gpu.bus), None)
    slices = mig.parse_report(_answer("-q", "-x")).get(gpu.bus, [])
    return next((each.used_mib for each in slices if each.instance == gpu.slice), None)


def find_gpus(environ: Mapping[str, str], dev: Path = DEV, driver: Path = DRIVER) -> GpuSet:
    """Return the GPUs and MIG slices of this machine that boxes can use, as far as CUDA_VISIBLE_DEVICES allows.

    Args:
        environ: the environment of the command; if it sets CUDA_VISIBLE_DEVICES, other GPUs belong to other users.
        dev: the folder of the device files.
        driver: the folder of the driver's /proc.
    """
    refused = [f"this machine has an {name}, which viva does not support" for name in other_makers(dev)]
    known = _information(driver) if (dev / _SHARED[0]).exists() else {}
    parts = _MigParts.read() if known and mig.may_have_slices(dev) else _MigParts()
    cards: list[_Card] = []
    for gpu, minor in _whole(known, dev, driver):
        if gpu.bus not in parts.by_bus:
            cards.append(_Card(gpu.uuid, (gpu,)))
            continue
        slices = tuple(_slices(gpu, minor, parts, dev, driver))
        cards.append(_Card(gpu.uuid, slices))
        if not slices:
            refused.append(f"{gpu.name} ({gpu.bus}) is in MIG mode and has no slice that can be used")
    visible = tuple(_visible(cards, environ.get("CUDA_VISIBLE_DEVICES")))
    return GpuSet(visible, tuple(refused))


def other_makers(dev: Path = DEV) -> list[str]:
    """Return the GPUs of other makers than NVIDIA that CUDA cannot use, as far as this system shows them."""
    found = ["AMD GPU (/dev/kfd)"] if (dev / "kfd").exists() else []
    return [*found, "Apple GPU (mps)"] if (sys.platform, platform.machine()) == ("darwin", "arm64") else found


@dataclass(frozen=True, slots=True)
class _Card:
    """One graphics card."""

    uuid: str
    gpus: tuple[Gpu, ...]
    """Itself, or its MIG slices."""


@dataclass(frozen=True, slots=True)
class _MigParts:
    """What nvidia-smi says of MIG slices."""

    by_bus: Mapping[str, list[mig.Slice]] = field(default_factory=dict)
    named: Mapping[tuple[str, int], mig.NamedSlice] = field(default_factory=dict)

    @classmethod
    def read(cls) -> Self:
        return cls(mig.parse_report(_answer("-q", "-x")), mig.parse_list(_answer("-L")))


def _whole(known: Mapping[str, Mapping[str, str]], dev: Path, driver: Path) -> Iterator[tuple[Gpu, str]]:
    """Yield each GPU that has its device file, and the number of that file."""
    shared = tuple(str(dev / name) for name in _SHARED if (dev / name).exists())
    readings = {reading.bus: reading for reading in query()} if known else {}
    version = parse_version(_read(driver / "version"))
    for bus, information in sorted(known.items()):
        minor = information.get("Device Minor", "")
        device = dev / f"nvidia{minor}"
        if not minor.isdecimal() or not device.exists():
            continue
        uuid = information.get("GPU UUID", "") if "?" not in information.get("GPU UUID", "?") else ""
        reading = readings.get(bus, Reading(bus, uuid, None, None, version, information.get("Model", "GPU")))
        driver_version = reading.driver or version
        gpu = Gpu(bus, reading.uuid or uuid, reading.name, driver_version, reading.memory_mib, str(device), shared)
        yield gpu, minor


def _slices(gpu: Gpu, minor: str, parts: _MigParts, dev: Path, driver: Path) -> Iterator[Gpu]:
    """Yield the slices of a GPU that CUDA can select and whose device files are there."""
    for each in parts.by_bus[gpu.bus]:
        named = parts.named.get((gpu.uuid, each.number))
        files = mig.device_files(minor, each.instance, dev, driver)
        if named is not None and files:
            yield replace(
                gpu,
                uuid=named.uuid,
                name=f"{gpu.name} MIG {named.profile}",
                memory_mib=each.memory_mib,
                slice=each.instance,
                capabilities=files,
            )


def _visible(cards: Sequence[_Card], setting: str | None) -> list[Gpu]:
    """Apply CUDA_VISIBLE_DEVICES: numbers by bus address, or prefixes of UUIDs, up to the first unknown one.

    A card in MIG mode that is named itself means its first slice, as for CUDA.
    """
    if setting is None:
        return [gpu for card in cards for gpu in card.gpus]
    chosen: list[Gpu] = []
    for word in (part.strip() for part in setting.split(",")):
        if word.isdecimal() and int(word) < len(cards):
            chosen += cards[int(word)].gpus[:1]
            continue
        named = [card.gpus[:1] for card in cards if word.startswith("GPU-") and card.uuid.startswith(word)]
        named += [
            (gpu,) for card in cards for gpu in card.gpus if word.startswith("MIG-") and gpu.uuid.startswith(word)
        ]
        if len(named) != 1:
            break
        chosen += named[0]
    return list(dict.fromkeys(chosen))


def _information(driver: Path) -> dict[str, dict[str, str]]:
    """Read what the driver says about each GPU, by its bus address."""
    folders = driver / "gpus"
    try:
        names = sorted(path.name for path in folders.iterdir())
    except OSError:
        return {}
    texts = {name: _read(folders / name / "information") for name in names}
    return {bus_of(name): found for name, text in texts.items() if (found := parse_information(text))}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _mib(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
