"""Find the GPUs of this machine by device files, the driver's /proc and nvidia-smi, without importing a library.

`nvidia-smi` numbers GPUs by their bus address, and the device files are numbered in the order in which the driver found
them, so both are matched by the address. Formats: chapter "Using the /proc File System Interface" of the driver's
README, and `nvidia-smi --help-query-gpu`.
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
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={_FIELDS}", "--format=csv,noheader,nounits"]
    try:
        result = subprocess.run(  # noqa: S603  # nvidia-smi of the operator's PATH, with constant arguments
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
    return parse_query(result.stdout) if result.returncode == 0 else []


def used_mib(bus: str) -> int | None:
    """Return how many MiB of a GPU's memory are in use now; None if it is unknown."""
    return next((reading.used_mib for reading in query() if reading.bus == bus), None)


def find_gpus(environ: Mapping[str, str], dev: Path = DEV, driver: Path = DRIVER) -> Gpus:
    """Return the GPUs of this machine that boxes can use, as far as CUDA_VISIBLE_DEVICES allows.

    Args:
        environ: the environment of the command; if it sets CUDA_VISIBLE_DEVICES, other GPUs belong to other users.
        dev: the folder of the device files.
        driver: the folder of the driver's /proc.
    """
    shared = tuple(str(dev / name) for name in _SHARED if (dev / name).exists())
    known = _information(driver)
    if not known or not (dev / _SHARED[0]).exists():
        return Gpus((), NONE_HERE)
    readings = {reading.bus: reading for reading in query()}
    version = parse_version(_read(driver / "version"))
    found = []
    for bus, information in sorted(known.items()):
        device = dev / f"nvidia{information.get('Device Minor', '')}"
        if information.get("Device Minor", "").isdecimal() and device.exists():
            uuid = information.get("GPU UUID", "") if "?" not in information.get("GPU UUID", "?") else ""
            reading = readings.get(bus, Reading(bus, uuid, None, None, version, information.get("Model", "GPU")))
            found.append(
                Gpu(
                    bus,
                    reading.uuid or uuid,
                    reading.name,
                    reading.driver or version,
                    reading.memory_mib,
                    str(device),
                    shared,
                )
            )
    visible = _visible(found, environ.get("CUDA_VISIBLE_DEVICES"))
    return Gpus(tuple(visible), NONE_HERE)


def _visible(gpus: list[Gpu], setting: str | None) -> list[Gpu]:
    """Apply CUDA_VISIBLE_DEVICES: numbers by bus address, or prefixes of UUIDs, up to the first unknown one."""
    if setting is None:
        return gpus
    chosen: list[Gpu] = []
    for word in (part.strip() for part in setting.split(",")):
        if word.isdecimal() and int(word) < len(gpus):
            chosen.append(gpus[int(word)])
            continue
        named = [gpu for gpu in gpus if word.startswith("GPU-") and gpu.uuid.startswith(word)]
        if len(named) != 1:
            break
        chosen += named
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
