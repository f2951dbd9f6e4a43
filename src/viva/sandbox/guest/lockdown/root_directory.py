"""The static part of a box's walls, built once by the fork server: a root directory that holds only what is needed."""

from __future__ import annotations

import os
from typing import Dict, List, Sequence

from ..process.box_plan import in_box
from . import kernel_calls, kernel_namespaces, mounts, visible_files

WORK, SCRATCH, SHARED, ENGINE = "/box", "/tmp", "/dev/shm", "/box-engine"
"""Places inside: the work directory, temporary files, shared memory, the folder of this file."""
_PRIVATE = (WORK, SCRATCH, SHARED)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
_BUILDING_SITES = ("/mnt", "/media", "/srv", "/opt", "/run", "/sys")
"""Directories to mount the new root on while it is built; one that nothing needed lies below is taken."""
_FILES = {
    "/etc/passwd": "root:x:0:0::/:/bin/false\nstudent:x:60001:60001::/tmp:/bin/sh\n",
    "/etc/group": "root:x:0:\nstudent:x:60001:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_INODES_OF_A_BOX = 4096


class Jail:
    """After `build`, this process sees the new root; `furnish` then gives each box its private places."""

    def __init__(
        self, engine: str, readable: Sequence[str], hidden: Sequence[str], devices: Sequence[str] = ()
    ) -> None:
        """Decide what is shown.

        Args:
            engine: the folder of this package on the host.
            readable: extra paths to show.
            hidden: paths that stay invisible even where they lie below something shown.
            devices: device files of GPUs; each box keeps those that it is given.

        Raises:
            OSError: something that must be visible lies where the box has its own mounts, or does not exist.
        """
        self._engine = engine
        self._devices = list(devices)
        shown = visible_files.View([*visible_files.system_paths(), *visible_files.interpreter_paths(), *readable])
        self._shown, self._links = shown.shown, shown.own_links()
        self._needed = visible_files.interpreter_paths()
        self._hidden = [path for path in map(os.path.realpath, hidden) if shown.covers(path)]
        for path in self._shown:
            for place in (WORK, ENGINE, "/proc"):
                if path == place or path.startswith(place + "/"):
                    raise OSError(f"{path} must be visible in the box, but {place} is the box's own; move it elsewhere")

    def build(self) -> str:
        """Enter new namespaces and the new root; returns how /proc is there ("own" or "hidden")."""
        flags = (
            kernel_namespaces.NEWNS
            | kernel_namespaces.NEWNET
            | kernel_namespaces.NEWUTS
            | kernel_namespaces.NEWIPC
            | kernel_namespaces.NEWCGROUP
        )
        kernel_calls.unshare(flags)
        kernel_calls.sethostname("box")
        mounts.make_private()
        root = self._site()
        mounts.small_file_system(root, size="1m", inodes=2000, mode="755")
        self._show(root)
        proc = mounts.processes(root + "/proc")
        mounts.change_root(root)
        for path in self._hidden:
            if os.path.lexists(path):
                mounts.cover(path)
        for place in (WORK, SCRATCH):
            self._cover_with_room(place, size="64m", owner=0)
        mounts.freeze_root()
        self._check_visible()
        return proc

    def furnish(self, owner: int, disk_mib: int, devices: Sequence[str] = ()) -> str:
        """Give this mount namespace (a copy of the fork server's) its own work directory, /tmp, /dev/shm and /proc.

        Of the GPUs' device files only `devices` stay.
        """
        for path in map(in_box, self._devices):
            if path not in devices:
                mounts.uncover(path)
        for place in _PRIVATE:
            self._cover_with_room(place, size=f"{disk_mib}m", owner=owner)
        return mounts.processes("/proc")

    def _cover_with_room(self, place: str, *, size: str, owner: int) -> None:
        """A private file system over `place`, keeping what must stay visible below it (an environment in /tmp)."""
        below = [mounts.Lifted(path) for path in self._shown if path.startswith(place + "/")]
        mounts.small_file_system(place, size=size, inodes=_INODES_OF_A_BOX, owner=owner)
        for lifted in below:
            lifted.put_back()
        _link("", {link: to for link, to in self._links.items() if link.startswith(place + "/")})

    def _site(self) -> str:
        for site in _BUILDING_SITES:
            if os.path.isdir(site) and not any((path + "/").startswith(site + "/") for path in self._sources()):
                return site
        raise OSError(f"none of {', '.join(_BUILDING_SITES)} can be mounted on: something needed lies below each")

    def _sources(self) -> List[str]:
        return [*self._shown, self._engine]

    def _show(self, root: str) -> None:
        for path in self._shown:
            _bind(path, root + path)
        _bind(self._engine, root + ENGINE)
        for place in ("/proc", SCRATCH, WORK, "/dev", SHARED, "/run", "/var/tmp", "/etc"):
            os.makedirs(root + place, mode=0o755, exist_ok=True)
        for name in _DEVICES:
            os.close(os.open(f"{root}/dev/{name}", os.O_CREAT | os.O_CLOEXEC, 0o644))
            mounts.bind_device(f"/dev/{name}", f"{root}/dev/{name}")
        for path in self._devices:
            os.close(os.open(root + in_box(path), os.O_CREAT | os.O_CLOEXEC, 0o600))
            mounts.bind_device(path, root + in_box(path))
        _write(root, _FILES)
        _link(root, {f"/dev/{name}": target for name, target in _DEVICE_LINKS.items()})
        _link(root, self._links)

    def _check_visible(self) -> None:
        for path in self._needed:
            if not os.path.exists(path):
                raise OSError(f"{path} belongs to the interpreter but is not visible in the box")
        if not os.path.exists(os.path.join(ENGINE, "start.py")):
            raise OSError(f"the engine's folder {self._engine} is not visible in the box")
        for path in self._hidden:
            if os.path.isdir(path) and os.listdir(path):
                raise OSError(f"{path} should be hidden but is visible in the box")


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o644))
    mounts.bind_read_only(source, target)


def _link(root: str, links: Dict[str, str]) -> None:
    for link, target in links.items():
        os.makedirs(os.path.dirname(root + link), mode=0o755, exist_ok=True)
        os.symlink(target, root + link)


def _write(root: str, files: Dict[str, str]) -> None:
    for path, text in files.items():
        if os.path.lexists(root + path):
            continue  # the host's own was shown
        with open(root + path, "w") as file:
            file.write(text)
