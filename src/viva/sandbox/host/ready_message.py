"""What a box says of itself before it has read a student byte; trusted code wrote it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from viva.model.errors import ProtocolViolation


@dataclass(frozen=True, slots=True)
class ReadyMessage:
    """The record of the walls around one box."""

    tier: str
    layers: Mapping[str, str] = field(default_factory=dict)
    """Each wall and how it stands, in the order in which they were raised."""
    probes: Mapping[str, str] = field(default_factory=dict)
    """Each attempt to get out: "refused: why" or "open: what"."""
    missing: tuple[str, ...] = ()
    """What this host cannot offer, in words."""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_wire(cls, message: Any) -> Self:
        """Build from the first message; raises ProtocolViolation when it is not of that form."""
        try:
            return cls(
                str(message["tier"]),
                _texts(message["layers"]),
                _texts(message["probes"]),
                tuple(str(text) for text in message["missing"]),
                _texts(message["versions"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ProtocolViolation(f"the box's first message is no hello: {error}") from error

    @property
    def open_probes(self) -> dict[str, str]:
        """Attempts that succeeded."""
        return {name: text for name, text in self.probes.items() if not text.startswith("refused")}


def _texts(pairs: Any) -> dict[str, str]:
    return {str(key): str(value) for key, value in pairs.items()}
