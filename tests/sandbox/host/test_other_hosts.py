"""The same promises on hosts that a root shell is not: an ordinary user's (T2) and a container's (T1).

The tests of conformance/ and those of kernels are run again there, in a subprocess, by other_hosts.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROMISES = HERE / "conformance"
ESCAPES = [PROMISES / f"test_{name}.py" for name in ("escapes", "bombs", "environment", "neighbours")]
KERNELS = HERE.parent / "notebooks" / "test_kernels.py"
HOSTS = [
    # kind, tier, what is run there, how many tests must pass at least: fewer would mean that they were not put to it
    ("unprivileged", "T2", [PROMISES], 160),
    ("container", "T1", [PROMISES], 160),
    ("masked", "T2", ESCAPES, 70),
    ("unprivileged", "T2", [KERNELS], 15),
    ("container", "T1", [KERNELS], 15),
]

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another host")


def run_as(kind: str, *command: str, **environment: str) -> str:
    """Run a command on another kind of host and return what it printed; fails when it fails."""
    done = subprocess.run(
        [sys.executable, str(HERE.parents[1] / "support" / "other_hosts.py"), kind, sys.executable, *command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=HERE.parents[2],
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@needs_root
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "tier", "paths", "least"), HOSTS, ids=[f"{host[0]}-{host[2][0].stem}" for host in HOSTS]
)
def test_every_promise_holds_there_too(kind: str, tier: str, paths: list[Path], least: int) -> None:
    printed = run_as(kind, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, paths), VIVA_TEST_TIER=tier)
    passed = int(printed.rsplit(" passed", 1)[0].split()[-1])
    assert passed >= least and "failed" not in printed


DETECT = """
from viva.sandbox.host.levels.detect_levels import detect_tiers
for report in detect_tiers():
    print(report.tier, report.available, report.sentence, "|", "; ".join(report.advice))
"""


@needs_root
@pytest.mark.parametrize(("kind", "offered"), [("unprivileged", {"T2", "T0"}), ("container", {"T1", "T0"})])
def test_tiers_are_found_by_doing(kind: str, offered: set[str]) -> None:
    lines = run_as(kind, "-c", DETECT).splitlines()
    assert [line.split()[0] for line in lines] == ["T3", "T2", "T1", "T0"]
    assert {line.split()[0] for line in lines if line.split()[1] == "True"} == offered
    for line in lines:
        if line.split()[1] == "False":
            assert line.rpartition("|")[2].strip(), "a tier that is not to be had comes with advice"
