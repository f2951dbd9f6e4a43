"""Which clusters may be used, and what is said of those that may not."""

import builtins
import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from viva.model.errors import UsageError
from viva.pipeline.remote_place import Certificates
from viva.plugins.cluster.schedulers import Connection, check_place, connect

NONE = Certificates()


@pytest.mark.parametrize(
    "place",
    [
        "tls://scheduler.example.org:8786",
        "tls://[2001:db8::1]:8786",
        "tcp://127.0.0.1:8786",
        "tcp://localhost:8786",
        "tcp://[::1]:8786",
        "slurm",
        "gateway:cluster-1",
    ],
)
def test_encrypted_or_on_this_machine(place: str) -> None:
    check_place(place)


@pytest.mark.parametrize(
    "place",
    [
        "tcp://10.0.0.3:8786",
        "tcp://0.0.0.0:8786",
        "tcp://[::]:8786",
        "tcp://scheduler:8786",
        "tcp://localhost.example.org:8786",
        "tcp://127.0.0.1.example.org:8786",
        "tcp://2130706433:8786",
        "tcp://[::ffff:10.0.0.3]:8786",
    ],
)
def test_nothing_travels_in_the_clear(place: str) -> None:
    with pytest.raises(UsageError, match="use tls://"):
        check_place(place)


@pytest.mark.parametrize(
    "place",
    [
        "", "scheduler:8786", "http://127.0.0.1:8786", "tcp://127.0.0.1", "tcp://127.0.0.1:port",
        "tls://", "ucx://127.0.0.1:1",
        "tls://user@host:1", "tls://host:1/path", "tls://[::1",
    ],
)  # fmt: skip
def test_what_is_no_cluster(place: str) -> None:
    with pytest.raises(UsageError, match="give tls://HOST:PORT"):
        check_place(place)


class _Client:
    """A client that knows what its scheduler would say."""

    def __init__(self, scheduler: str, *workers: str) -> None:
        self._told = {"address": scheduler, "workers": {name: {"nthreads": 1} for name in workers}}

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1  # all of them
        return self._told


@pytest.mark.parametrize(
    ("addresses", "who"),
    [
        (["tcp://10.0.0.2:1", "tcp://127.0.0.1:2"], "scheduler .* tcp://10.0.0.2:1,"),
        (["tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "tcp://10.0.0.3:3"], "worker .* tcp://10.0.0.3:3,"),
        (["tls://10.0.0.2:1", "tcp://10.0.0.3:3"], "worker .* tcp://10.0.0.3:3,"),
    ],
)
def test_open_cluster_behind_its_address(addresses: list[str], who: str) -> None:
    """A scheduler that listens everywhere is also reached at 127.0.0.1; its workers may be anywhere."""
    client: Any = _Client(*addresses)
    with pytest.raises(UsageError, match=f"The {who} unencrypted"):
        Connection(client, None).workers()


def test_encrypted_workers(tmp_path: Path) -> None:
    client: Any = _Client("tls://10.0.0.2:1", "tls://10.0.0.3:2", "tcp://127.0.0.1:3")
    assert len(Connection(client, None).workers()) == 2


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ({}, "--tls-ca"),
        ({"ca": "ca.pem"}, "Give --tls-cert and --tls-key, too"),
        ({"ca": ".", "cert": "cert.pem", "key": "key.pem"}, "--tls-ca .: there is no file"),
    ],
)
def test_missing_certificates(
    paths: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ca.pem", "cert.pem", "key.pem"):
        Path(name).touch()
    with (
        pytest.raises(UsageError, match=said),
        connect("tls://h:1", Certificates(**{k: Path(v) for k, v in paths.items()})),
    ):
        pass


@pytest.mark.parametrize(
    ("module", "place", "said"),
    [
        ("distributed", "tcp://127.0.0.1:1", r"pip install 'viva-grader\[cluster\]'"),
        ("dask_gateway", "gateway:a", "pip install dask-gateway"),
    ],
)
def test_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, module: str, place: str, said: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=said), connect(place, NONE):
        pass


def test_slurm_without_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret is read before; a job's environment is written down by SLURM, and holds it no more."""
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setenv("COURSE_SECRET", "x" * 20)
    with (
        pytest.raises(UsageError, match="pip install cryptography"),
        connect("slurm", NONE, secret="env:COURSE_SECRET"),
    ):
        pass
    assert "COURSE_SECRET" not in os.environ


def test_gateway_is_asked_for_its_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Dask Gateway's client; the cluster is left as it was."""
    said: list[Any] = []

    class Stand:
        def __init__(self, name: str = "gateway") -> None:
            self.name = name

        def __enter__(self) -> "Stand":
            return self

        def __exit__(self, *_: object) -> None:
            said.append(f"{self.name} left")

        def connect(self, name: str) -> "Stand":
            said.append(name)
            return Stand("cluster")

        def get_client(self, *, set_as_default: bool) -> "Stand":
            assert not set_as_default
            return Stand("client")

    module: Any = types.ModuleType("dask_gateway")
    module.Gateway = Stand
    monkeypatch.setitem(sys.modules, "dask_gateway", module)
    with connect("gateway:a.b", NONE) as connection:
        client: Any = connection.client
        assert client.name == "client" and connection.worker_timeout_s is None
    assert said == ["a.b", "client left", "cluster left", "gateway left"]
