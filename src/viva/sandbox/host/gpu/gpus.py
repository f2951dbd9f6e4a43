"""Which GPUs this machine has, told by device files, the driver's /proc and nvidia-smi: no library is imported for it.

`nvidia-smi` counts GPUs by their place on the bus and the device files by the order in which the driver met them, so
both are matched by the place. Formats: chapter "Using the /proc File System Interface" of the driver's README, and
`nvidia-smi --help-query-gpu`.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.model.gpu import NONE_HERE, Gpu, Gpus

DEV: Final = Path("/dev")
DRIVER: Final = Path("/proc/driver/nvidia")
_SHARED: Final = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")
_FIELDS: Final = "pci.bus_id,uuid,memory.total,memory.used,driver_version,name"
_QUERY_S: Final = 30.0
"""Without the persistence daemon the driver starts the GPU anew for each question, which takes seconds."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of what nvidia-smi says; None for what it does not."""

    bus: str
    uuid: str
    memory_mib: int | None
    used_mib: int | None
    driver: str
    name: str


def bus_of(text: str) -> str:
    """The place on the bus in one spelling: nvidia-smi writes `00000000:01:00.0`, the kernel `0000:01:00.0`."""
    return text.strip().lower()[-12:]


def parse_query(text: str) -> list[Reading]:
    """The answer of `nvidia-smi --query-gpu --format=csv,noheader,nounits`; lines of another form are left out."""
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
    """/proc/driver/nvidia/gpus/*/information: `Model: \\t\\t Tesla K80`, `Device Minor: \\t 0`."""
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {key.strip(): " ".join(value.split()) for key, _, value in pairs}


def parse_version(text: str) -> str:
    """The driver's version in the first line of /proc/driver/nvidia/version; empty where there is none."""
    match = re.search(r"^NVRM version:.*?\s(\d{2,4}(?:\.\d+)+)\s", f"{text}\n", re.M)
    return match[1] if match else ""


def query() -> list[Reading]:
    """Ask nvidia-smi; nothing where it is not installed or does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    try:
        asked = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_QUERY_S,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return parse_query(asked.stdout) if asked.returncode == 0 else []


def used_mib(bus: str) -> int | None:
    """How much memory of a GPU is in use now; None where nothing says it."""
    return next((reading.used_mib for reading in query() if reading.bus == bus), None)


def find_gpus(environ: Mapping[str, str], dev: Path = DEV, driver: Path = DRIVER) -> Gpus:
    """The GPUs of this machine that a box can be given, as far as CUDA_VISIBLE_DEVICES allows.

    Args:
        environ: of the command; where CUDA_VISIBLE_DEVICES is set, other GPUs are somebody else's.
        dev, driver: where device files and the driver's /proc are.
    """
    shared = tuple(str(dev / name) for name in _SHARED if (dev / name).exists())
    known = _information(driver)
    if not known or not (dev / _SHARED[0]).exists():
        return Gpus((), NONE_HERE)
    readings = {reading.bus: reading for reading in query()}
    version = parse_version(_read(driver / "version"))
    found = []
    for bus, said in sorted(known.items()):
        device = dev / f"nvidia{said.get('Device Minor', '')}"
        if said.get("Device Minor", "").isdecimal() and device.exists():
            uuid = said.get("GPU UUID", "") if "?" not in said.get("GPU UUID", "?") else ""
            more = readings.get(bus, Reading(bus, uuid, None, None, version, said.get("Model", "GPU")))
            found.append(
                Gpu(bus, more.uuid or uuid, more.name, more.driver or version, more.memory_mib, str(device), shared)
            )
    visible = _visible(found, environ.get("CUDA_VISIBLE_DEVICES"))
    return Gpus(tuple(visible), NONE_HERE)


def _visible(gpus: list[Gpu], wish: str | None) -> list[Gpu]:
    """What CUDA_VISIBLE_DEVICES leaves: numbers along the bus, or beginnings of UUIDs, up to one that there is not."""
    if wish is None:
        return gpus
    chosen: list[Gpu] = []
    for word in (part.strip() for part in wish.split(",")):
        if word.isdecimal() and int(word) < len(gpus):
            chosen.append(gpus[int(word)])
            continue
        named = [gpu for gpu in gpus if word.startswith("GPU-") and gpu.uuid.startswith(word)]
        if len(named) != 1:
            break
        chosen += named
    return list(dict.fromkeys(chosen))


def _information(driver: Path) -> dict[str, dict[str, str]]:
    """What the driver says of each GPU, by its place on the bus."""
    folders = driver / "gpus"
    try:
        names = sorted(path.name for path in folders.iterdir())
    except OSError:
        return {}
    return {bus_of(name): said for name in names if (said := parse_information(_read(folders / name / "information")))}


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _mib(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
