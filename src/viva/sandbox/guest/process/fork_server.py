"""The fork server: libraries warm, one thread, no secret; forks a box for each request of the examiner."""

from __future__ import annotations

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
from typing import Any, Dict, List, Optional

from .. import load_from
from ..lockdown import (
    clean_environment,
    identity,
    kernel_calls,
    kernel_namespaces,
    landlock,
    rlimits,
    seccomp,
    visible_files,
)
from ..lockdown.root_directory import ENGINE, SCRATCH, WORK, Jail
from ..transport import control
from . import descendants, huge_pages, init, preload, workdirs
from .box_plan import ROOM_FOR_IMPORTS, BoxPlan

_LARGE = 64 << 20
"""Private memory worth gathering on huge pages: torch's, not numpy's."""


@dataclasses.dataclass
class _Living:
    """A box as the fork server knows it."""

    number: int
    uid: int
    room: Optional[str]


class ForkServer:
    """State of the fork server; `prepare` then `serve`."""

    def __init__(self, settings: Dict[str, Any], channel: socket.socket) -> None:
        self._settings, self._channel = settings, channel
        self._tier: str = settings["tier"]
        self._engine: str = settings["engine"]
        self._jail: Optional[Jail] = None
        self._pid_namespace: Optional[kernel_namespaces.PidNamespace] = None
        self._living: Dict[int, _Living] = {}
        self._memory = (0, 0)
        self._preload: List[str] = []
        self._versions: Dict[str, str] = {}
        self._shown: List[str] = []
        self._landlock_abi = 0

    def prepare(self) -> Dict[str, Any]:
        """Raise the static walls, import, check; returns what the examiner is told.

        Raises:
            OSError: a wall does not stand, or the interpreter would not be visible behind it.
            ImportError: a module of `preload` does not exist.
        """
        readable = [str(path) for path in self._settings["readable"]]
        os.umask(0o022)
        if sys.platform == "linux" and not os.path.exists("/proc/self/task"):
            raise OSError("/proc, where a process finds its own threads and memory, is not mounted here; mount it")
        self_view = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # /proc may be hidden later
        visible_files.forget_editable_installs(readable)
        if self._tier in ("T2", "T3"):
            self._pid_namespace = kernel_namespaces.PidNamespace()
            self._jail = Jail(self._engine, readable, self._settings["hidden"], self._settings.get("devices", ()))
            proc = self._jail.build()
            load_from(ENGINE)
            self._shown = ["/"]
        else:
            proc = "the host's"
            identity.adopt_orphans()
            self._move_engine()
            if self._tier == "T1":
                user = int(self._settings["trial_uid"])
                _check_open(user, [*visible_files.interpreter_paths(), *readable])
                if not landlock.abi():
                    _check_closed(user, self._settings["secret"])
            self._shown = visible_files.View(
                [*visible_files.system_paths(), *visible_files.interpreter_paths(), *readable]
            ).shown
        fresh = bool(self._settings["fresh"])
        if not fresh:
            rehearsal = self._import()
            rehearsal.rehearse(os.path.join(SCRATCH if self._jail else self._settings["base"], "rehearsal"))
        threads = _count_threads(self_view)
        if threads > 1:
            raise RuntimeError(f"importing {', '.join(self._settings['preload'])} started {threads - 1} thread(s)")
        self._preload = preload.to_import(self._settings["preload"]) if fresh else []
        self._versions = {"python": platform.python_version(), "kernel": platform.release(), **preload.versions()}
        self._memory = ROOM_FOR_IMPORTS if fresh else rlimits.memory_in_use(self_view)
        self._landlock_abi = landlock.abi()
        if not fresh:  # the libraries have read the environment of the fork server by now
            clean_environment.set_variables(clean_environment.variables(WORK, SCRATCH))
        gc.collect()
        gc.freeze()
        if self._memory[0] > _LARGE and not fresh:
            huge_pages.gather(self_view)
        os.close(self_view)
        if self._tier != "T0":
            for fork in (True, False):
                seccomp.program(fork=fork)
            identity.set_dumpable(False)
        return {"ready": True, "proc": proc, "base": self._settings.get("base", ""), "landlock": self._landlock_abi}

    def _move_engine(self) -> None:
        """Serve from a copy that the box's user can read, wherever the engine itself is installed."""
        copy = os.path.join(self._settings["base"], "engine")
        try:
            shutil.copytree(self._engine, copy, ignore=shutil.ignore_patterns("__pycache__"))
        except shutil.Error as error:  # one line for each file
            why = str(error.args[0][0][2]).partition(": ")[0]
            raise OSError(f"the engine cannot be copied to {copy}: {why}") from None
        workdirs.open_to_all(copy)
        self._engine = copy
        load_from(copy)

    def _import(self) -> Any:
        """Make the libraries warm; returns the module of the rehearsal, which is loaded after them."""
        if self._jail is not None:
            os.environ.update(HOME=SCRATCH, TMPDIR=SCRATCH, MPLCONFIGDIR=SCRATCH + "/mpl", IPYTHONDIR=SCRATCH + "/ipy")
        preload.import_all(preload.to_import(self._settings["preload"]))
        return importlib.import_module("viva_box.process.warmup")

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
                _empty(reader)
                self._bury()
            if self._channel.fileno() in ready:
                try:
                    message, fds = control.receive(self._channel)
                except (EOFError, ConnectionError):
                    break
                self._answer(message, fds)
        self._end_everything()

    def _answer(self, message: Dict[str, Any], fds: List[int]) -> None:
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
        room = self._living[pid].room
        control.send(self._channel, {"number": number, "room": room}, [pidfd])
        os.close(pidfd)

    def _spawn(self, message: Dict[str, Any], fds: List[int]) -> int:
        number, uid = int(message["number"]), int(message["uid"])
        room: Optional[str] = None
        work, scratch = WORK, SCRATCH
        if self._jail is None:
            room = os.path.join(self._settings["base"], str(number))
            work, scratch = workdirs.make_room(self._settings["base"], str(number), uid if self._tier == "T1" else -1)
        plan = BoxPlan(
            tier=self._tier,
            policy=message["policy"],
            uid=uid,
            engine=ENGINE if self._jail else self._engine,
            work=work,
            scratch=scratch,
            view=self._shown,
            hidden=[] if self._jail else self._settings["hidden"],
            canary=self._settings["canary"],
            versions=self._versions,
            data_bytes=self._memory[0],
            address_bytes=self._memory[1],
            landlock_abi=self._landlock_abi,
            preload=self._preload,
            cores=self._settings.get("cores", []),
        )
        wires = init.Wires(fds[0], fds[1], fds[2], fds[3:])
        me = os.getpid()
        if self._pid_namespace is None:
            pid = os.fork()
        else:
            with self._pid_namespace:
                pid = kernel_calls.fork_bare()
                if pid == 0:
                    init.run(plan, wires, self._jail, 0)
        if pid == 0:
            init.run(plan, wires, self._jail, me)
        self._living[pid] = _Living(number, uid, room)
        return pid

    def _bury(self) -> None:
        """Reap boxes that ended, end what they left behind, tell the examiner."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            box = self._living.pop(pid, None)
            if box is not None:
                self._clean_up_after(box)
                control.send(self._channel, {"number": box.number, "ended": True})

    def _clean_up_after(self, box: _Living) -> None:
        if self._jail is not None:
            return  # the pid namespace and the mounts are gone with pid 1
        if self._tier == "T1":
            descendants.sweep_user(box.uid)
            workdirs.remove_belongings(box.uid, workdirs.SHARED)
        descendants.end_orphans(keep=self._living)
        if box.room is not None:
            workdirs.remove(box.room)

    def _end_everything(self) -> None:
        for pid in self._living:
            os.kill(pid, signal.SIGKILL)
        for pid, box in list(self._living.items()):
            os.waitpid(pid, 0)
            del self._living[pid]
            self._clean_up_after(box)


def _check_open(user: int, paths: List[str]) -> None:
    closed = visible_files.closed_to(user, paths)
    if closed:
        raise PermissionError(
            f"{closed} cannot be read by the user of the box; install Python where every user may read it, or open "
            "its parent directories (chmod o+x)"
        )


def _check_closed(user: int, paths: List[str]) -> None:
    """Without Landlock permissions alone keep what is hidden, the key above all."""
    for path in paths:
        if visible_files.open_to(user, path):
            raise PermissionError(
                f"{path} must be hidden from boxes, but every user may enter it and this kernel has no Landlock; close "
                "it (chmod o-rwx), or use Linux 5.13 or newer"
            )


def _count_threads(self_view: int) -> int:
    """Threads of this process, those of C libraries included."""
    task = os.open("task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self_view)
    try:
        return len(os.listdir(task))
    finally:
        os.close(task)


def _empty(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            continue
    except BlockingIOError:
        return
