"""What a box needs of the fork server that made it, so that neither module has to import the other."""

import socket
from collections.abc import Sequence
from typing import Any, Protocol

from viva.model import Tier
from viva.sandbox.host.box_resources import Handle
from viva.sandbox.host.limits.watchdog import Watchdog
from viva.sandbox.host.reactor import Reactor


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


class BoxOwner(Protocol):
    """The fork server as its boxes see it."""

    tier: Tier
    reactor: Reactor
    watchdog: Watchdog

    @property
    def lost(self) -> bool:
        """Whether it ended though nobody here ended it; its boxes ended with it."""
