"""A small class, and a cluster of processes on this machine."""

import contextlib
import hashlib
import logging
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import dask
import pytest
from distributed import Client, LocalCluster

from tests.support.words_course import KEEPS_CASE, RIGHT, SECRET, write_course
from viva.config import Course, load_course
from viva.model import File, Score, Submission, Tier
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.remote_place import Certificates
from viva.plugins.cluster.cluster_pool import ClusterPool, Workers
from viva.plugins.cluster.schedulers import Connection
from viva.sandbox.host.levels.detect_levels import detect_tiers

HERE: Final = max(report.tier for report in detect_tiers() if report.available)
needs_t1: Final = pytest.mark.skipif(HERE < Tier.T1, reason="workers grade in T1 or better")
CALM: Final = {"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "silence_logs": logging.CRITICAL}
WRONG: Final = "def total(numbers):\n    return 0\n"
POINTS: Final = {RIGHT: 9, KEEPS_CASE: 3, WRONG: 0}
"""Of each source, out of 10."""


def course_in(root: Path) -> Course:
    return load_course(write_course(root))


def job(course: Course, name: str, source: str, **changed: Any) -> Job:
    """A submission that lies in memory alone."""
    data = source.encode()
    submission = Submission(name, (File("solution.py", data),), hashlib.sha256(data).hexdigest())
    return replace(Job(Path(name), name, course.assignment("words"), submission), **changed)


def some_class(course: Course, size: int) -> list[Job]:
    sources = [*POINTS]
    return [job(course, f"s{n:04}", f"# {n}\n{sources[n % 3]}") for n in range(size)]


def points_of(each: Job) -> int:
    assert each.submission is not None
    source = each.submission.files[0].data.decode().partition("\n")[2]
    return POINTS[source]


@contextlib.contextmanager
def cluster(workers: int = 2, **options: Any) -> Iterator[LocalCluster]:
    """Workers with nannies, as `dask worker` starts them: one that died comes back, whenever that was.

    A `LocalCluster` looks again 15 s after a worker died, and ends its nanny if another death is just being fixed.
    """
    never = dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"})
    with never, LocalCluster(n_workers=workers, **{"threads_per_worker": 1, **CALM, **options}) as made:
        yield made


@contextlib.contextmanager
def pool_on(made: LocalCluster, course: Course, **options: Any) -> Iterator[ClusterPool]:
    with Client(made, set_as_default=False) as client:
        connection = Connection(client, options.pop("worker_timeout_s", 30.0))
        workers = Workers(course=options.pop("course_there", ""))
        asked = options.pop("asked", GradeOptions())
        yield ClusterPool(connection, course, SECRET.encode(), asked, workers, **options)


def same(score: Score) -> Score:
    """A score without how long it took."""
    entries = tuple(replace(e, cases=tuple(replace(c, wall_s=0.0) for c in e.cases)) for e in score.entries)
    return replace(score, wall_s=0.0, entries=entries)


def certificates(folder: Path) -> Certificates:
    """Made for this test: one key that signs itself, as dask's own temporary ones."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=viva",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return Certificates(cert, cert, key)
