"""Where a cluster is: its scheduler's address, SLURM, or a Dask Gateway; what is neither encrypted nor of this machine
is refused.
"""

import contextlib
import ipaddress
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, urlsplit

from viva.model.errors import UsageError

if TYPE_CHECKING:  # a tenth of the time that a command takes
    from distributed import Client, Security

PLACES: Final = "tls://HOST:PORT, tcp://127.0.0.1:PORT, slurm, or gateway:NAME"
ROLES: Final = ("client", "scheduler", "worker")
CONNECT_S: Final = 15.0
PATIENCE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files with which this side shows who it is and knows the other; None where dask's own configuration says it."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def security(self) -> "Security | None":
        """What distributed makes of them; None for its own configuration.

        Raises:
            UsageError: one is missing.
        """
        given = {"--tls-ca": self.ca, "--tls-cert": self.cert, "--tls-key": self.key}
        if not any(given.values()):
            return None
        if lacking := [option for option, path in given.items() if path is None]:
            raise UsageError(f"{' and '.join(lacking)} must be said, too: the three belong together.")
        for option, path in given.items():
            if path is not None and not (path.is_file() and os.access(path, os.R_OK)):
                raise UsageError(f"{option} {path}: there is no file that can be read; give a file in PEM format.")
        from distributed import Security

        ca, cert, key = (str(path.absolute()) for path in given.values() if path is not None)
        parts = {f"tls_{role}_{kind}": value for role in ROLES for kind, value in (("cert", cert), ("key", key))}
        return Security(require_encryption=True, tls_ca_file=ca, **parts)


@dataclass(frozen=True, slots=True)
class Connection:
    """A cluster that one can send work to."""

    client: "Client"
    patience_s: float | None
    """How long to wait for a worker while there is none; None where a queue may take hours."""

    def workers(self) -> Mapping[str, Mapping[str, Any]]:
        """What the scheduler says of each worker.

        Raises:
            UsageError: one can only be reached in the clear, over a network.
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
    """Connect to a cluster; one that was made for this is ended afterwards.

    Args:
        place: one of `PLACES`.
        certificates: for TLS.
        workers: how many workers to ask SLURM for; 0 for one.
        secret: where the course's secret comes from: if from a variable, it is kept from SLURM, which would write the
            environment of a job down.

    Raises:
        UsageError: there is no such place, it may not be used, cannot be reached, or needs what is not installed.
    """
    check_place(place)
    security = certificates.security()
    with contextlib.ExitStack() as stack:
        try:
            if place == "slurm":
                connection = Connection(_slurm(stack, security, workers or 1, secret), None)
            elif place.startswith("gateway:"):
                connection = Connection(_gateway(stack, place.partition(":")[2]), None)
            else:
                connection = Connection(_scheduler(stack, place, security), PATIENCE_S)
        except ImportError as error:
            extra = "dask-gateway" if error.name == "dask_gateway" else "'viva[scale]'"
            raise UsageError(f"--on {place} needs the module `{error.name}`: pip install {extra}.") from None
        yield connection


def check_place(place: str) -> None:
    """Whether a cluster may be there.

    Raises:
        UsageError: it is none, or work would travel over a network in the clear.
    """
    if place == "slurm" or (place.startswith("gateway:") and len(place) > len("gateway:")):
        return
    try:
        parts = urlsplit(place)
        whole = parts.scheme in ("tls", "tcp") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        whole = False
    if not whole or parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(f"--on {place}: that is no cluster; give {PLACES}.")
    if not _is_private(parts):
        raise UsageError(
            f"--on {place}: submissions and scores would travel in the clear; use tls://{parts.netloc} (`dask "
            "scheduler --protocol tls`), or a scheduler on this machine at tcp://127.0.0.1."
        )


def _is_private(parts: SplitResult) -> bool:
    """Encrypted, or within this machine."""
    if parts.scheme in ("tls", "inproc", "gateway"):
        return True
    host = parts.hostname or ""
    with contextlib.suppress(ValueError):
        return parts.scheme == "tcp" and ipaddress.ip_address(host).is_loopback
    return parts.scheme == "tcp" and host == "localhost"


def _scheduler(stack: contextlib.ExitStack, place: str, security: "Security | None") -> "Client":
    """A scheduler that runs already."""
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
    """A scheduler in this process, and workers that SLURM starts; what a job is comes from dask's configuration."""
    import dask
    from dask_jobqueue import SLURMCluster
    from distributed import Client

    if secret.startswith("env:"):
        os.environ.pop(secret.partition(":")[2], None)  # this process has read it; sbatch hands the environment on
    # Nobody logs in to the page that shows what a scheduler does.
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
    """What dask's configuration says, else certificates for this run alone."""
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
    """A cluster that Dask Gateway has made; the gateway's address and login come from dask's configuration."""
    from dask_gateway import Gateway

    gateway = stack.enter_context(Gateway())
    cluster = stack.enter_context(gateway.connect(name))  # leaving it does not end it
    return stack.enter_context(cluster.get_client(set_as_default=False))
