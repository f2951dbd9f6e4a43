"""What a running grader uses of the machine: memory, descriptors, processes, control groups, mounts, files."""

import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.host.limits import processes
from viva.sandbox.host.limits.uids import FIRST_UID

_UIDS = range(FIRST_UID, FIRST_UID + 1200)
PLACES = (Path("/tmp"), Path("/dev/shm"), Path("/run"))
_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Figures between two submissions. Boxes that are ready for the next one are counted too, so the figures vary."""

    graded: int
    memory_mib: float
    """Proportional set sizes of the processes that stay: the parent, the examiner, its fork server."""
    descriptors: int
    processes: int
    cgroups: int
    mounts: int
    """Lines of the mount tables of the processes that stay."""
    files: int

    def plain(self) -> dict[str, float]:
        """Return the figures as plain data."""
        return asdict(self)


def take(graded: int, root: int, staying: Iterable[int], places: Iterable[Path] = PLACES) -> Snapshot:
    """Look at a process and all its descendants.

    Args:
        graded: the number of submissions so far.
        root: the first process.
        staying: the processes whose memory and mounts are counted; boxes come and go.
        places: the folders in which viva's files could be left.
    """
    family, kept = processes.family(root), list(staying)
    return Snapshot(
        graded,
        rollup_mib(kept, "Pss:"),
        sum(_count(f"/proc/{pid}/fd") for pid in kept),
        len(family),
        len(groups_of(family)),
        sum(len(_lines(f"/proc/{pid}/mountinfo")) for pid in kept),
        len(files_of(family, places)),
    )


def chain(root: int, length: int) -> list[int]:
    """Return a process, its oldest child, the oldest child of that, and so on."""
    found = [root]
    while len(found) < length and (children := _children(found[-1])):
        found.append(children[0])
    return found


def groups_of(pids: Iterable[int]) -> list[Path]:
    """Return the control groups that these processes have made: their names contain the maker's pid."""
    starts = tuple(f"{FOLDER_PREFIX}{pid}-" for pid in pids)
    found = []
    for folder, names, _ in os.walk(_GROUPS):
        if f"/{FOLDER_PREFIX}" in folder:
            continue
        for name in names:
            if name.startswith(starts):
                made = Path(folder, name)
                found += [made, *(child for child in made.iterdir() if child.is_dir())]
    return found


def files_of(pids: Iterable[int], places: Iterable[Path]) -> list[Path]:
    """Return the files and folders that belong to users of boxes, or have the pid of one of these processes."""
    starts = tuple(f"{FOLDER_PREFIX}{pid}-" for pid in pids)
    return [
        path
        for place in places
        if place.is_dir()
        for path in place.iterdir()
        if path.name.startswith(starts) or _owner(path) in _UIDS
    ]


def _owner(path: Path) -> int:
    try:
        return path.lstat().st_uid
    except OSError:  # gone by now
        return -1


def _children(pid: int) -> list[int]:
    """Return the children, oldest first."""
    born = {}
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _lines(str(file)):
            for each in map(int, child.split()):
                fields = "".join(_lines(f"/proc/{each}/stat")).rpartition(")")[2].split()
                born[each] = int(fields[19]) if fields else sys.maxsize
    return sorted(born, key=born.__getitem__)


def rollup_mib(pids: Iterable[int], *names: str) -> float:
    """Return the sum of some kinds of memory of some processes, named as the kernel names them in smaps_rollup."""
    lines = (line for pid in pids for line in _lines(f"/proc/{pid}/smaps_rollup"))
    return sum(int(line.split()[1]) for line in lines if line.startswith(names)) / 1024


def _count(folder: str) -> int:
    try:
        return sum(1 for _ in Path(folder).iterdir())
    except OSError:
        return 0


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
