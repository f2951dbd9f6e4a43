"""The options of `viva grade --on PLACE`."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from viva.config import Course
from viva.hooks import hooks
from viva.model import Tier
from viva.model.errors import UsageError
from viva.pipeline.remote_place import Certificates, RemotePlace, RemoteRequest

_PLACES: Final = "tls://HOST:PORT, tcp://127.0.0.1:PORT, slurm, or gateway:NAME"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where a class is graded, if not on this machine."""

    place: str
    certificates: Certificates
    worker_course: str

    def __bool__(self) -> bool:
        return bool(self.place)

    def open(
        self, course: Course, tier_name: str | None, min_tier: Tier | None, gpu_wish: str, workers: int | None
    ) -> RemotePlace:
        """Open the place, and close it when the command ends.

        Raises:
            UsageError: no plugin knows such a place, it cannot be reached, or it does not offer what is required.
        """
        request = RemoteRequest(
            place=self.place,
            certificates=self.certificates,
            course=course,
            worker_course=self.worker_course,
            tier_name=tier_name,
            min_tier=min_tier,
            gpu_wish=gpu_wish,
            workers=workers or 0,
        )
        opened = hooks().viva_pool(request=request)
        if opened is None:
            raise UsageError(f"--on {self.place}: no plugin of this installation grades there.")
        place: RemotePlace = click.get_current_context().with_resource(opened)
        return place


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
        if place is None and (tls_ca or tls_cert or tls_key or worker_course):
            raise UsageError("--tls-ca, --tls-cert, --tls-key and --worker-course belong to --on PLACE.")
        elsewhere = Elsewhere(place or "", Certificates(tls_ca, tls_cert, tls_key), worker_course or "")
        return function(elsewhere=elsewhere, **others)

    file = click.Path(path_type=Path)
    for option in (
        click.option("--worker-course", metavar="DIR", help="The course's folder on the workers (default: as here)."),
        click.option("--tls-key", type=file, metavar="FILE", help="The private key of --tls-cert."),
        click.option("--tls-cert", type=file, metavar="FILE", help="The certificate that shows who we are."),
        click.option("--tls-ca", type=file, metavar="FILE", help="Who signs the cluster's certificates."),
        click.option("--on", "place", metavar="PLACE", help=f"Grade on a Dask cluster: {_PLACES}."),
    ):
        collected = option(collected)
    return collected
