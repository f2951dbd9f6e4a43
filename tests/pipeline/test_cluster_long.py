"""Whole commands on clusters: a thousand submissions while workers die, TLS, SLURM, and runs that are killed."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.cluster_samples import certificates, cluster, course_in, needs_t1, points_of, pool_on, some_class
from tests.support.run_command import without_warning
from tests.support.wait_until import wait_until
from tests.support.words_course import RIGHT, SECRET, SLOW, hand_in
from viva.config import Course
from viva.formats.results_json import load_results
from viva.model.grade_request import Graded
from viva.pipeline.remote_place import Certificates
from viva.plugins.cluster.schedulers import security_of
from viva.plugins.records.store import Records

pytestmark = [needs_t1, pytest.mark.nightly]
SIZE: Final = 1000


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    monkeypatch.setenv("VIVA_COURSE", str(tmp_path / "course"))
    monkeypatch.chdir(tmp_path)
    return course_in(tmp_path / "course")


def test_thousand_submissions_while_workers_are_killed(course: Course) -> None:
    """Each comes back once, with the points that it must get."""
    jobs = some_class(course, SIZE)
    draw = random.Random(8)
    points: dict[str, int] = {}
    killed: list[int] = []
    with cluster() as made, pool_on(made, course, worker_timeout_s=90.0) as batch:
        for each, graded in batch.run(jobs):
            assert isinstance(graded, Graded), graded
            assert each.name not in points and graded.finished
            points[each.name] = int(graded.score.earned)
            if len(points) % 90 == 0:
                at_work = [
                    nanny.pid for nanny in made.workers.values() if nanny.worker_address in made.scheduler.workers
                ]
                if at_work and (pid := draw.choice(at_work)):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
    assert points == {each.name: points_of(each) for each in jobs}
    assert len(killed) > 5


@pytest.fixture
def tls(tmp_path: Path) -> Certificates:
    return certificates(tmp_path)


@pytest.fixture
def encrypted(tls: Certificates) -> Iterator[str]:
    """A scheduler and two workers, reached by TLS alone."""
    with cluster(security=security_of(tls), protocol="tls") as made:
        yield made.scheduler_address


def command(place: str, *arguments: Any, tls: Certificates | None = None) -> list[str]:
    options = ["--tls-ca", tls.ca, "--tls-cert", tls.cert, "--tls-key", tls.key] if tls is not None else []
    line = [sys.executable, "-m", "viva", "grade", "class", "--on", place, *options, *arguments]
    return [str(word) for word in line]


def hand_in_a_class(size: int, source: str = RIGHT) -> None:
    for n in range(size):
        hand_in(Path("class") / f"s{n:02}", f"# {n}\n{source}")


def test_tls_from_command_to_score(encrypted: str, tls: Certificates) -> None:
    hand_in_a_class(4)
    assert encrypted.startswith("tls://")
    ran = subprocess.run(command(encrypted, "-o", "out", tls=tls), capture_output=True, text=True, timeout=120)
    assert (ran.returncode, without_warning(ran.stderr)) == (0, "")
    assert [load_results(path).score for path in Path("out").rglob("results.json")] == [9] * 4
    strange = subprocess.run(
        command(encrypted, "-o", "other", tls=_others()), capture_output=True, text=True, timeout=120
    )
    assert strange.returncode == 1 and "no scheduler answers there" in strange.stderr
    assert "Traceback" not in strange.stderr and not Path("other").exists()


def _others() -> Certificates:
    Path("others").mkdir()
    return certificates(Path("others").absolute())


def kept(course: Course) -> list[str]:
    """The name of each score that was kept."""
    if not (course.root / "records.db").exists():
        return []
    with Records.open("sqlite:///records.db", course.root) as records:
        return [name for name in (f"s{n:02}" for n in range(16)) for _ in records.history(name)]


def test_killed_run_goes_on(encrypted: str, tls: Certificates, course: Course) -> None:
    with (course.root / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    hand_in_a_class(16, SLOW)
    line = command(encrypted, "-o", "out", tls=tls)
    for enough in (2, 7):
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: process.poll() is not None or len(kept(course)) >= enough)  # noqa: B023  # it waits here
        assert process.poll() is None
        process.kill()
        process.wait()
    before = kept(course)
    assert len(before) < 16
    last = subprocess.run(line, capture_output=True, text=True, timeout=180)
    assert last.returncode == 0, last.stdout + last.stderr
    assert f"{len(before)} submissions were graded before" in last.stdout
    assert sorted(kept(course)) == [f"s{n:02}" for n in range(16)]
    assert [load_results(path).score for path in Path("out").rglob("results.json")] == [9] * 16


SBATCH: Final = """\
#!/bin/sh
# Starts the job at once, on this machine, as SLURM would with --export=ALL.
env > "{folder}/environment"
cp "$1" "{folder}/job.sh"
setsid bash "{folder}/job.sh" > "{folder}/job.log" 2>&1 &
echo $! > "{folder}/jobs"
echo "Submitted batch job $!"
"""
SCANCEL: Final = "#!/bin/sh\nkill -- -$1 2>/dev/null || true\n"


def test_slurm_starts_the_workers(tls: Certificates, course: Course, tmp_path: Path) -> None:
    """A stand-in for SLURM's commands runs the job script; the course's secret reaches it by a file alone."""
    (tmp_path / "bin").mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / "bin" / name).write_text(text.format(folder=tmp_path) if name == "sbatch" else text, "utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "secret").write_text(SECRET, "utf-8")
    prologue = [f'export VIVA_SECRET="$(cat {tmp_path}/secret)"']
    slurm = {"cores": 1, "memory": "1GB", "processes": 1, "interface": "lo", "job-script-prologue": prologue}
    (tmp_path / "dask").mkdir()
    (tmp_path / "dask" / "jobqueue.yaml").write_text(yaml.safe_dump({"jobqueue": {"slurm": slurm}}), "utf-8")
    hand_in_a_class(4)
    around = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "DASK_CONFIG": str(tmp_path / "dask")}
    line = command("slurm", "-o", "out", "--workers", 1, tls=tls)
    try:
        ran = subprocess.run(line, capture_output=True, text=True, timeout=150, env=around)
        said = ran.stdout + ran.stderr + (tmp_path / "job.log").read_text("utf-8", "replace")
        assert ran.returncode == 0, said
        assert [load_results(path).score for path in Path("out").rglob("results.json")] == [9] * 4
        environment = (tmp_path / "environment").read_text("utf-8")
        assert "PATH=" in environment and SECRET not in environment + (tmp_path / "job.sh").read_text("utf-8")
        assert "tls://" in (tmp_path / "job.sh").read_text("utf-8")
    finally:
        if (tmp_path / "jobs").exists():
            subprocess.run([tmp_path / "bin" / "scancel", (tmp_path / "jobs").read_text().strip()], check=False)
