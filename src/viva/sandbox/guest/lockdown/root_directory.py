"""The root directory of boxes, which the fork server builds once: it holds only what they need."""

from __future__ import annotations

import os
from typing import Dict, Sequence

from ..process.box_plan import in_box
from . import kernel_calls, kernel_namespaces, mounts, visible_files

WORK, SCRATCH, SHARED, ENGINE = "/box", "/tmp", "/dev/shm", "/box-engine"  # noqa: S108  # private mounts of each box
"""Folders in the box: the work directory, temporary files, shared memory, the guest package."""
_PRIVATE = (WORK, SCRATCH, SHARED)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
_MOUNT_POINTS = ("/mnt", "/media", "/srv", "/opt", "/run", "/sys")
"""Directories on which the new root may be mounted while it is built; no path that boxes need may be below it."""
_FILES = {
    "/etc/passwd": "root:x:0:0::/:/bin/false\nstudent:x:60001:60001::/tmp:/bin/sh\n",
    "/etc/group": "root:x:0:\nstudent:x:60001:\n",
    "/etc/hosts": "127.0.0.1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
_INODES_PER_BOX = 4096


class RootDirectory:
    """After `build`, this process sees the new root; `mount_private` then gives each box its private folders."""

    def __init__(
        self, engine: str, readable: Sequence[str], hidden: Sequence[str], devices: Sequence[str] = ()
    ) -> None:
        """Decide what is visible.

        Args:
            engine: the folder of the guest package on the host.
            readable: additional paths to show.
            hidden: paths that stay invisible, even below a visible path.
            devices: device files of GPUs; each box keeps only its own.

        Raises:
            OSError: A path that must be visible does not exist, or is where the box has its own mounts.
        """
        self._engine = engine
        self._devices = list(devices)
        view = visible_files.View([*visible_files.system_paths(), *visible_files.interpreter_paths(), *readable])
        self._shown, self._links = view.shown, view.own_links()
        self._needed = visible_files.interpreter_paths()
        self._hidden = [path for path in map(os.path.realpath, hidden) if view.covers(path)]
        for path in self._shown:
            for place in (WORK, ENGINE, "/proc"):
                if path == place or path.startswith(place + "/"):
                    raise OSError(f"{path} must be visible in the box, but {place} is the box's own; move it elsewhere")

    def build(self) -> str:
        """Enter new namespaces and the new root; return what /proc is there ("own" or "hidden")."""
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
        root = self._mount_point()
        mounts.small_file_system(root, size="1m", inodes=2000, mode="755")
        self._show(root)
        proc = mounts.processes(root + "/proc")
        mounts.change_root(root)
        for path in self._hidden:
            if os.path.lexists(path):
                mounts.cover(path)
        for place in (WORK, SCRATCH):
            self._cover_with_private(place, size="64m", owner=0)
        mounts.freeze_root()
        self._check_visible()
        return proc

    def mount_private(self, owner: int, disk_mib: int, devices: Sequence[str] = ()) -> str:
        """Mount private folders and /proc in this mount namespace, which is a copy of the fork server's.

        Of the GPUs' device files, only `devices` stay.
        """
        for path in map(in_box, self._devices):
            if path not in devices:
                mounts.uncover(path)
        for place in _PRIVATE:
            self._cover_with_private(place, size=f"{disk_mib}m", owner=owner)
        return mounts.processes("/proc")

    def _cover_with_private(self, place: str, *, size: str, owner: int) -> None:
        """Mount a private file system over `place`; keep what must stay visible below it (an environment in /tmp)."""
        below = [mounts.Lifted(path) for path in self._shown if path.startswith(place + "/")]
        mounts.small_file_system(place, size=size, inodes=_INODES_PER_BOX, owner=owner)
        for lifted in below:
            lifted.restore()
        _link("", {link: to for link, to in self._links.items() if link.startswith(place + "/")})

    def _mount_point(self) -> str:
        for candidate in _MOUNT_POINTS:
            if os.path.isdir(candidate) and not any(
                (path + "/").startswith(candidate + "/") for path in [*self._shown, self._engine]
            ):
                return candidate
        raise OSError(f"none of {', '.join(_MOUNT_POINTS)} can be mounted on: something needed lies below each")

    def _show(self, root: str) -> None:
        for path in self._shown:
            _bind(path, root + path)
        _bind(self._engine, root + ENGINE)
        for place in ("/proc", SCRATCH, WORK, "/dev", SHARED, "/run", "/var/tmp", "/etc"):  # noqa: S108  # mount points
            os.makedirs(root + place, mode=0o755, exist_ok=True)
        for name in _DEVICES:
            os.close(os.open(f"{root}/dev/{name}", os.O_CREAT | os.O_CLOEXEC, 0o644))
            mounts.bind_device(f"/dev/{name}", f"{root}/dev/{name}")
        for path in self._devices:
            os.makedirs(os.path.dirname(root + in_box(path)), mode=0o755, exist_ok=True)
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
            continue  # the host's file is visible
        with open(root + path, "w") as file:
            file.write(text)
