"""How much memory there is for all that we start: the machine's, or what its containers are allowed."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

_MIB: Final = 1 << 20
_UNLIMITED: Final = 1 << 60
"""Version 1 writes the largest page-aligned number where there is no limit."""


def container_mib(root: Path = Path("/")) -> int | None:
    """The least of all limits that bind this process; None where nothing says one.

    Args:
        root: below which `proc` and `sys` are looked for.
    """
    found = [value for value in (*_cgroup_limits(root), _machine(root)) if value is not None]
    return min(found, default=None)


def _machine(root: Path) -> int | None:
    found = re.search(r"^MemTotal:\s+(\d{1,15}) kB", _read(root / "proc/meminfo"), re.M)
    return int(found[1]) // 1024 if found else None


def _cgroup_limits(root: Path) -> Iterator[int | None]:
    """Every limit from our own cgroup up, in both versions; a container may see its own as the top of all."""
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
    """`max`, nothing, or bytes."""
    text = text.strip()
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else _UNLIMITED
    return value // _MIB if value < _UNLIMITED else None


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace")
    except OSError:
        return ""
