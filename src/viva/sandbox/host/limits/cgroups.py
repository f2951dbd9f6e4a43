"""Cgroups, versions 1 and 2: one for each box limits the memory and the number of all its processes together."""

import contextlib
import os
import secrets
import signal
import time
from dataclasses import dataclass
from typing import Final, Self

from viva.sandbox.folder_locks import lock_folder
from viva.sandbox.guest.transport.control import FOLDER_PREFIX
from viva.sandbox.host.leftovers import sweep_cgroups
from viva.sandbox.limits import Limits

_MIB: Final = 1 << 20
_REMOVE_S: Final = 10.0
_LAST_CHARGE: Final = 4 * _MIB
"""More than a kernel charges at once: the peak of a box that reached its limit is less than that below it."""


@dataclass(frozen=True, slots=True)
class _Hierarchy:
    """Where the files of one hierarchy's controllers are, for the processes of viva."""

    controllers: frozenset[str]
    folder: str


class CgroupParent:
    """A folder for each controller hierarchy, below which the cgroups of boxes are made."""

    def __init__(self, folders: dict[str, str]) -> None:
        self._locks = [lock_folder(folder) for folder in sorted(set(folders.values()))]
        self._folders = folders
        """Controller ("memory", "pids") -> viva's folder in its hierarchy; the same folder twice in version 2."""

    @classmethod
    def find(cls) -> Self | None:
        """Make the folders, try to make a cgroup in them, and return them; None if this host does not allow it."""
        name = f"{FOLDER_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        return cls._version_1(name) or cls._version_2(name)

    @classmethod
    def _version_1(cls, name: str) -> Self | None:
        hierarchies = _hierarchies()
        made: dict[str, str] = {}
        for controller in ("memory", "pids"):
            for hierarchy in hierarchies:
                if controller in hierarchy.controllers and _make(os.path.join(hierarchy.folder, name)):
                    made[controller] = os.path.join(hierarchy.folder, name)
                    break
        return cls._tried(made)

    @classmethod
    def _version_2(cls, name: str) -> Self | None:
        """Try this process's own cgroup, then its parents: one that holds processes may not delegate controllers."""
        unified = next((hierarchy.folder for hierarchy in _hierarchies() if not hierarchy.controllers), None)
        while unified and os.path.exists(os.path.join(unified, "cgroup.subtree_control")):
            folder = os.path.join(unified, name)
            if _make(folder):
                with contextlib.suppress(OSError):
                    _write(os.path.join(unified, "cgroup.subtree_control"), "+memory +pids")
                with contextlib.suppress(OSError):
                    _write(os.path.join(folder, "cgroup.subtree_control"), "+memory +pids")
                    found = cls._tried({"memory": folder, "pids": folder})
                    if found:
                        return found
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            unified = os.path.dirname(unified)
        return None

    @classmethod
    def _tried(cls, folders: dict[str, str]) -> Self | None:
        parent = cls(folders)
        try:
            if "memory" not in folders:
                raise FileNotFoundError("no memory controller")
            trial = parent.make("try", Limits())
            trial.close_descriptors()
            trial.remove()
        except OSError:
            parent.remove()
            return None
        return parent

    @property
    def folders(self) -> list[str]:
        """Return all folders, for the supervisor that removes them after a crash."""
        return sorted(set(self._folders.values()))

    def make(self, name: str, limits: Limits) -> "BoxCgroup":
        """Make the cgroup of one box; raises OSError when the kernel refuses a limit."""
        return BoxCgroup({c: os.path.join(folder, name) for c, folder in self._folders.items()}, limits)

    def remove(self) -> None:
        """Remove the folders; the cgroups of the boxes must be gone."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        sweep_cgroups({os.path.dirname(folder) for folder in self.folders})
        for fd in self._locks:
            os.close(fd)
        self._locks = []


class BoxCgroup:
    """The cgroup of one box; the box enters it through `descriptors`."""

    def __init__(self, folders: dict[str, str], limits: Limits) -> None:
        self._memory, self._all = folders["memory"], sorted(set(folders.values()))
        self._limit_bytes = limits.memory_mib * _MIB
        self.descriptors: list[int] = []
        try:
            for folder in self._all:
                os.mkdir(folder)
            self._limit(folders, limits)
            for folder in self._all:
                self.descriptors.append(os.open(os.path.join(folder, "cgroup.procs"), os.O_WRONLY | os.O_CLOEXEC))
        except OSError:
            self.close_descriptors()
            self.remove()
            raise

    def _limit(self, folders: dict[str, str], limits: Limits) -> None:
        memory = str(self._limit_bytes)
        if os.path.exists(os.path.join(self._memory, "memory.max")):
            _write(os.path.join(self._memory, "memory.max"), memory)
            _write_if_present(os.path.join(self._memory, "memory.swap.max"), "0")
            _write_if_present(os.path.join(self._memory, "memory.oom.group"), "1")
        else:
            _write(os.path.join(self._memory, "memory.limit_in_bytes"), memory)
            _write_if_present(os.path.join(self._memory, "memory.memsw.limit_in_bytes"), memory)
        if "pids" in folders:
            _write(os.path.join(folders["pids"], "pids.max"), str(limits.processes))

    def close_descriptors(self) -> None:
        """Close the descriptors, after the box has received them."""
        for fd in self.descriptors:
            os.close(fd)
        self.descriptors = []

    @property
    def peak_mib(self) -> float:
        """Return the peak memory so far in MiB; 0.0 if the kernel does not report it."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            text = self._value(name)
            if text:
                return int(text) / _MIB
        return 0.0

    @property
    def out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process of the box for memory: its own, or that of a parent."""
        return any(_count(self._value(name), "oom_kill") > 0 for name in ("memory.events", "memory.oom_control"))

    @property
    def reached_its_limit(self) -> bool:
        """Return whether the box had no memory left below its own limit, whatever the rest of the machine had."""
        if events := self._value("memory.events"):
            return _count(events, "oom") > 0
        most = (self._value(f"memory.{kind}max_usage_in_bytes") for kind in ("", "memsw."))
        return max(int(text or 0) for text in most) > self._limit_bytes - _LAST_CHARGE

    def _value(self, file: str) -> str:
        return _read(os.path.join(self._memory, file))

    def remove(self) -> None:
        """Remove the cgroup; first kill processes that are left, if the fork server was killed before it could."""
        deadline = time.monotonic() + _REMOVE_S
        for folder in self._all:
            while True:
                try:
                    os.rmdir(folder)
                except FileNotFoundError:
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    self._kill_the_rest()
                    time.sleep(0.005)

    def _kill_the_rest(self) -> None:
        for line in _read(os.path.join(self._memory, "cgroup.procs")).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(line), signal.SIGKILL)


def _hierarchies() -> list[_Hierarchy]:
    """Return this process's own cgroup in every mounted hierarchy; no controllers means version 2."""
    try:
        own = [line.split(":", 2)[1:] for line in _read("/proc/self/cgroup").splitlines()]
        mounts = [line.split() for line in _read("/proc/self/mountinfo").splitlines()]
    except ValueError:
        return []
    found = []
    for fields in mounts:
        after = fields[fields.index("-") + 1 :]
        root, point, kind, options = fields[3], fields[4], after[0], set(after[2].split(","))
        for controllers, path in own:
            names = frozenset(filter(None, controllers.split(",")))
            if (kind == "cgroup" and names and names <= options) or (kind == "cgroup2" and not names):
                found.append(_Hierarchy(names, os.path.normpath(f"{point}/{os.path.relpath(path, root)}")))
    return found


def _make(folder: str) -> bool:
    try:
        os.mkdir(folder)
    except OSError:
        return False
    return True


def _count(text: str, name: str) -> int:
    """Return the number behind a name in the text of a controller's file; 0 if there is none."""
    pairs = (line.split() for line in text.splitlines())
    return next((int(pair[1]) for pair in pairs if len(pair) == 2 and pair[0] == name), 0)


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _write_if_present(path: str, text: str) -> None:
    if os.path.exists(path):
        with contextlib.suppress(OSError):
            _write(path, text)
