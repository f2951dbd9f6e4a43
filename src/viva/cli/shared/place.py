"""Where submissions are graded: on this machine or on a cluster, with which isolation and which GPUs."""

from collections.abc import Iterable
from dataclasses import dataclass

import click

from viva.cli.shared.cluster_options import Elsewhere
from viva.cli.shared.grade_options import Machine
from viva.cli.shared.options import UNSAFE, choose_gpus, choose_tier
from viva.cli.shared.progress import warn
from viva.config import Assignment, Course
from viva.model import Isolation, Tier
from viva.model.gpu import Gpus
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Observer, Pool
from viva.pipeline.remote_place import RemotePlace


@dataclass(frozen=True, slots=True)
class Place:
    """Where submissions are graded: on this machine or on a cluster."""

    tier: Tier
    isolation: Isolation
    """The weakest isolation that a submission may get."""
    gpus: Gpus
    workers: int
    remote: RemotePlace | None

    @classmethod
    def choose(
        cls, course: Course, assignments: Iterable[Assignment], machine: Machine, elsewhere: Elsewhere
    ) -> "Place":
        """Choose the isolation and the GPUs that the options, the course and this host allow.

        Raises:
            UsageError: they do not fit together.
        """
        floors = (assignment.min_tier for assignment in assignments)
        min_tier = max((floor for floor in floors if floor is not None), default=None)
        if elsewhere:
            remote = elsewhere.open(course, machine.tier_name, min_tier, machine.gpu_wish, machine.workers)
            return cls(remote.tier, remote.isolation, Gpus(), 0, remote)
        from viva.sandbox.host.levels.detect_levels import detect_tiers

        tier = choose_tier(machine.tier_name, min_tier)
        gpus = choose_gpus(machine.gpu_wish)
        if tier is Tier.T0:
            warn(f"isolation T0: {UNSAFE}.")
        here = next(report for report in detect_tiers() if report.tier is tier)
        isolation = Isolation(str(tier), missing=here.missing_layers)
        return cls(tier, isolation, gpus, machine.workers or 0, None)

    @property
    def has_gpu(self) -> bool:
        """Return whether tests that need a GPU get one."""
        return self.remote.gpu if self.remote is not None else bool(self.gpus.devices)

    def pool(self, course: Course, secret: bytes, options: GradeOptions, observer: Observer) -> Pool:
        """Return what grades there."""
        from viva.pipeline.local_pool import LocalPool
        from viva.pipeline.process.examiner_process import ExaminerProcess
        from viva.pipeline.process.settings import BoxOptions

        if self.remote is not None:
            return self.remote.pool(secret, options, observer)
        boxes = BoxOptions(self.tier, gpus=self.gpus)
        examiner_factory = click.get_current_context().obj or ExaminerProcess  # the argument of viva.cli.main.run
        return LocalPool(course, secret, boxes, options, self.workers, observer, examiner_factory)
