"""The fork server as the examiner sees it: started once per set of libraries, asked for boxes, closed."""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from typing import Any, Final, Self

import viva
import viva.box.inside.control as control
from viva.box.outside.box import Box, Handle
from viva.box.outside.canary import Canary
from viva.box.outside.cgroups import CgroupParent
from viva.box.outside.output import Output
from viva.box.outside.reactor import Reactor
from viva.box.outside.uids import FIRST_UID, BorrowedUid
from viva.box.outside.watchdog import Watchdog
from viva.model import Limits, Tier
from viva.model.errors import BoxUnavailable

_ENGINE: Final = Path(control.__file__).parent
_START_S: Final = 120.0
"""Importing torch from a cold disk takes long; a fork server that says nothing for this long never will."""
_SPAWN_S: Final = 60.0
_KEPT_KIB: Final = 64
_WITH_UIDS: Final = (Tier.T1, Tier.T3)


class Zygote:
    """A running fork server; use `Zygote.start`. Safe to use from several threads."""

    def __init__(self, tier: Tier, settings: dict[str, Any], python: str) -> None:
        self.tier = tier
        self.ready: dict[str, Any] = {}
        self._canary = Canary()
        self._cgroups = CgroupParent.find() if sys.platform == "linux" else None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[tuple[dict[str, Any], list[int]]]] = {}
        self._boxes: dict[int, Handle] = {}
        self._closed = False
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        lifeline, self._lifeline = os.pipe()
        reading, writing = os.pipe()
        self._said = Output(reading, _KEPT_KIB)
        try:
            self._process = _execute(python, theirs.fileno(), lifeline, writing)
        except OSError as error:
            self._free()
            raise BoxUnavailable(f"{python} cannot be started: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(lifeline)
            os.close(writing)
        self._reactor = Reactor(f"viva boxes {tier}")
        self.watchdog = Watchdog(self._reactor)
        self._reactor.watch(self._said, self._said.drain)
        settings["canary"] = self._canary.described()
        settings["cgroups"] = self._cgroups.folders if self._cgroups else []
        self._settings = settings

    @classmethod
    def start(
        cls,
        tier: Tier,
        *,
        preload: Sequence[str],
        python: str = sys.executable,
        readable: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        fresh: bool = False,
    ) -> Self:
        """Start a fork server with libraries warm.

        Args:
            tier: how strong the walls of its boxes must be; never less is given.
            preload: modules to import beforehand. One that starts a thread cannot be forked: then every box runs a
                fresh interpreter and imports them itself, as with `fresh`.
            python: the interpreter of the boxes.
            readable: extra paths that boxes may read.
            hidden: paths that boxes must not see even where they lie below something they need.
            fresh: never fork a warm interpreter.

        Raises:
            BoxUnavailable: one sentence that says what is missing on this host.
        """
        settings = {
            "tier": str(tier),
            "preload": list(preload),
            "readable": [str(path.resolve()) for path in readable],
            # An installed engine lies among the libraries that boxes need.
            "hidden": [str(Path(viva.__file__).parent.resolve()), *(str(path.resolve()) for path in hidden)],
            "fresh": fresh,
            "trial_uid": FIRST_UID,
        }
        zygote, message = cls._launch(tier, settings, python)
        if message.get("threads"):
            zygote.close()
            zygote, message = cls._launch(tier, {**settings, "fresh": True}, python)
        if "failed" in message:
            said = zygote.said()
            zygote.close()
            raise BoxUnavailable(f"no box of tier {tier} on this host: {message['failed']}{said}")
        zygote.ready = message
        return zygote

    @classmethod
    def _launch(cls, tier: Tier, settings: dict[str, Any], python: str) -> tuple[Self, dict[str, Any]]:
        zygote = cls(tier, settings, python)
        try:
            zygote._channel.settimeout(_START_S)
            control.send(zygote._channel, zygote._settings)
            message, _ = control.receive(zygote._channel)
            zygote._channel.settimeout(None)
        except (EOFError, OSError) as error:
            return zygote, {"failed": f"the fork server did not start ({error})"}
        zygote._reactor.watch(zygote._channel, zygote._hear)
        return zygote, message

    @property
    def pid(self) -> int:
        """The process that keeps the fork server."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can still make boxes."""
        return not self._closed and self._process.poll() is None

    def said(self) -> str:
        """The last line that the fork server itself printed, in brackets; empty when it said nothing."""
        lines = self._said.bytes().decode(errors="replace").strip().splitlines()
        return f" [{lines[-1][:300]}]" if lines else ""

    def spawn(self, limits: Limits, *, seed: int = 0) -> Box:
        """A locked box that has said hello; raises BoxUnavailable when none can be made."""
        if self._closed:
            raise BoxUnavailable("the fork server is closed")
        uid = BorrowedUid() if self.tier in _WITH_UIDS else None
        number = next(self._numbers)
        try:
            cgroup = self._cgroups.make(str(number), limits) if self._cgroups else None
        except OSError as error:
            if uid:
                uid.give_back()
            raise BoxUnavailable(f"a cgroup for the box could not be made: {error}") from error
        handle = Handle(number, uid, cgroup)
        return Box.born(self, handle, limits, seed)

    def request(self, handle: Handle, policy: dict[str, Any], descriptors: list[int]) -> tuple[dict[str, Any], int]:
        """Ask the fork server for a box; returns its answer and a pidfd of the box's first process.

        Raises:
            BoxUnavailable: the fork server has ended, does not answer, or cannot make one.
        """
        future: Future[tuple[dict[str, Any], list[int]]] = Future()
        uid = handle.uid.uid if handle.uid else 0
        with self._lock:
            if self._closed:
                raise BoxUnavailable("the fork server is closed")
            self._pending[handle.number] = future
            self._boxes[handle.number] = handle
            try:
                control.send(self._channel, {"number": handle.number, "uid": uid, "policy": policy}, descriptors)
            except OSError as error:
                del self._pending[handle.number], self._boxes[handle.number]
                raise BoxUnavailable(f"the fork server has ended{self.said()}") from error
        try:
            answer, fds = future.result(_SPAWN_S)
        except TimeoutError as error:
            raise BoxUnavailable(f"the fork server did not answer within {_SPAWN_S:g} s") from error
        if "error" in answer:
            self._boxes.pop(handle.number, None)
            raise BoxUnavailable(f"the fork server could not make a box: {answer['error']}")
        return answer, fds[0]

    @property
    def reactor(self) -> Reactor:
        """The thread that boxes' outputs are drained by."""
        return self._reactor

    def close(self) -> None:
        """End every box and the fork server; waits until nothing of it is left."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)
        os.close(self._lifeline)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._reactor.close()
        self._all_ended()
        self._free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _free(self) -> None:
        self._channel.close()
        self._said.close()
        self._canary.close()
        if self._cgroups:
            self._cgroups.remove()
        if self.ready.get("base"):
            shutil.rmtree(self.ready["base"], ignore_errors=True)  # already gone, unless the keeper was killed

    def _hear(self) -> bool:
        """One message of the fork server; False when it has ended."""
        try:
            message, fds = control.receive(self._channel)
        except (EOFError, OSError):
            self._all_ended()
            return False
        number = int(message["number"])
        if "ended" in message:
            handle = self._boxes.pop(number, None)
            if handle:
                handle.ended.set()
            return True
        with self._lock:
            future = self._pending.pop(number, None)
        try:
            if future is None:
                raise InvalidStateError("nobody waits for it any more")
            future.set_result((message, fds))
        except InvalidStateError:
            for fd in fds:
                os.close(fd)
        return True

    def _all_ended(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        for future in pending.values():
            future.set_exception(BoxUnavailable(f"the fork server has ended{self.said()}"))
        for handle in list(self._boxes.values()):
            handle.ended.set()


def _execute(python: str, channel: int, lifeline: int, output: int) -> subprocess.Popen[bytes]:
    """The keeper, in a session of its own (so that Ctrl-C reaches us alone) and with next to no environment."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return subprocess.Popen(
        [python, "-s", str(_ENGINE / "start.py"), "serve", str(channel), str(lifeline)],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=[channel, lifeline],
        start_new_session=True,
    )
