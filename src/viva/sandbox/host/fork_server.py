"""The source of boxes: started once for each set of libraries, asked for boxes, closed."""

import itertools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from viva.sandbox import system
from viva.sandbox.errors import BoxUnavailable
from viva.sandbox.gpu import Gpu
from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.fork_server_connection import ForkServerConnection
from viva.sandbox.host.leftovers import sweep_files
from viva.sandbox.host.levels.canary import Canary
from viva.sandbox.host.limits.cgroups import CgroupParent
from viva.sandbox.host.limits.uids import FIRST_UID, BorrowedUid
from viva.sandbox.host.limits.watchdog import Watchdog
from viva.sandbox.host.reactor import Reactor
from viva.sandbox.host.standalone_boxes import StandaloneBoxes
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

if TYPE_CHECKING:
    from viva.sandbox.host.box import Box

_WITH_UIDS: Final = (Tier.T1, Tier.T3)
Server = ForkServerConnection | StandaloneBoxes
"""What makes the processes of boxes: a fork server, or fresh interpreters."""
_Connect = Callable[[Reactor, Canary, list[str]], Server]
"""Connects to a fork server, given the folders of the cgroups of its boxes."""


class ForkServer:
    """A running fork server; use `ForkServer.start`. Safe to use from several threads."""

    def __init__(self, tier: Tier, connect: _Connect, *, with_cgroups: bool) -> None:
        self.tier = tier
        self.reactor = Reactor(f"viva boxes {tier}")
        self.watchdog = Watchdog(self.reactor)
        self._canary = Canary()
        self._cgroups = CgroupParent.find() if with_cgroups else None
        self._numbers = itertools.count(1)
        self._closed = False
        self._server: Server | None = None
        try:
            self._server = connect(self.reactor, self._canary, self._cgroups.folders if self._cgroups else [])
        except BaseException:
            self.close()
            raise

    @classmethod
    def start(  # noqa: PLR0913  # keyword-only settings with defaults; most callers name two
        cls,
        tier: Tier,
        *,
        preload: Sequence[str],
        python: str = sys.executable,
        readable: Sequence[Path] = (),
        hidden: Sequence[Path] = (),
        devices: Sequence[str] = (),
        fresh: bool = False,
        with_fork_server: bool = system.FORKS_SAFELY,
    ) -> Self:
        """Import the libraries and get ready to make boxes.

        Args:
            tier: the isolation level of the boxes; a box never gets a weaker one.
            preload: modules to import beforehand. A process with a thread cannot be forked: if a module starts one,
                every box runs a fresh interpreter and imports the modules itself, as with `fresh`.
            python: the interpreter of the boxes.
            readable: additional paths that boxes may read.
            hidden: paths that boxes must not see, even below a path that they need.
            devices: device files of GPUs; a box sees only those that `spawn` names.
            fresh: never fork a warm interpreter.
            with_fork_server: False starts every box as a separate program, in tier T0 only; macOS and Windows have no
                other way.

        Raises:
            BoxUnavailable: One sentence says what is missing on this host.
        """
        if not with_fork_server and tier != Tier.T0:
            raise BoxUnavailable(f"no box of tier {tier} without a fork server: that way offers T0 alone")
        settings = {
            "tier": str(tier),
            "preload": list(preload),
            "readable": [str(path.resolve()) for path in readable],
            # The package around this one is in the same folder as the libraries that boxes need.
            "hidden": [str(Path(__file__).resolve().parents[2]), *(str(path.resolve()) for path in hidden)],
            "secret": [str(path.resolve()) for path in hidden],
            "fresh": fresh,
            "trial_uid": FIRST_UID,
            **({"devices": list(devices)} if devices else {}),
        }

        def connect(reactor: Reactor, canary: Canary, cgroups: list[str]) -> Server:
            if with_fork_server:
                return ForkServerConnection({**settings, "cgroups": cgroups}, python, reactor, canary)
            return StandaloneBoxes({**settings, "cgroups": cgroups, "canary": canary.make()}, python)

        made = cls(tier, connect, with_cgroups=with_fork_server)
        if made.ready.get("threads"):
            made.close()
            settings["fresh"] = True
            made = cls(tier, connect, with_cgroups=with_fork_server)
        made._check_ready()
        if not with_fork_server:
            made._try_one_box()
        return made

    @property
    def ready(self) -> dict[str, Any]:
        """Return the first message of the fork server; empty without one."""
        return self._server.ready if isinstance(self._server, ForkServerConnection) else {}

    @property
    def alive(self) -> bool:
        """Return whether it can still make boxes."""
        return not self._closed and self._server is not None and self._server.alive

    @property
    def lost(self) -> bool:
        """Return whether the fork server ended without being closed; its boxes ended with it."""
        return self._server is not None and self._server.lost

    @property
    def pid(self) -> int:
        """Return the pid of the supervisor of the fork server; without a fork server, the pid of this process."""
        return self._server.pid if isinstance(self._server, ForkServerConnection) else os.getpid()

    def spawn(self, limits: Limits, *, seed: int = 0, gpu: Gpu | None = None, deterministic: bool = True) -> "Box":
        """Make a locked box that has sent its ready message, with `gpu` if one is given.

        The fork server must have been started with the device files of the GPU. In a box with a GPU, torch uses
        deterministic algorithms unless `deterministic` is False.

        Raises:
            BoxUnavailable: No box can be made.
        """
        from viva.sandbox.host.box import Box  # with numpy, which the fork server starts without

        if self._closed or self._server is None:
            raise BoxUnavailable("the fork server is closed")
        of_gpu = {"devices": list(gpu.files), "visible": gpu.uuid, "deterministic": deterministic} if gpu else None
        return Box.create(self, self._server, self._reserve_resources(limits), limits, seed, of_gpu)

    def _reserve_resources(self, limits: Limits) -> BoxResources:
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
        return BoxResources(number, uid, cgroup)

    def close(self) -> None:
        """End every box and the fork server, and wait until all of them have gone. May be called more than once."""
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

    def _check_ready(self) -> None:
        """Check that the fork server can make boxes; close it otherwise.

        Raises:
            BoxUnavailable: it cannot.
        """
        if "failed" in self.ready:
            last_line = self._server.last_line() if self._server else ""
            self.close()
            raise BoxUnavailable(f"no box of tier {self.tier} on this host: {self.ready['failed']}{last_line}")

    def _try_one_box(self) -> None:
        """Make one box and end it: without a fork server, only a box shows what cannot be imported."""
        try:
            self.spawn(Limits()).close()
        except BoxUnavailable:
            self.close()
            raise
