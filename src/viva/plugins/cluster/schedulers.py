"""Where a cluster is: its scheduler's address, SLURM, or a Dask Gateway.

Connections that are neither encrypted nor local to this machine are refused.
"""

import contextlib
import ipaddress
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

from viva.model.errors import UsageError
from viva.model.extras import missing_library
from viva.pipeline.remote_place import Certificates

if TYPE_CHECKING:  # importing it takes a tenth of a command's time
    from distributed import Client, Security

PLACES: Final = "tls://HOST:PORT, tcp://127.0.0.1:PORT, slurm, or gateway:NAME"
ROLES: Final = ("client", "scheduler", "worker")
CONNECT_S: Final = 15.0
WORKER_TIMEOUT_S: Final = 60.0


def security_of(certificates: Certificates) -> "Security | None":
    """Return the distributed library's form of certificates; None for its own configuration.

    Raises:
        UsageError: one is missing.
    """
    given = {"--tls-ca": certificates.ca, "--tls-cert": certificates.cert, "--tls-key": certificates.key}
    if not any(given.values()):
        return None
    if lacking := [option for option, path in given.items() if path is None]:
        raise UsageError(f"Give {' and '.join(lacking)}, too: the three belong together.")
    for option, path in given.items():
        if path is not None and not (path.is_file() and os.access(path, os.R_OK)):
            raise UsageError(f"{option} {path}: there is no file that can be read; give a file in PEM format.")
    from distributed import Security

    ca, cert, key = (str(path.absolute()) for path in given.values() if path is not None)
    parts = {f"tls_{role}_{kind}": value for role in ROLES for kind, value in (("cert", cert), ("key", key))}
    return Security(require_encryption=True, tls_ca_file=ca, **parts)


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection to a cluster."""

    client: "Client"
    worker_timeout_s: float | None
    """How long to wait for a worker if there is none; None if a queue may take hours."""

    def workers(self) -> Mapping[str, Mapping[str, Any]]:
        """Return what the scheduler says about each worker.

        Raises:
            UsageError: one can only be reached unencrypted over a network.
            OSError: the scheduler cannot be asked.
        """
        told: Mapping[str, Any] = self.client.scheduler_info(n_workers=-1)
        for what, address in [("scheduler", told["address"]), *(("worker", name) for name in told["workers"])]:
            if not _is_private(urlsplit(address)):
                raise UsageError(
                    f"The {what} of the cluster listens at {address}, unencrypted and not for this machine alone; "
                    "start it with --protocol tls, or with --host 127.0.0.1."
                )
        workers: Mapping[str, Mapping[str, Any]] = told["workers"]
        return workers


@contextlib.contextmanager
def connect(place: str, certificates: Certificates, *, workers: int = 0, secret: str = "") -> Iterator[Connection]:
    """Connect to a cluster; end it afterwards if it was made for this run.

    Args:
        place: one of `PLACES`.
        certificates: for TLS.
        workers: how many workers to ask SLURM for; 0 for one.
        secret: where the course's secret comes from: if from a variable, SLURM does not get it, because SLURM would
            write down the environment of a job.

    Raises:
        UsageError: there is no such place, it may not be used, cannot be reached, or needs what is not installed.
    """
    check_place(place)
    security = security_of(certificates)
    with contextlib.ExitStack() as stack:
        try:
            if place == "slurm":
                connection = Connection(_slurm(stack, security, workers or 1, secret), None)
            elif place.startswith("gateway:"):
                connection = Connection(_gateway(stack, place.partition(":")[2]), None)
            else:
                connection = Connection(_scheduler(stack, place, security), WORKER_TIMEOUT_S)
        except ImportError as error:
            if error.name == "dask_gateway":
                raise UsageError(f"--on {place} needs the module `dask_gateway`: pip install dask-gateway") from None
            raise missing_library(f"--on {place} needs", error.name, "cluster") from None
        yield connection


def check_place(place: str) -> None:
    """Check that a cluster may be there.

    Raises:
        UsageError: it is not a place of a cluster, or work would travel unencrypted over a network.
    """
    if place == "slurm" or (place.startswith("gateway:") and len(place) > len("gateway:")):
        return
    try:
        parts = urlsplit(place)
        whole = parts.scheme in ("tls", "tcp") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        whole = False
    if not whole or parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(f"--on {place}: that is not a cluster; give {PLACES}.")
    if not _is_private(parts):
        raise UsageError(
            f"--on {place}: submissions and scores would travel in the clear; use tls://{parts.netloc} (`dask "
            "scheduler --protocol tls`), or a scheduler on this machine at tcp://127.0.0.1."
        )


def _is_private(parts: SplitResult) -> bool:
    """Return whether the connection is encrypted or stays within this machine."""
    if parts.scheme in ("tls", "inproc", "gateway"):
        return True
    host = parts.hostname or ""
    with contextlib.suppress(ValueError):
        return parts.scheme == "tcp" and ipaddress.ip_address(host).is_loopback
    return parts.scheme == "tcp" and host == "localhost"


def _scheduler(stack: contextlib.ExitStack, place: str, security: "Security | None") -> "Client":
    """Return a client of a scheduler that is already running."""
    from distributed import Client, Security

    told = (security or Security()).get_tls_config_for_role("client")
    if place.startswith("tls:") and not all(told[part] for part in ("ca_file", "cert", "key")):
        raise UsageError(
            "tls:// needs certificates: say --tls-ca, --tls-cert and --tls-key, or set distributed.comm.tls in dask's "
            "configuration."
        )
    try:
        return stack.enter_context(Client(place, security=security, timeout=CONNECT_S, set_as_default=False))
    except OSError as error:
        raise UsageError(f"--on {place}: no scheduler answers there: {error}") from error


def _slurm(stack: contextlib.ExitStack, security: "Security | None", workers: int, secret: str) -> "Client":
    """Return a client of a scheduler in this process, with workers that SLURM starts as dask's configuration says."""
    import dask
    from dask_jobqueue import SLURMCluster
    from distributed import Client

    if secret.startswith("env:"):
        os.environ.pop(secret.partition(":")[2], None)  # this process has read it, and sbatch passes the environment on
    # The scheduler's status page has no login.
    options = {"dashboard_address": "127.0.0.1:0"} | dask.config.get("jobqueue.slurm.scheduler-options", {})
    try:
        cluster = stack.enter_context(SLURMCluster(security=security or _own_security(), scheduler_options=options))
        cluster.scale(workers)
    except (ValueError, RuntimeError, OSError) as error:
        raise UsageError(
            f"--on slurm: no job can be made; see jobqueue.slurm in dask's configuration: {error}"
        ) from error
    return stack.enter_context(Client(cluster, set_as_default=False))


def _own_security() -> "Security":
    """Return dask's configured certificates, or else new ones for this run alone."""
    from distributed import Security

    configured = Security(require_encryption=True)
    parts = [configured.get_tls_config_for_role(role)[part] for role in ROLES for part in ("ca_file", "cert", "key")]
    if all(parts):
        return configured
    try:
        return Security.temporary()
    except ImportError:
        raise UsageError(
            "--on slurm encrypts what it sends: say --tls-ca, --tls-cert and --tls-key with files that the nodes can "
            "read, too, or pip install cryptography, which makes certificates for each run."
        ) from None


def _gateway(stack: contextlib.ExitStack, name: str) -> "Client":
    """Return a client of a cluster that Dask Gateway made; dask's configuration has the gateway's address and login."""
    from dask_gateway import Gateway

    gateway = stack.enter_context(Gateway())
    cluster = stack.enter_context(gateway.connect(name))  # leaving it does not end it
    return stack.enter_context(cluster.get_client(set_as_default=False))
