"""Tests of one submission that train run side by side, and nothing of its result tells who has asked them."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.course_of_texts import NAME, SECRET, best_tier, handed_in, without_times, write_course
from tests.support.wait_until import wait_until
from viva.config import Course
from viva.model import Entry, Status
from viva.model.errors import GraderError, UsageError
from viva.model.gpu import Gpu, Gpus
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline import capacity, local_pool
from viva.pipeline.helpers import Helpers, grade_with_helpers
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.host.limits.processes import lines_of

Run = Callable[[], list[tuple[Job, Any]]]
TESTS = '''\
import os
import time
from pathlib import Path

import pytest

from viva.examiner import turns
from viva.grading import agree, leaderboard, number, training, visibility, weight

HERE = Path(__file__).parents[2]
turns._FOLDER = HERE  # tests that wait for each other must not wait for one that some other examiner asks alone


def meet(name):
    """Wait until as many tests have begun as are to meet; end this process, if it is to end."""
    place = HERE / "met"
    wanted = int((HERE / "wanted").read_text()) if place.exists() else 0
    (place / name).touch() if place.exists() else None
    until = time.monotonic() + 60
    while wanted and len(list(place.iterdir())) < wanted:
        assert time.monotonic() < until, "the other test does not begin"
        time.sleep(0.01)
    end = HERE / f"end {name}"
    if end.exists():
        end.unlink()
        os.kill(os.getpid(), 9)


def curve(student, name):
    for epoch in training.epochs(2, budget_s=30, name=name):
        epoch.record(height=student.height(epoch.number))
    (HERE / f"{name} ended").touch()


def all_have_ended():
    """Say whether every visible test that trains has ended, if all of them run."""
    return len(list(HERE.glob("* ended"))) >= 3 or not (HERE / "met").exists()


@number("1")
@weight(2)
def test_heights(student):
    """The height after a step."""
    agree(student.height(3), 6)


@number("2")
@weight(3)
@pytest.mark.training
@leaderboard("height")
def test_first(student, set_leaderboard_value):
    """The first training."""
    meet("first")
    curve(student, "first")
    set_leaderboard_value(student.height(1))


@number("3")
@weight(3)
@pytest.mark.training
@pytest.mark.parametrize("factor", [1, 2])
def test_second(student, factor):
    """The second training."""
    meet("second")
    curve(student, f"second {factor}")
    agree(student.height(factor), 2 * factor)


@number("4")
@weight(1)
@visibility("hidden")
@pytest.mark.training
def test_hidden(student):
    """A hidden training."""
    assert all_have_ended()
    curve(student, "hidden")
    agree(student.height(5), 10)


@number("5")
@weight(1)
@visibility("hidden")
def test_last(student):
    """Hidden, without a training."""
    assert all_have_ended()
    agree(student.height(6), 12)
'''
SOLUTION = """
def height(step):
    return 2 * step
"""
WRONG = SOLUTION.replace("return 2 * step", "return 2 * step if step < 5 else 0")
RAISING = SOLUTION.replace("return 2 * step", "raise ImportError('no torch of this version')")
"""A note tells of it."""
GPU = Gpu("0000:01:00.0", "GPU-0", "made up", "1", 1000, "/dev/nvidia0", ())
ALL = GradeOptions()
NUMBERS = ["1", "2", "3", "4", "5"]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course with three tests that train."""
    return write_course(tmp_path / "course", tests=TESTS, key="answer = 42\n")


def to_meet(course: Course, wanted: int = 2) -> Path:
    """Let tests wait for each other; return the folder in which each makes a file."""
    place = course.root / "met"
    place.mkdir()
    (course.root / "wanted").write_text(str(wanted))
    return place


def examiner(course: Course, **how: Any) -> ExaminerProcess:
    return ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier(), **how))


def graded(
    course: Course,
    files: str | Mapping[str, str | bytes] = SOLUTION,
    helpers: int = 1,
    options: GradeOptions = ALL,
    on_entry: Callable[[Entry], None] = lambda _: None,
) -> Graded:
    with examiner(course) as main:
        main.open()
        return grade_with_helpers(main, GradeRequest(handed_in(files), options), Helpers(helpers), on_entry)


def not_passed(found: Graded) -> dict[str, list[tuple[str, str, str]]]:
    """Return, by number, what each test that has not passed says."""
    return {
        entry.number: [(str(case.status), case.message, case.staff_message) for case in entry.cases]
        for entry in found.score.entries
        if entry.status != Status.PASSED
    }


def test_two_trainings_run_at_the_same_time(course: Course) -> None:
    """Each waits for the other, so one examiner alone would not pass them."""
    to_meet(course)
    told: list[str] = []
    found = graded(course, on_entry=lambda entry: told.append(entry.number))
    assert (found.remarks, not_passed(found)) == ([], {})
    assert [entry.number for entry in found.score.entries] == NUMBERS and sorted(told) == NUMBERS


@pytest.mark.parametrize(
    ("files", "options"),
    [
        (RAISING, ALL),
        *(
            pytest.param(files, ALL, marks=pytest.mark.long)
            for files in (SOLUTION, WRONG, "", {"solution.py": "raise SystemExit"})
        ),
        pytest.param(SOLUTION, GradeOptions(visible_only=True), marks=pytest.mark.long),
        pytest.param(WRONG, GradeOptions(only=("2", "3")), marks=pytest.mark.long),
    ],
)
def test_result_is_that_of_one_examiner(
    course: Course, files: str | Mapping[str, str | bytes], options: GradeOptions
) -> None:
    options = dataclasses.replace(options, call_log=True)
    alone, shared = graded(course, files, 0, options), graded(course, files, 2, options)
    assert without_times(shared.score) == without_times(alone.score)
    assert (shared.finished, shared.ended, shared.remarks) == (True, False, [])
    for each in (alone, shared):  # what was asked is kept as a whole, and gives the same result again
        with examiner(course, replay_only=True) as again:
            replayed = again.grade(GradeRequest(handed_in(files), options, replayed=each.call_log))
        assert replayed.changed == []
        assert without_times(replayed.score)["entries"] == without_times(alone.score)["entries"]


@pytest.mark.parametrize("number", ["2", "3"])
@pytest.mark.parametrize("kind", [ValueError, UsageError, OSError])
def test_error_of_the_observer_is_raised(kind: type[Exception], number: str, course: Course) -> None:
    """One of the two is the helper's: a result that cannot be written must not seem to be complete.

    Examiners fail with errors of the same kinds, but this is no reason to grade again.
    """

    def refuse(entry: Entry) -> None:
        if entry.number == number:
            raise kind("no place for it")

    to_meet(course)
    with pytest.raises(kind, match="no place for it"):
        graded(course, on_entry=refuse)


@pytest.fixture
def pool(course: Course) -> Run:
    """Grades one submission with two workers."""

    def run() -> list[tuple[Job, Any]]:
        job = Job(Path("somebody"), "somebody", course.assignment(NAME), handed_in(SOLUTION))
        made = LocalPool(course, SECRET, BoxOptions(best_tier()), workers=2)
        return [*made.run([job])]

    return run


@pytest.mark.parametrize("which", ["first", "second"])
def test_examiner_that_ends_in_the_middle(which: str, course: Course, pool: Run) -> None:
    """Of two examiners that have both begun a training, one is killed: it is the helper for one of the two names."""
    to_meet(course)
    (course.root / f"end {which}").touch()
    ((_, found),) = pool()
    assert isinstance(found, Graded) and found.finished
    assert not_passed(found) == {}
    assert any("a fresh one graded this from the start" in remark for remark in found.remarks)


def test_helper_that_cannot_start(pool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: ExaminerProcess, *_: object) -> None:
        if self.joined is not None:
            raise GraderError("no memory")
        opened(self)

    opened = ExaminerProcess.open
    monkeypatch.setattr(ExaminerProcess, "open", refuse)
    ((_, found),) = pool()
    assert not_passed(found) == {}
    assert found.remarks == ["no helper could be started: no memory"]


def test_ctrl_c_leaves_no_process(course: Course, pool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while both examiners are in the middle of a training."""
    met, before = to_meet(course, 3), children()

    seen: set[int] = set()

    def interrupted(*_: object) -> None:
        wait_until(lambda: len([*met.iterdir()]) == 2)
        seen.update(children() - before)
        raise KeyboardInterrupt

    monkeypatch.setattr(local_pool, "_gathered", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool()
    assert len(seen) == 2
    wait_until(lambda: not seen & children())


def children() -> set[int]:
    """The processes that this one has started."""
    threads = [*Path("/proc/self/task").iterdir()]  # one may end meanwhile
    lines = [line for thread in threads for line in lines_of(f"{thread}/children")]
    return {int(pid) for line in lines for pid in line.split()}


@pytest.mark.parametrize(
    ("cores", "there_mib", "expected"), [(1, None, 0), (4, None, 3), (4, 2 * (512 + 1024), 1), (4, 100, 0)]
)
def test_helpers_for_one_submission(
    cores: int, there_mib: int | None, expected: int, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity, "cores", lambda: [*range(cores)])
    monkeypatch.setattr(capacity, "container_mib", lambda: there_mib)
    assert Helpers.on_free_cores(course.assignment(NAME)).most == expected


@pytest.mark.parametrize(
    ("options", "boxes", "expected"),
    [
        ({}, {}, 2),
        ({"only": ("4", "5")}, {}, 0),
        ({"only": ("2", "3")}, {}, 1),  # the main examiner takes one of the two
        ({"only": ("2",)}, {}, 0),
        ({"only": ("1", "2")}, {}, 1),
        ({"training": False}, {}, 0),
        ({"questions": True}, {}, 0),
        ({"key_recording": True}, {}, 0),
        ({"until_loss": True}, {}, 0),
        ({}, {"core": 0}, 0),
        ({}, {"gpus": Gpus((GPU,))}, 0),
    ],
)
def test_number_of_helpers(options: dict[str, Any], boxes: dict[str, Any], expected: int, course: Course) -> None:
    with examiner(course) as opened:
        opened.open()
        opened.settings = dataclasses.replace(
            opened.settings, boxes=dataclasses.replace(opened.settings.boxes, **boxes)
        )
        asked: list[int] = []
        helpers = Helpers(9, lambda _: asked.append(1))
        grade_with_helpers(opened, GradeRequest(handed_in(SOLUTION), GradeOptions(**options)), helpers)
    assert len(asked) == expected
