"""The fork server: it holds imported libraries, one thread and no secret, and forks a box for each request."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import os
import platform
import select
import shutil
import signal
import socket
import sys
from typing import TYPE_CHECKING, Dict, List, Optional, Set

from .. import load_from
from ..lockdown import (
    clean_environment,
    identity,
    kernel_namespaces,
    landlock,
    rlimits,
    seccomp,
    visible_files,
)
from ..lockdown.root_directory import ENGINE, SCRATCH, WORK, RootDirectory
from ..transport import control
from . import descendants, init, preload, workdirs
from .box_plan import IMPORT_BYTES, BoxPlan, allowed_calls

if TYPE_CHECKING:
    from ..transport.message_types import BoxRequest, Settings

OPEN_SOCKET = (
    "every user may connect to the socket {0}, boxes as well; close it (chmod o-w {0}), or set fork: false in "
    "assignment.yaml"
)


@dataclasses.dataclass
class _RunningBox:
    """A running box as the fork server knows it."""

    number: int
    uid: int
    folder: Optional[str]


class ForkServer:
    """The fork server; call `prepare`, then `serve`."""

    def __init__(self, settings: Settings, channel: socket.socket) -> None:
        self._settings, self._channel = settings, channel
        self._tier: str = settings["tier"]
        self._engine: str = settings["engine"]
        self._root: Optional[RootDirectory] = None
        self._pid_namespace: Optional[kernel_namespaces.PidNamespace] = None
        self._boxes: Dict[int, _RunningBox] = {}
        self._memory = (0, 0)
        self._preload: List[str] = []
        self._versions: Dict[str, str] = {}
        self._shown: List[str] = []
        self._landlock_abi = 0
        self._closed_sockets: Set[str] = set()
        """Paths of unix sockets to which no box can connect."""

    def prepare(self) -> Dict[str, object]:
        """Apply the isolation layers that all boxes share, import the libraries, and return the ready message.

        Raises:
            OSError: A layer failed, or would hide the interpreter.
            ImportError: A module of `preload` does not exist.
            RuntimeError: A module of `preload` started a thread.
        """
        readable = [str(path) for path in self._settings["readable"]]
        os.umask(0o022)
        if sys.platform == "linux" and not os.path.exists("/proc/self/task"):
            raise OSError("/proc, where a process finds its own threads and memory, is not mounted here; mount it")
        self_view = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # /proc may be hidden later
        visible_files.forget_editable_installs(readable)
        if self._tier in ("T2", "T3"):
            self._pid_namespace = kernel_namespaces.PidNamespace()
            self._root = RootDirectory(
                self._engine, readable, self._settings["hidden"], self._settings.get("devices", ())
            )
            proc = self._root.build()
            load_from(ENGINE)
            self._shown = ["/"]
        else:
            proc = "the host's"
            identity.adopt_orphans()
            self._move_engine()
            if self._tier == "T1":
                user = int(self._settings["trial_uid"])
                _check_readable(user, [*visible_files.interpreter_paths(), *readable])
                if not landlock.abi():
                    _check_inaccessible(user, self._settings["secret"])
            self._shown = visible_files.View(
                [*visible_files.system_paths(), *visible_files.interpreter_paths(), *readable]
            ).shown
        fresh = bool(self._settings["fresh"])
        if not fresh:
            self._import()
        threads = _count_threads(self_view)
        if threads > 1:
            names = (name for name in self._settings["preload"] if not name.startswith("-"))
            raise RuntimeError(f"importing {', '.join(names)} started {threads - 1} thread(s)")
        self._preload = preload.to_import(self._settings["preload"]) if fresh else []
        self._versions = {"python": platform.python_version(), "kernel": platform.release(), **preload.versions()}
        self._memory = IMPORT_BYTES if fresh else rlimits.memory_in_use(self_view)
        self._landlock_abi = landlock.abi()
        gc.collect()
        gc.freeze()
        os.close(self_view)
        if self._tier != "T0":
            for fork in (True, False):
                seccomp.program(allowed_calls(self._tier, fork=fork))
            identity.set_dumpable(dumpable=False)
        base = self._settings.get("base", "")
        return {"ready": True, "proc": proc, "base": base, "landlock": self._landlock_abi}

    def _move_engine(self) -> None:
        """Copy the guest package to where the box's user can read it, and run from that copy."""
        copy = os.path.join(self._settings["base"], "engine")
        try:
            shutil.copytree(self._engine, copy, ignore=shutil.ignore_patterns("__pycache__"))
        except shutil.Error as error:  # it lists every file; the first is enough
            why = str(error.args[0][0][2]).partition(": ")[0]
            raise OSError(f"the engine cannot be copied to {copy}: {why}") from None
        workdirs.open_to_all(copy)
        self._engine = copy
        load_from(copy)

    def _import(self) -> None:
        """Import the libraries, and what every box runs."""
        if self._root is not None:
            os.environ.update(HOME=SCRATCH, TMPDIR=SCRATCH, MPLCONFIGDIR=SCRATCH + "/mpl", IPYTHONDIR=SCRATCH + "/ipy")
        if self._settings.get("devices"):
            os.environ.update(clean_environment.WHILE_IMPORTING_WITH_GPU)
        preload.import_all(preload.to_import(self._settings["preload"]))
        importlib.import_module("viva_box.process.worker")

    def serve(self) -> None:
        """Answer requests until the examiner closes the channel; then end every box and return."""
        reader, writer = os.pipe()
        for fd in (reader, writer):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(reader, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if reader in ready:
                _drain(reader)
                self._reap()
            if self._channel.fileno() in ready and not self._receive():
                break
        for pid in self._boxes:
            os.kill(pid, signal.SIGKILL)
        for pid, box in self._boxes.items():
            os.waitpid(pid, 0)
            self._clean_up_after(box)

    def _receive(self) -> bool:
        """Answer the next message of the examiner; return False if it has closed the connection."""
        try:
            message, fds = control.receive(self._channel)
        except (EOFError, ConnectionError):
            return False
        self._answer(message, fds)
        return True

    def _answer(self, message: BoxRequest, fds: List[int]) -> None:
        number = int(message["number"])
        try:
            pid = self._spawn(message, fds)
            pidfd = os.pidfd_open(pid)
        except Exception as error:
            control.send(self._channel, {"number": number, "error": f"{type(error).__name__}: {error}"})
            return
        finally:
            for fd in fds:
                os.close(fd)
        folder = self._boxes[pid].folder
        control.send(self._channel, {"number": number, "folder": folder}, [pidfd])
        os.close(pidfd)

    def _spawn(self, message: BoxRequest, fds: List[int]) -> int:
        number, uid = int(message["number"]), int(message["uid"])
        folder: Optional[str] = None
        work, scratch = WORK, SCRATCH
        if self._tier == "T1" and message["policy"]["fork"]:
            self._check_sockets()
        if self._root is None:
            folder = os.path.join(self._settings["base"], str(number))
            work, scratch = workdirs.make_workdir(
                self._settings["base"], str(number), uid if self._tier == "T1" else -1
            )
        plan = BoxPlan(
            tier=self._tier,
            policy=message["policy"],
            uid=uid,
            engine=ENGINE if self._root else self._engine,
            work=work,
            scratch=scratch,
            view=self._shown,
            hidden=[] if self._root else self._settings["hidden"],
            canary=self._settings["canary"],
            versions=self._versions,
            data_bytes=self._memory[0],
            address_bytes=self._memory[1],
            landlock_abi=self._landlock_abi,
            preload=self._preload,
        )
        connections = init.Connections(fds[0], fds[1], fds[2], fds[3:])
        parent = os.getpid() if self._pid_namespace is None else 0
        with self._pid_namespace or contextlib.nullcontext():
            pid = os.fork()
            if pid == 0:
                init.run(plan, connections, self._root, parent)
        self._boxes[pid] = _RunningBox(number, uid, folder)
        return pid

    def _check_sockets(self) -> None:
        """Check that permissions keep boxes from all sockets with a path: nothing else does without namespaces."""
        found = visible_files.sockets()
        new = sorted(path for path in found - self._closed_sockets if not path.startswith(self._settings["base"]))
        if path := visible_files.first_open_socket(int(self._settings["trial_uid"]), new):
            raise PermissionError(OPEN_SOCKET.format(path))
        self._closed_sockets = found

    def _reap(self) -> None:
        """Reap boxes that ended, end what they left behind, and notify the examiner."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            box = self._boxes.pop(pid, None)
            if box is not None:
                self._clean_up_after(box)
                control.send(self._channel, {"number": box.number, "ended": True})

    def _clean_up_after(self, box: _RunningBox) -> None:
        if self._root is not None:
            return  # the pid namespace and the mounts are gone with pid 1
        if self._tier == "T1":
            descendants.sweep_user(box.uid)
            workdirs.remove_belongings(box.uid, workdirs.SHARED)
        descendants.end_orphans(keep=self._boxes)
        if box.folder is not None:
            workdirs.remove(box.folder)


def _check_readable(user: int, paths: List[str]) -> None:
    unreadable = visible_files.first_unreadable(user, paths)
    if unreadable:
        raise PermissionError(
            f"{unreadable} cannot be read by the user of the box; install Python where every user may read it, or open "
            "its parent directories (chmod o+x)"
        )


def _check_inaccessible(user: int, paths: List[str]) -> None:
    """Check that file permissions alone protect hidden paths, the key above all, where there is no Landlock."""
    if path := visible_files.first_accessible(user, paths):
        raise PermissionError(
            f"{path} must be hidden from boxes, but every user may enter it and this kernel has no Landlock; close "
            "it (chmod o-rwx), or use Linux 5.13 or newer"
        )


def _count_threads(self_view: int) -> int:
    """Return the number of threads of this process, including those of C libraries."""
    task = os.open("task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self_view)
    try:
        return len(os.listdir(task))
    finally:
        os.close(task)


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            continue
    except BlockingIOError:
        return
