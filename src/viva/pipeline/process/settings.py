"""What an examiner receives once, before its first request."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, final

from viva.model import Limits, Tier
from viva.model.gpu import Gpus
from viva.model.plain import gpus_from_plain, gpus_to_plain


@final
@dataclass(frozen=True, slots=True)
class BoxOptions:
    """How the boxes of an examiner are made."""

    tier: Tier
    ready: int = field(default=2, kw_only=True)
    """Locked boxes that are kept ready for the next submission."""
    notebooks: bool = field(default=False, kw_only=True)
    """Whether there may be notebooks: their shell is then loaded once, before any box is made."""
    unused: tuple[str, ...] = field(default=(), kw_only=True)
    """Modules that no submission of the run uses, so that they are not loaded although others may need them."""
    preload: tuple[str, ...] = field(default=(), kw_only=True)
    """Modules to load once for all boxes, besides those that the assignment names."""
    gpus: Gpus = field(default=Gpus(), kw_only=True)
    """GPUs for tests that need one; if there is none, these tests are deferred."""
    none: bool = field(default=False, kw_only=True)
    """Make no box, so that no student's program runs: tests are only collected, or an interceptor answers them."""


@final
@dataclass(frozen=True, slots=True)
class ExaminerSettings:
    """The course, the assignment and the boxes of an examiner."""

    course: Path
    assignment: str
    limits: Limits
    secret: bytes = field(repr=False)
    boxes: BoxOptions
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the libraries of a live kernel, if one replaces the boxes."""

    def to_plain(self) -> dict[str, object]:
        """Return the settings as plain data."""
        boxes = {name: getattr(self.boxes, name) for name in BoxOptions.__slots__}
        return {
            "course": str(self.course),
            "assignment": self.assignment,
            "limits": asdict(self.limits),
            "secret": self.secret,
            "boxes": boxes | {"tier": int(self.boxes.tier), "gpus": gpus_to_plain(self.boxes.gpus)},
            "versions": dict(self.versions),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the settings that `to_plain` described."""
        boxes = plain["boxes"]
        values = {
            "gpus": gpus_from_plain(boxes["gpus"]),
            "preload": tuple(boxes["preload"]),
            "unused": tuple(boxes["unused"]),
        }
        return cls(
            Path(plain["course"]),
            plain["assignment"],
            Limits(**plain["limits"]),
            plain["secret"],
            BoxOptions(**{**boxes, **values, "tier": Tier(boxes["tier"])}),
            plain["versions"],
        )
