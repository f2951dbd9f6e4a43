"""The isolation that a student's program had, and whether it is as strong as another one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS
from viva.sandbox.tier import Tier


@dataclass(frozen=True, slots=True)
class Isolation:
    """The isolation layers around the student's code, as the box reported them before it read a student byte."""

    tier: str
    """The isolation level, `T0` to `T3`; "none" if no student program ran."""
    layers: Mapping[str, str] = field(default_factory=dict)
    """The active isolation layers, as the sandbox reported them."""
    probes: Mapping[str, str] = field(default_factory=dict)
    """What the sandbox tried before the student's code ran, and how it was refused."""
    missing: tuple[str, ...] = ()
    """Isolation layers that were not available."""

    @property
    def lacks(self) -> frozenset[str]:
        """Return which of the optional layers are missing."""
        return frozenset(self.missing) & {*OPTIONAL_LAYERS.values()}

    def is_below(self, floor: Tier | None) -> bool:
        """Return whether the program ran at a lower level; None for no such level."""
        return floor is not None and self.tier in Tier.__members__ and Tier[self.tier] < floor

    def holds(self, asked: "Isolation") -> bool:
        """Return whether it has the level asked for or a higher one, and lacks no optional layer more.

        It does if no student program ran.
        """
        if asked.tier not in Tier.__members__:
            return self.tier not in Tier.__members__
        return not self.is_below(Tier[asked.tier]) and (self.tier not in Tier.__members__ or self.lacks <= asked.lacks)

    def weaker(self, other: "Isolation") -> "Isolation":
        """Return the weaker of two, for a score of which each gave a part."""
        return other if self.holds(other) else self
