"""What `viva grade --on PLACE` needs: its options, and the cluster that they name."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from viva.config import Course
from viva.model import Isolation, Tier
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Observer
from viva.pipeline.schedulers import PLACES, Certificates, Connection, check_place, connect
from viva.sandbox.guest.transport.optional_layers import OPTIONAL_LAYERS

if TYPE_CHECKING:
    from viva.pipeline.cluster import ClusterPool


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where a class is graded, if not on this machine."""

    place: str
    certificates: Certificates
    worker_course: str

    def __bool__(self) -> bool:
        return bool(self.place)

    def cluster(
        self, course: Course, tier_name: str | None, min_tier: Tier | None, gpu_wish: str, workers: int | None
    ) -> "Cluster":
        """Connect to the cluster, and disconnect when the command ends.

        Raises:
            UsageError: it cannot be reached, its isolation is too weak, or a GPU is required and it has none.
        """
        least, exactly = _tiers(tier_name, min_tier)
        connection = click.get_current_context().with_resource(
            connect(self.place, self.certificates, workers=workers or 0, secret=course.secret_source)
        )
        return Cluster(connection, course, self.worker_course, least, exactly, _has_gpu(connection, gpu_wish))


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

    def pool(self, secret: bytes, options: GradeOptions, observer: Observer) -> "ClusterPool":
        """Return the pool that grades on the cluster."""
        from viva.pipeline.cluster import ClusterPool, Workers

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


def cluster_options(function: Callable[..., object]) -> Callable[..., object]:
    """Add `--on PLACE` and the options that belong to it, as the one argument `elsewhere`."""

    @functools.wraps(function)
    def collected(
        *,
        place: str | None,
        tls_ca: Path | None,
        tls_cert: Path | None,
        tls_key: Path | None,
        worker_course: str | None,
        **others: object,
    ) -> object:
        if place is not None:
            check_place(place)
        elif tls_ca or tls_cert or tls_key or worker_course:
            raise UsageError("--tls-ca, --tls-cert, --tls-key and --worker-course belong to --on PLACE.")
        elsewhere = Elsewhere(place or "", Certificates(tls_ca, tls_cert, tls_key), worker_course or "")
        return function(elsewhere=elsewhere, **others)

    file = click.Path(path_type=Path)
    for option in (
        click.option("--worker-course", metavar="DIR", help="The course's folder on the workers (default: as here)."),
        click.option("--tls-key", type=file, metavar="FILE", help="The private key of --tls-cert."),
        click.option("--tls-cert", type=file, metavar="FILE", help="The certificate that shows who we are."),
        click.option("--tls-ca", type=file, metavar="FILE", help="Who signs the cluster's certificates."),
        click.option("--on", "place", metavar="PLACE", help=f"Grade on a Dask cluster: {PLACES}."),
    ):
        collected = option(collected)
    return collected
