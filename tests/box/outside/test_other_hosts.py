"""The same promises on hosts that a root shell is not: an ordinary user's (T2) and a container's (T1).

Every test of this folder that takes `zygote` is run again there, in a subprocess, by hosts.py.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from viva.box.outside import Zygote
from viva.model import Tier
from viva.model.errors import BoxUnavailable

HERE = Path(__file__).parent
PROMISES = [
    "test_escapes.py",
    "test_bombs.py",
    "test_endings.py",
    "test_lifecycle.py",
    "test_libraries.py",
    "test_gpu_box.py",
]
HOSTS = [
    # kind, tier, what is run there, how many tests must pass at least: fewer would mean that they were not put to it
    ("unprivileged", "T2", PROMISES, 100),
    ("container", "T1", PROMISES, 100),
    ("masked", "T2", PROMISES[:2], 60),
]

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another host")


def run_as(kind: str, *command: str, **environment: str) -> str:
    """Run a command on another kind of host and return what it printed; fails when it fails."""
    done = subprocess.run(
        [sys.executable, str(HERE / "hosts.py"), kind, sys.executable, *command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=HERE.parents[2],
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@needs_root
@pytest.mark.parametrize(("kind", "tier", "names", "least"), HOSTS, ids=[host[0] for host in HOSTS])
def test_every_promise_holds_there_too(kind: str, tier: str, names: list[str], least: int) -> None:
    files = [str(HERE / name) for name in names]
    printed = run_as(kind, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, VIVA_TEST_TIER=tier)
    passed = int(printed.rsplit(" passed", 1)[0].split()[-1])
    assert passed >= least and "failed" not in printed


DETECT = """
from viva.box.outside import detect_tiers
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


@needs_root
def test_a_closed_interpreter_is_said_in_one_sentence(tmp_path: Path) -> None:
    """T1 becomes another user; one who may not enter the interpreter's home fails later, at some lazy import."""
    home = tmp_path / "home"
    venv.create(home / "environment", symlinks=True)
    home.chmod(0o700)
    with pytest.raises(BoxUnavailable, match=r"/.* cannot be read by the user of the box"):
        Zygote.start(Tier.T1, preload=[], python=str(home / "environment" / "bin" / "python"))
