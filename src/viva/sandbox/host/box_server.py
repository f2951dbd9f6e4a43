"""What a box needs of the fork server that made it, so that neither module has to import the other."""

import socket
from collections.abc import Sequence
from typing import Protocol

from viva.sandbox.host.box_resources import BoxResources
from viva.sandbox.host.limits.watchdog import Watchdog
from viva.sandbox.host.reactor import Reactor
from viva.sandbox.tier import Tier


class Server(Protocol):
    """What makes the processes of boxes: a fork server, or fresh interpreters."""

    @property
    def alive(self) -> bool:
        """Return whether it can still make boxes."""

    @property
    def lost(self) -> bool:
        """Return whether it ended without being closed."""

    def request(
        self, resources: BoxResources, policy: dict[str, object], descriptors: Sequence[int]
    ) -> socket.socket | None:
        """Make one box; return the examiner's end of the connection if the box makes it itself, else None."""

    def last_line(self) -> str:
        """Return the last line that the server itself printed, in brackets; empty if there is none."""

    def close(self) -> None:
        """End the server and its boxes."""


class BoxOwner(Protocol):
    """The fork server as its boxes see it."""

    tier: Tier
    reactor: Reactor
    watchdog: Watchdog

    @property
    def lost(self) -> bool:
        """Return whether it ended without being closed; its boxes ended with it."""
