"""Tier T1 where it is meant to be used: in a real container, as an autograder's platform starts one.

other_hosts.py plays a container by dropping capabilities; here `runc` makes one, with all that comes with it: other
namespaces, a new `/proc`, pid 1, a system call filter below ours. The file container.py says what it is made of.
No other examiner should use T1 on this machine at the same time: it cannot know which users a container's boxes have.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support import container
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.sandbox.tier import Tier

HERE = Path(__file__).parent
ACCEPTED = "fixtures/translation_and_masks/submissions/accepted/numpy_vectorised"
COMPUTED_POINTS = "85"
PLAIN_SECRET = "the secret of a course that is only a test"

pytestmark = pytest.mark.nightly


@pytest.fixture(autouse=True)
def _possible() -> None:
    """A machine that has promised T1 fails without containers; any other skips."""
    if lacking := container.missing():
        if "T1" in os.environ.get("VIVA_REQUIRED_TIERS", "").split():
            pytest.fail(lacking)
        pytest.skip(lacking)


def contained(*command: str, timeout_s: float = 60.0, landlock: bool = True, **environment: str) -> str:
    """Run a command in a container and return what it printed; fails when it fails."""
    settled = {"PYTHONDONTWRITEBYTECODE": "1", "VIVA_REQUIRED_TIERS": "T1"}
    done = container.run(command, environment={**settled, **environment}, timeout_s=timeout_s, landlock=landlock)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def passed_in_container(
    arguments: Sequence[str], *, landlock: bool = True, timeout_s: float = 400.0, **environment: str
) -> int:
    """Run pytest in a container; how many tests passed there. Fails if one failed or none of T1 could run."""
    pytest_quietly = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    printed = contained(*pytest_quietly, *arguments, timeout_s=timeout_s, landlock=landlock, **environment)
    summary = re.search(r"(\d+) passed", printed)
    assert summary, printed
    skipped = [line for line in printed.splitlines() if line.startswith("SKIPPED")]
    for line in skipped:
        assert "got empty parameter set" in line or (not landlock and "says under `missing`" in line), line
    return int(summary[1])


DETECT = """
import json, os
from pathlib import Path
from viva.sandbox.host.levels.detect_levels import detect_tiers
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps({
    "pid": os.getpid(), "capabilities": int(status["CapEff"], 16), "filter": int(status["Seccomp"]),
    "tiers": {str(report.tier): report.available for report in detect_tiers()},
    "sentences": {str(report.tier): report.sentence for report in detect_tiers()},
}))
"""


def test_container_offers_t1() -> None:
    found = json.loads(contained(sys.executable, "-c", DETECT))
    assert found["pid"] == 1 and found["filter"] == 2
    assert found["capabilities"] == 0xA80425FB, "what Docker leaves root by default"
    assert found["tiers"] == {"T3": False, "T2": False, "T1": True, "T0": True}
    assert "namespaces" in found["sentences"]["T3"]
    here = next(report for report in detect_tiers() if report.tier is Tier.T1)
    assert ("Landlock" in found["sentences"]["T1"]) == ("Landlock" in here.sentence), "a container lets it through"


def test_promises_in_container() -> None:
    other_hosts = HERE / "test_other_hosts.py"
    arguments = [str(HERE), f"--ignore={other_hosts}", "-m", "not nightly and not training"]
    assert passed_in_container(arguments, VIVA_TEST_TIER="T1") >= 300


def test_t1_without_landlock() -> None:
    """As on a kernel before 5.13, or one that was booted without it: the container's filter answers ENOSYS."""
    found = json.loads(contained(sys.executable, "-c", DETECT, landlock=False))
    assert found["tiers"] == {"T3": False, "T2": False, "T1": True, "T0": True}
    assert "Landlock" in found["sentences"]["T1"]


def test_promises_in_container_without_landlock() -> None:
    assert passed_in_container([str(HERE / "conformance")], landlock=False, VIVA_TEST_TIER="T1") >= 160


def test_full_marks_in_container() -> None:
    script = '"$0" grade -o /tmp/results.json "$1" >&2 && cat /tmp/results.json'
    viva = str(Path(sys.prefix, "bin", "viva"))
    result = json.loads(contained("/bin/sh", "-c", script, viva, ACCEPTED, VIVA_SECRET=PLAIN_SECRET))
    data = result["extra_data"]
    assert data["isolation"]["tier"] == "T1"
    assert data["earned"] == COMPUTED_POINTS and result["score"] == float(COMPUTED_POINTS)
    assert {entry.get("status") for entry in result["tests"]} <= {"passed", None}


@pytest.mark.parametrize("landlock", [True, False], ids=["with Landlock", "without"])
def test_hostile_programs_in_container(landlock: bool) -> None:
    """Without Landlock one of them reaches an abstract socket (docs/sandbox.md): that of the canary."""
    hostile = HERE.parents[1] / "hostile"
    chosen = "T1" if landlock else "T1 and not local_sockets"
    assert passed_in_container([str(hostile), "-k", chosen], landlock=landlock, timeout_s=900.0) >= 130


def test_container_ends_in_time() -> None:
    """Otherwise what hangs in one test would disturb the next."""
    mark = f"987{os.getpid()}"
    with pytest.raises(subprocess.TimeoutExpired):
        container.run(["/bin/sleep", mark], environment={}, timeout_s=2.0)
    assert not any(mark.encode() in command for command in running())


def running() -> Iterator[bytes]:
    """The command line of every process of this machine."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            yield file.read_bytes()
