"""What a worker refuses to do, and which examiners it keeps."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster_samples import course_in, job, needs_t1
from tests.support.wait_until import wait_until
from tests.support.words_course import RIGHT, SECRET
from viva.config import Course
from viva.model import Tier
from viva.model.errors import GraderError, UsageError
from viva.model.grade_request import GradeRequest
from viva.model.seeds import Seeds
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.plugins.cluster import cluster_worker
from viva.plugins.cluster.cluster_messages import Task, reply_from_bytes
from viva.plugins.records.conditions import hash_tests
from viva.sandbox.host.levels.detect_levels import TierReport


class _Loop:
    def add_callback(self, callback: Any) -> None:
        """There is no loop to tidy up from time to time."""


class _Worker:
    """The part of dask's worker that ours looks at."""

    address = "tcp://127.0.0.1:7"
    loop = _Loop()

    def __init__(self) -> None:
        self.plugins: dict[str, cluster_worker.Examiners] = {}
        self.told: list[bytes] = []

    def get_current_task(self) -> str:
        """The task's key."""
        return "a key"

    def log_event(self, topic: str, message: bytes) -> None:
        """Remember what clients are told."""
        assert topic == cluster_worker.TOPIC
        self.told.append(message)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return course_in(tmp_path / "course")


@pytest.fixture
def examiners(monkeypatch: pytest.MonkeyPatch) -> Iterator[cluster_worker.Examiners]:
    monkeypatch.setenv("VIVA_SECRET", SECRET)
    here: Any = _Worker()
    monkeypatch.setattr(cluster_worker, "get_worker", lambda: here)
    here.plugins[cluster_worker.NAME] = cluster_worker.Examiners()
    here.plugins[cluster_worker.NAME].setup(here)
    yield here.plugins[cluster_worker.NAME]
    here.plugins[cluster_worker.NAME].teardown(here)


def task(of: Course, **changed: Any) -> Task:
    each = job(of, "ada", RIGHT)
    assert each.submission is not None
    seed_id = Seeds(SECRET.encode(), "words", each.assignment.version).id
    usual = Task(
        GradeRequest(each.submission), str(of.root), "words", hash_tests(each.assignment, of.root), seed_id,
        Tier.T1, None, gpu=False, notebooks=False, waiting=("words",),
    )  # fmt: skip
    return replace(usual, **changed)


def reply(sent: Task) -> Any:
    return reply_from_bytes(cluster_worker.grade(sent.to_bytes())).graded


def no_tiers_but(*there: Tier) -> list[TierReport]:
    return [TierReport(tier, tier in there, missing=("uid: not root",)) for tier in sorted(Tier, reverse=True)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"made_with": "other tests"}, "words has other tests, another key or other settings in .*course there"),
        ({"seed_id": "0" * 12}, r"it has another course secret \(env:VIVA_SECRET\)"),
        ({"course": "/nowhere"}, "say --worker-course DIR"),
        ({"assignment": "wrods"}, "lists no assignment `wrods`"),
    ],
)
def test_another_course_is_refused(
    changed: dict[str, Any], said: str, course: Course, examiners: cluster_worker.Examiners
) -> None:
    with pytest.raises(UsageError, match=f"^The worker tcp://127.0.0.1:7 refuses: .*{said}"):
        reply(task(course, **changed))


def test_worker_without_the_secret(
    course: Course, examiners: cluster_worker.Examiners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIVA_SECRET")
    with pytest.raises(UsageError, match="refuses: The course's secret is not set"):
        reply(task(course))


@pytest.mark.parametrize(
    ("there", "changed", "said"),
    [
        ((Tier.T0,), {}, r"isolation T1 or better \(T3: uid: not root\)"),
        ((Tier.T0,), {"least": Tier.T0}, "isolation T1 or better"),
        ((Tier.T0,), {"least": Tier.T0, "tier": Tier.T0}, "isolation T0"),
        ((Tier.T0, Tier.T1), {"least": Tier.T3}, "isolation T3 or better"),
        ((Tier.T0, Tier.T3), {"tier": Tier.T2}, "isolation T2"),
    ],
)
def test_weak_isolation_is_refused(
    there: tuple[Tier, ...],
    changed: dict[str, Any],
    said: str,
    course: Course,
    examiners: cluster_worker.Examiners,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where someone asks for T0: a worker has the key, and the other submissions."""
    monkeypatch.setattr(cluster_worker, "detect_tiers", lambda: no_tiers_but(*there))
    with pytest.raises(UsageError, match=f"refuses: it does not offer {said}"):
        reply(task(course, **changed))


def test_error_names_the_worker(
    course: Course, examiners: cluster_worker.Examiners, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise MemoryError("no more")

    monkeypatch.setattr(ExaminerProcess, "open", broken)
    monkeypatch.setattr(cluster_worker, "detect_tiers", lambda: no_tiers_but(Tier.T1))
    with pytest.raises(GraderError, match=r"on the worker tcp://127\.0\.0\.1:7: MemoryError: no more"):
        reply(task(course))


@needs_t1
@pytest.mark.long
def test_examiner_lives_while_it_is_of_use(
    course: Course, examiners: cluster_worker.Examiners, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    launch = ExaminerProcess._launch

    def counted(self: ExaminerProcess) -> Any:
        launched = launch(self)
        started.append(launched.process)
        return launched

    monkeypatch.setattr(ExaminerProcess, "_launch", counted)
    assert [reply(task(course)).score.earned for _ in range(3)] == [9, 9, 9]
    assert len(started) == 1 and started[0].poll() is None
    monkeypatch.setattr(cluster_worker, "SAME_RUN_S", 0.0)  # every task may be another run's
    assert reply(task(course)).score.earned == 9 and len(started) == 1
    asked = task(course)
    with (course.root / "graders/words/test_words.py").open("a") as file:
        file.write("# changed\n")
    with pytest.raises(UsageError, match="has other tests"):
        reply(asked)
    assert reply(task(course)).score.earned == 9
    assert len(started) == 2 and started[0].poll() is not None  # an earlier state of the course
    examiners._end_idle()
    assert started[1].poll() is None
    monkeypatch.setattr(cluster_worker, "IDLE_S", -1.0)
    examiners._end_idle()
    wait_until(lambda: started[1].poll() is not None)
    assert reply(task(course)).score.earned == 9
    worker: Any = None
    examiners.teardown(worker)
    assert started[2].poll() is not None
