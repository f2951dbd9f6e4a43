"""Every promise of the sandbox is tested in every tier that this host offers; other_hosts.py makes the others."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.boxed_program import Program
from viva.sandbox.host.fork_server import ForkServer
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

WAITING = ("test_endings", "test_lifecycle")
"""Files of tests that wait for seconds."""
SMALL = Limits(memory_mib=256, disk_mib=8, output_kib=16, processes=24, submission_s=60.0)


def offered() -> list[Tier]:
    """Tiers to test: those of this host, or the one that the caller of this run wants."""
    wanted = os.environ.get("VIVA_TEST_TIER")
    return [Tier[wanted]] if wanted else [report.tier for report in detect_tiers() if report.available]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take `fork_server` (or anything made from it) run once in each tier.

    Those that wait for seconds run in the strongest one; `make long` runs them in the others.
    """
    if "fork_server" in metafunc.fixturenames:
        needed = metafunc.definition.get_closest_marker("parametrize")
        assert needed is None or "fork_server" not in needed.args[0]
        least = getattr(metafunc.function, "least_tier", Tier.T0)
        tiers = [tier for tier in offered() if tier >= least]
        waits = metafunc.module.__name__.rpartition(".")[2] in WAITING
        later = [pytest.mark.long] if waits else []
        given = [pytest.param(tier, marks=later if tier < max(tiers) else []) for tier in tiers]
        metafunc.parametrize("fork_server", given, indirect=True, ids=str, scope="session")


@pytest.fixture(scope="session")
def fork_server(request: pytest.FixtureRequest) -> Iterator[ForkServer]:
    """One fork server for each tier."""
    with ForkServer.start(request.param, preload=["numpy"]) as started:
        yield started


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder that every user may enter, as the users of boxes must where there are no mounts."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def limits() -> Limits:
    """Small enough that a test reaches them in a moment."""
    return SMALL


@pytest.fixture
def program(fork_server: ForkServer, limits: Limits) -> Iterator[Program]:
    """A box to load student code into; afterwards the next box of the same fork server must work."""
    with fork_server.spawn(limits) as box:
        yield Program(box, fork_server.tier)
    with fork_server.spawn(limits) as following:
        after = Program(following, fork_server.tier)
        after.load("def hello(): return 'still here'")
        assert after.call("hello") == "still here"
