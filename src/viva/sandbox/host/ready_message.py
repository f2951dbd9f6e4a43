"""The report of a box about itself before it reads a student byte; trusted code writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from viva.sandbox.errors import ProtocolViolation


@dataclass(frozen=True, slots=True)
class ReadyMessage:
    """The isolation layers of one box, and what the escape probes found."""

    tier: str
    layers: Mapping[str, str] = field(default_factory=dict)
    """Each isolation layer and its state, in the order in which they were applied."""
    probes: Mapping[str, str] = field(default_factory=dict)
    """Each escape attempt: "refused: why" or "open: what"."""
    missing: tuple[str, ...] = ()
    """What this host cannot offer, as phrases."""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_wire(cls, message: Any) -> Self:
        """Build it from the first message; raises ProtocolViolation when the message has another form."""
        try:
            return cls(
                str(message["tier"]),
                _texts(message["layers"]),
                _texts(message["probes"]),
                tuple(str(text) for text in message["missing"]),
                _texts(message["versions"]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ProtocolViolation(f"the box's first message is not a hello: {error}") from error

    @property
    def open_probes(self) -> dict[str, str]:
        """Return the escape attempts that succeeded."""
        return {name: text for name, text in self.probes.items() if not text.startswith("refused")}


def _texts(pairs: Mapping[object, object]) -> dict[str, str]:
    return {str(key): str(value) for key, value in pairs.items()}
