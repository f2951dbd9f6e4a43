"""The clock of limits: what a program computes counts, what keeps it from computing hardly does."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import viva.sandbox.guest.process.counted_time as counted_time
from viva.sandbox.guest.process.counted_time import ASLEEP, WAITED, Countdown, CountedTime
from viva.sandbox.host.limits import processes

SECONDS = st.floats(0, 100)


class Clocks:
    """A process whose clocks a test sets."""

    def __init__(self) -> None:
        self.wall_s, self.computed_s = 0.0, 0.0
        self.waited_s: float | None = 0.0

    def count(self, unknown: float = ASLEEP) -> CountedTime:
        return CountedTime(lambda: self.computed_s, lambda: self.waited_s, wall_s=lambda: self.wall_s, unknown=unknown)


@pytest.mark.parametrize(
    ("wall_s", "computed_s", "waited_s", "counted_s"),
    [
        (10, 10, 0, 10),
        (10, 0, 0, 10 * ASLEEP),
        (10, 0, 10, 10 * WAITED),
        (10, 2, 5, 2 + 5 * WAITED + 3 * ASLEEP),
        (10, 40, 0, 10),  # four threads at once
        (10, 4, 60, 4 + 6 * WAITED),  # ten threads wait at once
        (10, -5, -5, 10 * ASLEEP),  # a process that had computed has ended
        (10, 2, None, 2 + 8 * ASLEEP),
    ],
)
def test_count_weighs_computing_waiting_and_sleeping(
    wall_s: float, computed_s: float, waited_s: float | None, counted_s: float
) -> None:
    clocks = Clocks()
    clock = clocks.count()
    clocks.wall_s, clocks.computed_s, clocks.waited_s = wall_s, computed_s, waited_s
    assert clock.now() == pytest.approx(counted_s)
    assert clock.now(exact=True) == pytest.approx(counted_s)


@pytest.mark.parametrize(
    ("wall_s", "computed_s", "waited_s", "slept"),
    [
        (10, 2, 0.4, True),
        (10, 2.6, 0, False),
        (10, 0, 2.6, False),
        (10, 9, 1, False),
        (10, 0, None, False),  # nothing is known
        (0, 0, 0, False),
    ],
)
def test_slept_since(wall_s: float, computed_s: float, waited_s: float | None, slept: bool) -> None:
    clocks = Clocks()
    clock = clocks.count()
    began = clock.reading()
    clocks.wall_s, clocks.computed_s, clocks.waited_s = wall_s, computed_s, waited_s
    assert clock.slept_since(began) == slept


def test_unknown_time() -> None:
    clocks = Clocks()
    clocks.waited_s = None
    clock = clocks.count(unknown=0.5)
    clocks.wall_s = 10
    assert clock.now() == 5


@given(st.lists(st.tuples(SECONDS, st.floats(-10, 400), st.none() | st.floats(-10, 400), st.booleans()), max_size=20))
def test_count_is_monotonic_and_bounded(
    steps: list[tuple[float, float, float | None, bool]],
) -> None:
    clocks = Clocks()
    clock = clocks.count()
    before, waited = 0.0, 0.0
    for wall_s, computed_s, waited_s, exact in steps:
        clocks.wall_s += wall_s
        clocks.computed_s += computed_s
        waited += waited_s or 0.0
        clocks.waited_s = None if waited_s is None else waited
        now = clock.now(exact=exact)
        assert before - 1e-9 <= now <= clocks.wall_s + 1e-9
        before = now


@given(st.lists(st.tuples(st.floats(0, 0.04), st.floats(0, 0.04)), min_size=1, max_size=50))
def test_count_is_independent_of_readings(idle: list[tuple[float, float]]) -> None:
    """Short idle times are not looked into at once, but all of them count in the end."""
    clocks = Clocks()
    often, seldom = clocks.count(), clocks.count()
    for asleep_s, waited_s in idle:
        clocks.wall_s += asleep_s + waited_s
        clocks.waited_s = (clocks.waited_s or 0.0) + waited_s
        often.now()
    assert often.now(exact=True) == pytest.approx(seldom.now(exact=True))


def test_countdown_ends_when_its_time_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks()
    monkeypatch.setattr(counted_time, "_monotonic", lambda: clocks.wall_s)
    countdown = Countdown(clocks.count(), 10.0)
    waits = 0
    while (left_s := countdown.left_s()) > 0:
        assert left_s <= 10.0
        clocks.wall_s += left_s
        waits += 1
    assert 10 / ASLEEP <= clocks.wall_s < 10 / ASLEEP + 1 and waits < 50


SHARED = """
import os, sys, time
sys.path.insert(0, {folder!r})
from guest.process import counted_time
clock = counted_time.of_this_process()
began, computed = time.monotonic(), time.process_time()
while time.process_time() - computed < 0.5:
    pass
print(clock.now(exact=True), time.process_time() - computed, time.monotonic() - began, flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def busy_core() -> Iterator[int]:
    """Return a core that seven endless loops share."""
    core = min(os.sched_getaffinity(0))
    loop = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
    loops = [subprocess.Popen([sys.executable, "-S", "-c", loop]) for _ in range(7)]
    yield core
    for each in loops:
        each.kill()
        each.wait()


@pytest.mark.nightly
@pytest.mark.skipif(counted_time.waited_s("self") is None, reason="this system does not tell how long threads wait")
def test_count_on_a_busy_core_matches_the_operating_system(busy_core: int) -> None:
    folder = str(Path(counted_time.__file__).parents[2])
    program = f"import os; os.sched_setaffinity(0, [{busy_core}])\n" + SHARED.format(folder=folder)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        outside = processes.clock_of(lambda: process.pid, time.monotonic)
        began = time.monotonic()
        assert process.stdout is not None
        counted_s, computed_s, wall_s = map(float, process.stdout.readline().split())
        lived_s, seen_s = time.monotonic() - began, outside.now(exact=True)
        process.communicate("end\n")
    assert wall_s > 2 * computed_s
    assert computed_s - 1e-3 <= counted_s < computed_s + 0.05 * wall_s
    assert counted_s <= seen_s + 0.1 and seen_s < 0.3 * lived_s
