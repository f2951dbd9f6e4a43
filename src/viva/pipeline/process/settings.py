"""What an examiner receives once, before its first request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from viva.model import Limits, Tier
from viva.model.gpu import Gpus


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
