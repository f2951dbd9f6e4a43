"""Kernels in the boxes of an ordinary user (T2) and of a container (T1): the same tests, by other_hosts.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly
pytest.importorskip("ipykernel", reason="the stock kernel")

HERE = Path(__file__).parent
HOSTS = HERE.parents[1] / "support" / "other_hosts.py"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another host")
@pytest.mark.parametrize(("kind", "tier"), [("unprivileged", "T2"), ("container", "T1")])
def test_kernels_keep_their_promises_there_too(kind: str, tier: str) -> None:
    tests = str(HERE / "test_kernels.py")
    done = subprocess.run(
        [sys.executable, str(HOSTS), kind, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests],
        capture_output=True,
        text=True,
        env={**os.environ, "VIVA_TEST_TIER": tier},
        cwd=HERE.parents[2],
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = int(done.stdout.rsplit(" passed", 1)[0].split()[-1])
    assert passed >= 15 and "skipped" not in done.stdout
