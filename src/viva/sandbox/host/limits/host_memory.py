"""How much memory everything that viva starts may use, and whether the kernel has had to kill for want of it."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

_MIB: Final = 1 << 20
_UNLIMITED: Final = 1 << 60
"""Cgroup version 1 writes the largest page-aligned number if there is no limit."""


def container_mib(root: Path = Path("/")) -> int | None:
    """Return the lowest of all limits of this process, in MiB; None if there is none.

    Args:
        root: the folder that holds `proc` and `sys`.
    """
    found = [value for value in (*_cgroup_limits(root), _machine(root)) if value is not None]
    return min(found, default=None)


def kills(root: Path = Path("/")) -> int:
    """Return how many processes on this machine the kernel has killed because memory ran out; 0 if unknown."""
    found = re.search(r"^oom_kill (\d{1,18})$", _read(root / "proc/vmstat"), re.M)
    return int(found[1]) if found else 0


def _machine(root: Path) -> int | None:
    found = re.search(r"^MemTotal:\s+(\d{1,15}) kB", _read(root / "proc/meminfo"), re.M)
    return int(found[1]) // 1024 if found else None


def _cgroup_limits(root: Path) -> Iterator[int | None]:
    """Yield every limit from the own cgroup up, in both versions; a container may see its own cgroup as the root."""
    base = root / "sys/fs/cgroup"
    own = {"": "/", "memory": "/"}
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            own[controller] = path
    for folder, path, name in (
        (base, own[""], "memory.max"),
        (base / "unified", own[""], "memory.max"),
        (base / "memory", own["memory"], "memory.limit_in_bytes"),
    ):
        steps = [step for step in PurePosixPath(path).parts if step not in ("/", "..")]
        for count in range(len(steps), -1, -1):
            yield _mib(_read(folder.joinpath(*steps[:count], name)))


def _mib(text: str) -> int | None:
    """Convert the text of a limit, which is bytes, `max` or nothing, to MiB; None if there is no limit."""
    text = text.strip()
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else _UNLIMITED
    return value // _MIB if value < _UNLIMITED else None


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
