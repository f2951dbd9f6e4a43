"""A cluster as the place where a class is graded."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import click

from viva.config import Course
from viva.model import Isolation, Tier
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Observer
from viva.pipeline.remote_place import RemoteRequest
from viva.plugins.cluster.cluster_pool import ClusterPool, Workers
from viva.plugins.cluster.schedulers import Connection, connect
from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster with an open connection."""

    connection: Connection
    course: Course
    worker_course: str
    tier: Tier
    """The weakest isolation that is accepted."""
    exactly: Tier | None
    """The isolation that was asked for; None for the best of each worker."""
    gpu: bool
    """Whether workers with the resource `GPU` get the tests for a GPU."""

    @property
    def isolation(self) -> Isolation:
        """Return what every worker offers at the least: the level, whatever optional layers it lacks."""
        return Isolation(str(self.tier), missing=tuple(OPTIONAL_LAYERS.values()))

    def pool(self, secret: bytes, options: GradeOptions, observer: Observer) -> ClusterPool:
        """Return the pool that grades on the cluster."""
        workers = Workers(least=self.tier, tier=self.exactly, course=self.worker_course, gpu=self.gpu)
        return ClusterPool(
            self.connection,
            self.course,
            secret,
            options,
            workers,
            observer,
            on_wait=lambda text: click.echo(f"viva: {text}", err=True),
        )


@contextlib.contextmanager
def open_cluster(request: RemoteRequest) -> Iterator[Cluster]:
    """Connect to a cluster, and disconnect at the end.

    Raises:
        UsageError: it cannot be reached, its isolation is too weak, or a GPU is required and it has none.
    """
    least, exactly = _tiers(request.tier_name, request.min_tier)
    secret = request.course.secret_source
    with connect(request.place, request.certificates, workers=request.workers, secret=secret) as connection:
        gpu = _has_gpu(connection, request.gpu_wish)
        yield Cluster(connection, request.course, request.worker_course, least, exactly, gpu)


def _tiers(name: str | None, min_tier: Tier | None) -> tuple[Tier, Tier | None]:
    """Return the weakest isolation level that is allowed, and the exact one if the command names it."""
    least = max(min_tier or Tier.T1, Tier.T1)
    if name is None or name.lower() == "best":
        return least, None
    tier = Tier[name.upper()]
    if tier is Tier.T0:
        raise UsageError("--tier T0 is not for clusters: their workers grade in T1 or better.")
    if tier < least:
        raise UsageError(f"The course asks for isolation {least} or better (min_tier); {tier} was asked for.")
    return tier, tier


def _has_gpu(connection: Connection, wish: str) -> bool:
    if wish == "defer":
        return False
    if wish == "require" and connection.worker_timeout_s is None:
        return True  # its workers have not started yet
    found = any("GPU" in worker["resources"] for worker in connection.workers().values())
    if wish == "require" and not found:
        raise UsageError("--gpu require: no worker has the resource GPU; start one with --resources GPU=1.")
    return found
