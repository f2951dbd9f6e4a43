"""The harness of the autograder: whatever is submitted and whatever goes wrong, results.json is there and is right."""

import contextlib
import os
import random
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.gradescope_course import HANGS, RIGHT, Platform, checked, write, write_course
from tests.support.wait_until import wait_until
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers

pytestmark = pytest.mark.long

BEST = next(report.tier for report in detect_tiers() if report.available)
needs_isolation = pytest.mark.skipif(BEST is Tier.T0, reason="this host has no isolation, and the harness wants T1")


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    return Platform.of(write_course(tmp_path / "course"), tmp_path / "root")


def first_test_is_written(platform: Platform) -> bool:
    """Whether the results exist and hold a test."""
    return platform.results_path.exists() and b"test_sum" in platform.results_path.read_bytes()


@needs_isolation
def test_right_submission(platform: Platform) -> None:
    ran = platform.graded(RIGHT, {"id": 1, "created_at": "2026-03-01T10:00:00.123456-08:00"})
    assert set(ran.statuses.values()) == {"passed"} and len(ran.statuses) == 4
    assert ran.results["score"] == 6 and ran.results["extra_data"]["complete"] is True
    assert ran.results["extra_data"]["isolation"]["tier"] == str(BEST)
    assert ran.results["leaderboard"] == [{"name": "terms per call", "value": 3, "order": "asc"}]
    shown = {test["name"]: test["visibility"] for test in ran.results["tests"]}
    assert shown["The sum of numbers that nobody knows of."] == "after_published"
    assert shown["Shown after the deadline."] == "after_due_date"
    assert ran.results["stdout_visibility"] == "hidden"


@needs_isolation
def test_rerun_gives_the_same(platform: Platform) -> None:
    wrong = RIGHT.replace("sum(numbers)", "sum(numbers) + len(numbers) % 2")
    first, second = platform.graded(wrong), platform.run()

    def without_times(results: object) -> object:
        if isinstance(results, dict):
            return {k: without_times(v) for k, v in results.items() if k not in ("wall_s", "execution_time")}
        return [without_times(each) for each in results] if isinstance(results, list) else results

    assert 0 < first.results["score"] < 6
    assert without_times(first.results) == without_times(second.results)


@needs_isolation
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "empty folder"),
        ({"solution.py": b""}, "0 bytes"),
        ({"solution.py": "def total(:"}, "solution.py"),
        ({"solution.py": "raise SystemExit"}, "solution.py"),
    ],
)
def test_faults_of_student_are_shown(platform: Platform, files: dict[str, str | bytes], said: str) -> None:
    results = platform.graded(files).results
    assert results["score"] == 0 and "viva_failed" not in results["extra_data"]
    assert said in results["output"]


def test_links_and_devices_are_not_followed(platform: Platform, tmp_path: Path) -> None:
    write(tmp_path / "secret.py", RIGHT)
    platform.hand_in({"notes.txt": "x"})
    (platform.root / "autograder/submission/solution.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(platform.root / "autograder/submission/pipe.py")
    assert platform.run().results["score"] == 0


def test_only_root_may_look(platform: Platform) -> None:
    """Whatever modes the platform unpacks with."""
    for path in (platform.root / "autograder").rglob("*"):
        path.chmod(0o777)
    platform.graded(RIGHT, {"users": [{"email": "a@b.c"}]})
    closed = ("source", "submission", "results", "submission_metadata.json", "results/results.json")
    for name in (*closed, "source/course/secret"):
        assert not stat.S_IMODE((platform.root / "autograder" / name).stat().st_mode) & 0o077, name


@needs_isolation
def test_deadline(platform: Platform) -> None:
    """The first test hangs until its own limit; what was not decided is open and never lost."""
    started = time.monotonic()
    ran = platform.graded(HANGS, None, "--deadline", "15")
    assert time.monotonic() - started < 45
    assert ran.results["extra_data"]["complete"] is False and "time was up" in ran.results["output"]
    assert set(ran.statuses.values()) <= {"grader_error", "timeout"} and "grader_error" in ran.statuses.values()
    assert all("score" not in test for test in ran.results["tests"] if "status" not in test)
    assert ran.results["extra_data"]["isolation"]["tier"] == str(BEST)


def test_no_time_at_all(platform: Platform) -> None:
    ran = platform.graded(RIGHT, None, "--deadline", "0.01")
    assert (ran.results["score"], ran.results["tests"]) == (0, [])
    assert "before the first test" in ran.results["extra_data"]["viva_failed"]


@needs_isolation
def test_terminated_run_leaves_incomplete_results(platform: Platform) -> None:
    platform.hand_in(HANGS)
    with platform.started() as harness:
        wait_until(lambda: first_test_is_written(platform))
        harness.send_signal(signal.SIGTERM)
        assert harness.wait(30) == 0
    results = checked(platform.results_path.read_bytes())
    assert len(results["tests"]) == 4 and results["extra_data"]["complete"] is False


@needs_isolation
def test_killed_at_any_moment(platform: Platform) -> None:
    """From the first write on; moments over the whole time that a run takes."""
    started = time.monotonic()
    assert platform.graded(RIGHT).results["extra_data"]["complete"] is True
    takes_s = time.monotonic() - started
    chance = random.Random(4)
    for moment in (0, *(chance.uniform(0.3, 1) for _ in range(8))):
        platform.results_path.unlink()
        with platform.started() as harness:
            wait_until(platform.results_path.exists)
            with contextlib.suppress(subprocess.TimeoutExpired):
                harness.wait(moment * takes_s)
            harness.kill()
        checked(platform.results_path.read_bytes())


@needs_isolation
def test_killed_between_two_tests(platform: Platform) -> None:
    platform.hand_in(HANGS)
    with platform.started() as harness:
        wait_until(lambda: first_test_is_written(platform))
        harness.kill()
    results = checked(platform.results_path.read_bytes())
    assert len(results["tests"]) == 4 and results["extra_data"]["complete"] is False


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda source: (source / "gradescope.json").write_text("{"), "not what was packed"),
        (lambda source: (source / "course/grader.yaml").unlink(), "no grader.yaml"),
        (lambda source: (source / "course/graders/sums/key.py").write_text("1 / 0"), "ZeroDivisionError"),
        (lambda source: (source / "course/secret").write_text("short"), "5 bytes"),
    ],
)
def test_own_faults_are_shown_to_instructors(platform: Platform, break_it: Callable[[Path], object], said: str) -> None:
    break_it(platform.root / "autograder/source")
    ran = platform.graded(RIGHT)
    assert ran.results["score"] == 0 and ran.results["tests"] == []
    if BEST is not Tier.T0:
        assert said in ran.said and said in ran.results["extra_data"]["viva_failed"]
    assert said not in ran.results["output"] and "not your fault" in ran.results["output"]


def test_never_without_isolation(platform: Platform) -> None:
    """A tier that is not to be had is as good as none."""
    missing = next((report.tier for report in detect_tiers() if not report.available and report.tier > Tier.T0), None)
    if missing is None:
        pytest.skip("this host offers every tier")
    ran = platform.graded(RIGHT, None, "--tier", str(missing))
    assert ran.results["tests"] == [] and "no isolation" in ran.results["extra_data"]["viva_failed"]


def test_too_little_memory(platform: Platform) -> None:
    write(platform.root / "sys/fs/cgroup/memory.max", f"{300 << 20}\n")
    ran = platform.graded(RIGHT)
    if BEST is not Tier.T0:
        assert "has 300 MiB of memory, and this assignment needs" in ran.said
    assert ran.results["tests"] == [] and "Container" not in ran.results["output"]


@needs_isolation
def test_small_container(platform: Platform) -> None:
    """The guessed 400 MiB for ourselves and the margin leave 304 of 768."""
    write(platform.root / "sys/fs/cgroup/memory.max", f"{768 << 20}\n")
    greedy = (
        "try:\n    kept = bytearray(600 << 20)\nexcept MemoryError:\n    kept = None\n\n\n"
        "def total(numbers):\n    return sum(numbers) if kept is None else 'there was room'\n"
    )
    ran = platform.graded(greedy)
    assert ran.results["score"] == 6
    assert "Your program has 304 MiB of memory here; the assignment allows 1024." in ran.results["output"]
