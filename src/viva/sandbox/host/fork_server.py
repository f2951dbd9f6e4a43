"""What boxes are made from: started once per set of libraries, asked for boxes, closed."""

import itertools
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol, Self

import viva
from viva.model import Limits, Tier, system
from viva.model.errors import BoxUnavailable
from viva.model.gpu import Gpu
from viva.sandbox.host.box import Box
from viva.sandbox.host.box_resources import Handle
from viva.sandbox.host.fork_server_connection import ForkServerConnection
from viva.sandbox.host.leftovers import sweep_files
from viva.sandbox.host.levels.canary import Canary
from viva.sandbox.host.limits.cgroups import CgroupParent
from viva.sandbox.host.limits.uids import FIRST_UID, BorrowedUid
from viva.sandbox.host.limits.watchdog import Watchdog
from viva.sandbox.host.reactor import Reactor
from viva.sandbox.host.standalone_boxes import FreshInterpreters

_WITH_UIDS: Final = (Tier.T1, Tier.T3)


class Server(Protocol):
    """Makes the processes of boxes: a fork server, or fresh interpreters."""

    @property
    def alive(self) -> bool:
        """Whether it can still make boxes."""

    @property
    def lost(self) -> bool:
        """Whether it ended though nobody here ended it."""

    def request(self, handle: Handle, policy: dict[str, Any], descriptors: Sequence[int]) -> socket.socket | None:
        """Make one; see ForkServer.request. Our end of the wire where the box connects by itself."""

    def said(self) -> str:
        """The last words of the server itself, in brackets."""

    def close(self) -> None:
        """End all of it."""


class ForkServer:
    """A running fork server; use `ForkServer.start`. Safe to use from several threads."""

    def __init__(self, tier: Tier, settings: dict[str, Any], python: str, with_fork_server: bool) -> None:
        self.tier = tier
        self.reactor = Reactor(f"viva boxes {tier}")
        self.watchdog = Watchdog(self.reactor)
        self._canary = Canary()
        self._cgroups = CgroupParent.find() if with_fork_server else None
        self._numbers = itertools.count(1)
        self._closed = False
        settings["canary"] = self._canary.described()
        settings["cgroups"] = self._cgroups.folders if self._cgroups else []
        self.ready: dict[str, Any] = {}
        self._server: Server | None = None
        try:
            if with_fork_server:
                self._server = server = ForkServerConnection(settings, python, self.reactor)
                self.ready = server.ready
            else:
                self._server = FreshInterpreters(settings, python)
        except BaseException:
            self.close()
            raise

    @classmethod
    def start(
        cls,
        tier: Tier,
        *,
        preload: Sequence[str],
        python: str = sys.executable,
        readable: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        devices: Sequence[str] = (),
        cores: Sequence[int] = (),
        fresh: bool = False,
        with_fork_server: bool = system.FORKS_SAFELY,
    ) -> Self:
        """Make libraries warm and be ready to make boxes.

        Args:
            tier: how strong the walls of the boxes must be; never less is given.
            preload: modules to import beforehand. One that starts a thread cannot be forked: then every box runs a
                fresh interpreter and imports them itself, as with `fresh`.
            python: the interpreter of the boxes.
            readable: extra paths that boxes may read.
            hidden: paths that boxes must not see even where they lie below something they need.
            devices: device files of GPUs; a box sees those that `spawn` names, and no other.
            cores: processor cores that boxes may use where who calls keeps to one; none for those of the caller.
            fresh: never fork a warm interpreter.
            with_fork_server: False starts every box as a program of its own, in tier T0 alone; the only way on macOS
                and on Windows.

        Raises:
            BoxUnavailable: one sentence that says what is missing on this host.
        """
        if not with_fork_server and tier != Tier.T0:
            raise BoxUnavailable(f"no box of tier {tier} without a fork server: that way offers T0 alone")
        settings = {
            "tier": str(tier),
            "preload": list(preload),
            "readable": [str(path.resolve()) for path in readable],
            # An installed engine lies among the libraries that boxes need.
            "hidden": [str(Path(viva.__file__).parent.resolve()), *(str(path.resolve()) for path in hidden)],
            "secret": [str(path.resolve()) for path in hidden],
            "fresh": fresh,
            "trial_uid": FIRST_UID,
            **({"devices": list(devices)} if devices else {}),
            **({"cores": list(cores)} if cores else {}),
        }
        made = cls(tier, settings, python, with_fork_server)
        if made.ready.get("threads"):
            made.close()
            made = cls(tier, {**settings, "fresh": True}, python, with_fork_server)
        if "failed" in made.ready:
            said = made._server.said() if made._server else ""
            made.close()
            raise BoxUnavailable(f"no box of tier {tier} on this host: {made.ready['failed']}{said}")
        if not with_fork_server:
            made._try()
        return made

    @property
    def alive(self) -> bool:
        """Whether it can still make boxes."""
        return not self._closed and self._server is not None and self._server.alive

    @property
    def lost(self) -> bool:
        """Whether the fork server ended though nobody here ended it; its boxes ended with it."""
        return self._server is not None and self._server.lost

    @property
    def pid(self) -> int:
        """The process that keeps the fork server; this one where there is none."""
        return self._server.pid if isinstance(self._server, ForkServerConnection) else os.getpid()

    def spawn(self, limits: Limits, *, seed: int = 0, gpu: Gpu | None = None) -> Box:
        """A locked box that has said hello, with a GPU where one is given; raises BoxUnavailable when none can be made.

        The fork server must have been started with the device files of the GPU.
        """
        if self._closed or self._server is None:
            raise BoxUnavailable("the fork server is closed")
        given = {"devices": [*gpu.shared, gpu.device], "visible": gpu.uuid} if gpu else None
        return Box.born(self, self._server, self._handle(limits), limits, seed, given)

    def _handle(self, limits: Limits) -> Handle:
        number = next(self._numbers)
        try:
            uid = BorrowedUid() if self.tier in _WITH_UIDS else None
        except OSError as error:
            raise BoxUnavailable(f"no user for the box could be reserved: {error.strerror}") from error
        try:
            cgroup = self._cgroups.make(str(number), limits) if self._cgroups else None
        except OSError as error:
            if uid:
                uid.give_back()
            raise BoxUnavailable(f"a cgroup for the box could not be made: {error}") from error
        return Handle(number, uid, cgroup)

    def close(self) -> None:
        """End every box and the fork server; waits until nothing of them is left. May be called again."""
        if self._closed:
            return
        self._closed = True
        if self._server is not None:
            self._server.close()
        self.reactor.close()
        self._canary.close()
        sweep_files()
        if self._cgroups:
            self._cgroups.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _try(self) -> None:
        """A fork server tells at once what cannot be imported; without one the first box does."""
        try:
            self.spawn(Limits()).close()
        except BoxUnavailable:
            self.close()
            raise
