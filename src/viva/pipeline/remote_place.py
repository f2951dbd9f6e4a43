"""Where a class is graded, if not on this machine: what `--on PLACE` asks for, and what grades there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from viva.config import Course
from viva.model import Isolation, Tier
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Observer, Pool


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files that authenticate this side and verify the other; None where the place's own configuration names them."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRequest:
    """What a command asks of a place."""

    place: str
    """As `--on` names it."""
    certificates: Certificates
    course: Course
    worker_course: str
    """The course's folder on the workers; empty for the same as here."""
    tier_name: str | None
    min_tier: Tier | None
    gpu_wish: str
    """`auto`, `require` or `defer`."""
    workers: int
    """How many workers to ask for; 0 for the place's own choice."""


class RemotePlace(Protocol):
    """A place that is ready to grade."""

    @property
    def tier(self) -> Tier:
        """The weakest isolation that is accepted."""
        ...

    @property
    def isolation(self) -> Isolation:
        """What every worker offers at the least."""
        ...

    @property
    def gpu(self) -> bool:
        """Whether tests that need a GPU get one."""
        ...

    def pool(self, secret: bytes, options: GradeOptions, observer: Observer) -> Pool:
        """Return what grades there."""
        ...
