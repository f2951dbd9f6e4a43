"""A class on a cluster of processes: the scores that it gets here, whatever happens to the workers."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster

from tests.support.cluster_samples import HERE, cluster, course_in, job, needs_t1, points_of, pool_on, same, some_class
from tests.support.course_of_texts import NAME
from tests.support.replays import RECORDED
from tests.support.suite_course import DECORATORS, suite_course
from tests.support.wait_until import wait_until
from tests.support.words_course import RIGHT, SECRET, SLOW, TESTS
from viva.config import Course, load_course
from viva.model import Entry, Score, Status
from viva.model.errors import GraderError, UsageError
from viva.model.gpu import NONE_HERE
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Observer
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.cluster.cluster_pool import ClusterPool, Workers
from viva.plugins.cluster.schedulers import Connection

pytestmark = [needs_t1, pytest.mark.long]
SUITE = (
    DECORATORS
    + """
class TestOne(unittest.TestCase):
    @weight(2)
    def test_there(self):
        import solution
        self.assertTrue(solution.total)
"""
)


@pytest.fixture(scope="module", autouse=True)
def _secret() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVA_SECRET", SECRET)
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return course_in(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def two_workers(_secret: None) -> Iterator[LocalCluster]:
    with cluster() as made:
        yield made


def scores(results: list[tuple[Any, Graded | Exception]]) -> dict[str, Score]:
    found = {}
    for each, graded in results:
        assert isinstance(graded, Graded), graded
        assert each.name not in found, "graded twice"
        found[each.name] = same(graded.score)
    return found


def test_same_scores_as_on_this_machine(two_workers: LocalCluster, course: Course) -> None:
    jobs = [*some_class(course, 9), job(course, "surrogate \udc80", RIGHT), job(course, "broken", "def f(:")]
    wanted = RECORDED
    pending: dict[str, int] = {}
    with pool_on(two_workers, course, asked=wanted) as batch:
        batch.observer = Observer(on_start=lambda each, entries: pending.update({each.name: len(entries)}))
        there = [*batch.run(jobs)]
    here = [*LocalPool(course, SECRET.encode(), BoxOptions(HERE), wanted).run(jobs)]
    assert scores(there) == scores(here)
    assert pending == {each.name: 5 for each in jobs}
    call_logs = [
        {e.name: g.interceptor_output for e, g in results if isinstance(g, Graded)} for results in (there, here)
    ]
    assert call_logs[0].keys() == call_logs[1].keys() and all(call_logs[0].values())


def test_course_that_lies_elsewhere(two_workers: LocalCluster, course: Course, tmp_path: Path) -> None:
    there = course_in(tmp_path / "elsewhere")
    with pool_on(two_workers, course, course_there=str(there.root)) as batch:
        assert len(scores([*batch.run(some_class(course, 2))])) == 2
    changed = course_in(tmp_path / "changed")
    with (changed.root / "graders/words/key.py").open("a") as file:
        file.write("# changed\n")
    with pool_on(two_workers, course, course_there=str(changed.root)) as batch:
        ((_, refused),) = batch.run(some_class(course, 1))
    assert isinstance(refused, UsageError) and "refuses: words has other tests" in str(refused)


def test_unknown_test_is_noticed_before_sending(two_workers: LocalCluster, course: Course) -> None:
    with (
        pool_on(two_workers, course, asked=GradeOptions(only=("7.7",))) as batch,
        pytest.raises(UsageError, match=r"no test '7\.7'"),
    ):
        next(batch.run(some_class(course, 1)))


def test_secret_is_not_sent(two_workers: LocalCluster, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    with pool_on(two_workers, course) as batch:
        client, sent = batch.connection.client, []
        submit = client.submit

        def watched(function: Any, data: Any, **options: Any) -> Any:
            sent.append(data)
            return submit(function, data, **options)

        monkeypatch.setattr(client, "submit", watched)
        assert len(scores([*batch.run(some_class(course, 3))])) == 3
    assert len(sent) == 3
    for data in sent:
        assert type(data) is bytes and SECRET.encode() not in data


def test_submission_that_is_gone_costs_itself_alone(two_workers: LocalCluster, course: Course, tmp_path: Path) -> None:
    gone = replace(job(course, "gone", RIGHT), path=tmp_path / "gone", submission=None)
    with pool_on(two_workers, course) as batch:
        results = {each.name: graded for each, graded in batch.run([gone, *some_class(course, 2)])}
    assert isinstance(results.pop("gone"), GraderError)
    assert all(isinstance(graded, Graded) for graded in results.values()) and len(results) == 2


ENDS_ITS_WORKER = """
import os, signal
from viva.plugins.cluster import cluster_worker as worker

usual = getattr(worker, "usual", worker.grade)  # this is read twice
worker.usual = usual

def grade(parcel):
    if b"ends its worker" in parcel:
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(parcel)

worker.grade = grade
"""


@pytest.mark.nightly
def test_submission_that_ends_its_workers(course: Course, tmp_path: Path) -> None:
    """As a submission does for which the nodes have too little memory; others were under way next to it each time."""
    (tmp_path / "preload.py").write_text(ENDS_ITS_WORKER, "utf-8")
    jobs = some_class(course, 12)
    jobs.insert(3, job(course, "killer", "# ends its worker\n" + RIGHT))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(preload=[str(tmp_path / "preload.py")], threads_per_worker=2) as made,
        pool_on(made, course) as batch,
    ):
        results = {each.name: graded for each, graded in batch.run(jobs)}
    killed = results.pop("killer")
    assert isinstance(killed, GraderError) and "every worker that graded it ended" in str(killed)
    points = {name: graded.score.earned for name, graded in results.items() if isinstance(graded, Graded)}
    assert points == {each.name: points_of(each) for each in jobs if each.name != "killer"}


FAILS = """
from pathlib import Path
from viva.plugins.cluster import cluster_worker as worker
from viva.plugins.cluster.cluster_messages import error_to_bytes

worker.usual = usual = getattr(worker, "usual", worker.grade)

def grade(parcel):
    seen = Path("{folder}", "seen")
    if b"fails always" in parcel or (b"fails once" in parcel and not seen.exists()):
        seen.touch()
        return error_to_bytes(RuntimeError("no room"))
    return usual(parcel)

worker.grade = grade
"""


def test_failed_job_is_retried_once(course: Course, tmp_path: Path) -> None:
    (tmp_path / "preload.py").write_text(FAILS.format(folder=tmp_path), "utf-8")
    jobs = [job(course, name, f"# {name}\n{RIGHT}") for name in ("fails once", "fails always", "does not")]
    with cluster(1, preload=[str(tmp_path / "preload.py")]) as made, pool_on(made, course) as batch:
        results = {each.name: graded for each, graded in batch.run(jobs)}
    failed = results.pop("fails always")
    assert isinstance(failed, GraderError) and str(failed) == "no room"
    assert {name: g.score.earned for name, g in results.items() if isinstance(g, Graded)} == {
        "fails once": 9,
        "does not": 9,
    }


HALF_FAILS = """
from dataclasses import replace
from pathlib import Path
from distributed import get_worker
from viva.model import Status
from viva.plugins.cluster import cluster_worker as worker
from viva.plugins.cluster.cluster_messages import Reply, reply_from_bytes

worker.usual = usual = getattr(worker, "usual", worker.grade)

def grade(parcel):
    reply = reply_from_bytes(usual(parcel))
    name = reply.graded.score.submission.replace(" ", "-")
    tries = Path("{folder}", name)
    tries.mkdir(exist_ok=True)
    Path(tries, str(get_worker().address).rpartition(":")[2]).touch()
    if name == "never-whole" or (name == "half-once" and len(list(tries.iterdir())) == 1):
        first = reply.graded.score.entries[0]
        case = replace(first.cases[0], status=Status.GRADER_ERROR)
        entries = (replace(first, status=Status.GRADER_ERROR, cases=(case,)), *reply.graded.score.entries[1:])
        reply.graded.score = replace(reply.graded.score, entries=entries)
    return Reply(reply.graded, reply.worker).to_bytes()

worker.grade = grade
"""


def test_grader_error_is_retried_on_another_worker(course: Course, tmp_path: Path) -> None:
    """A fault of the grader on one machine need not be one on another; what stays wrong is what it is."""
    (tmp_path / "preload.py").write_text(HALF_FAILS.format(folder=tmp_path), "utf-8")
    jobs = [job(course, name, f"# {name}\n{RIGHT}") for name in ("half once", "never whole", "whole")]
    with cluster(2, preload=[str(tmp_path / "preload.py")]) as made, pool_on(made, course) as batch:
        results = {each.name: graded for each, graded in batch.run(jobs)}
    faults = {name: graded.score.has_grader_error for name, graded in results.items() if isinstance(graded, Graded)}
    assert faults == {"half once": False, "never whole": True, "whole": False}
    tried = {name: len([*Path(tmp_path, name).iterdir()]) for name in ("half-once", "never-whole", "whole")}
    assert tried == {"half-once": 2, "never-whole": 2, "whole": 1}, "on how many workers"


def test_progress_is_told_here(two_workers: LocalCluster, course: Course) -> None:
    seen: dict[str, list[int]] = {}

    def on_entry(each: Any, entries: Callable[[], tuple[Entry, ...]]) -> None:
        closed = [entry for entry in entries() if entry.status is not Status.GRADER_ERROR]
        seen.setdefault(each.name, []).append(len(closed))

    jobs = [job(course, f"slow{n}", f"# {n}\n{SLOW}") for n in range(3)]
    with pool_on(two_workers, course) as batch:
        batch.observer = Observer(on_entry=on_entry)
        assert len(scores([*batch.run(jobs)])) == 3
        assert len(scores([*batch.run(jobs[:1])])) == 1, "a second run hears its own tasks alone"
    assert seen.keys() == {each.name for each in jobs}
    for counts in seen.values():
        assert counts and max(counts) >= 2 and min(counts) >= 1


def test_no_worker(course: Course) -> None:
    said: list[str] = []
    with cluster(0) as made, pool_on(made, course, worker_timeout_s=4.0) as batch:
        batch.on_wait = said.append
        results = [*batch.run(some_class(course, 20))]
    assert {str(error) for _, error in results} == {"there was no worker for 4 s"} and len(results) == 20
    assert said == ["waiting for a worker of the cluster"]


@pytest.mark.nightly
def test_worker_that_comes_late(course: Course) -> None:
    with cluster(0) as made, pool_on(made, course) as batch:
        later = threading.Timer(3, made.scale, (1,))
        later.start()
        assert len(scores([*batch.run(some_class(course, 3))])) == 3
        later.join()


def test_stopping_leaves_no_task(two_workers: LocalCluster, course: Course) -> None:
    jobs = [job(course, f"slow{n}", f"# {n}\n{SLOW}") for n in range(40)]
    with pool_on(two_workers, course) as batch:
        running = batch.run(jobs)
        next(running)
        assert len(two_workers.scheduler.tasks) <= 8
        running.close()
        wait_until(lambda: not two_workers.scheduler.tasks)


@pytest.mark.nightly
def test_scheduler_that_ends(course: Course) -> None:
    with cluster() as made, Client(made.scheduler_address, set_as_default=False, timeout=3) as client:
        batch = ClusterPool(Connection(client, 30.0), course, SECRET.encode(), GradeOptions())
        jobs = some_class(course, 60)
        running = batch.run(jobs)
        first, graded = next(running)
        assert isinstance(graded, Graded)
        made.close()
        rest = [*running]
    assert sorted([first.name, *(each.name for each, _ in rest)]) == [each.name for each in jobs]
    lost = [str(graded) for _, graded in rest if isinstance(graded, Exception)]
    assert lost and set(lost) == {"the connection to the scheduler was lost"}


REFUSED = "this worker was to have a GPU"
LOOKED = f"Not graded yet: this test needs a GPU, and {REFUSED}."
LOOKS_FOR_A_GPU = f"""
from viva.plugins.cluster import cluster_worker as worker
from viva.sandbox.gpu import GpuSet

worker.find_gpus = lambda environ: GpuSet(refused=({REFUSED!r},))
"""


@pytest.mark.nightly
def test_gpu_tests_go_to_workers_with_a_gpu(course: Course, tmp_path: Path) -> None:
    """Without such a worker they are graded anyway, and what needs a GPU stays open."""
    there = course_in(tmp_path / "course")
    tests = there.root / "graders/words/test_words.py"
    on_gpu = TESTS.replace('@number("1.2")', '@pytest.mark.gpu(memory_mib=16)\n@number("1.2")')
    tests.write_text("import pytest\n" + on_gpu, "utf-8")
    jobs = some_class(there, 4)
    (tmp_path / "preload.py").write_text(LOOKS_FOR_A_GPU, "utf-8")
    preload = [str(tmp_path / "preload.py")]
    with cluster(1, resources={"GPU": 1}, preload=preload) as made, pool_on(made, there) as batch:
        for gpu in (False, True):
            batch.workers = Workers(gpu=gpu)
            for _, graded in batch.run(jobs):
                assert isinstance(graded, Graded)
                (entry,) = [e for e in graded.score.entries if e.number == "1.2"]
                assert entry.status is Status.DEFERRED
                assert entry.cases[0].message == (LOOKED if gpu else NONE_HERE)
    with cluster(1) as made, pool_on(made, there, worker_timeout_s=3.0) as batch:
        batch.workers = Workers(gpu=True)
        assert {str(error) for _, error in batch.run(jobs)} == {"there was no worker for 3 s"}


@pytest.mark.nightly
def test_unittest_suite_on_workers(two_workers: LocalCluster, tmp_path: Path) -> None:
    root = suite_course(tmp_path / "suite", {"test_one.py": SUITE}).course.root
    (root / "grader.yaml").write_text(f"course: tiny\nsecret: env:VIVA_SECRET\nassignments: [{NAME}]\n", "utf-8")
    there = load_course(root)
    jobs = [replace(each, assignment=there.assignment(NAME)) for each in some_class(course_in(tmp_path / "c"), 3)]
    with pool_on(two_workers, there) as batch:
        found = scores([*batch.run(jobs)])
    assert [score.earned for score in found.values()] == [score.points for score in found.values()] == [2, 2, 2]
