"""Limits that a thread keeps: they stop Python code, nest, and never strike after they were lifted."""

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from viva.sandbox.guest.process import alarm
from viva.sandbox.guest.process.alarm_thread import ThreadAlarm


@pytest.fixture(autouse=True)
def _by_thread() -> Iterator[None]:
    alarm.without_signals()
    yield
    alarm.off()
    alarm.without_signals(by_thread=False)


def forever() -> None:
    while True:
        pass


def test_endless_loop() -> None:
    began = time.monotonic()
    with pytest.raises(alarm.SoftTimeout, match="the time limit has passed"):
        alarm.within(0.1, forever)
    assert 0.09 < time.monotonic() - began < 30


def test_loop_that_swallows_first_strike() -> None:
    def stubborn() -> None:
        try:
            forever()
        except BaseException:
            forever()

    with pytest.raises(alarm.SoftTimeout):
        alarm.within(0.05, stubborn)


def test_no_strike_after_limit_was_lifted() -> None:
    """Limits that pass at about the moment at which they are lifted."""
    for _ in range(300):
        with contextlib.suppress(alarm.SoftTimeout):
            alarm.within(0.0005, lambda: sum(range(20_000)))
        alarm.off()  # as the worker does
        sum(range(1000))
    until = time.monotonic() + 0.6  # longer than it takes to strike again
    while time.monotonic() < until:
        sum(range(1000))
    with pytest.raises(alarm.SoftTimeout):  # and the next limit holds
        alarm.within(0.1, forever)


def test_inner_limit_keeps_outer_one() -> None:
    def outer() -> None:
        with pytest.raises(alarm.SoftTimeout):
            alarm.within(0.05, forever)
        forever()

    began = time.monotonic()
    with pytest.raises(alarm.SoftTimeout):
        alarm.within(0.3, outer)
    assert time.monotonic() - began > 0.25


def test_limit_in_another_thread() -> None:
    ended: list[str] = []

    def work() -> None:
        try:
            alarm.within(0.05, forever)
        except alarm.SoftTimeout:
            ended.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert ended == ["stopped"]


UNDER = f"""
import sys
sys.path.insert(0, {str(Path(alarm.__file__).parents[2])!r})
from guest.process import alarm
alarm.without_signals()
def forever():
    while True: pass
def stopped():
    try: return alarm.within(0.1, forever)
    except alarm.SoftTimeout: return "stopped"
%s
nested = alarm.within(5.0, lambda: alarm.within(5.0, lambda: "in time"))
print([nested, stopped(), alarm.within(5.0, lambda: "in time")])
"""


@pytest.mark.parametrize(
    "statement",
    [
        "alarm.within(5.0, int); stopped(); sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)",
        "sys.excepthook = sys.unraisablehook = None",
        "import threading; threading.Thread = threading.excepthook = None",
    ],
    ids=["a trace", "no hooks", "no threads"],
)
def test_limit_in_spoiled_interpreter(statement: str) -> None:
    """A trace made every limit that was lifted hang; without hooks none could be set."""
    ran = subprocess.run(
        [sys.executable, "-c", UNDER % statement], capture_output=True, text=True, timeout=600, check=False
    )
    assert (ran.stdout, ran.stderr) == ("['in time', 'stopped', 'in time']\n", "")


@pytest.mark.parametrize("deadline_s", [60.0, None], ids=["when armed", "when disarmed"])
def test_strike_that_leaves_lock_taken(monkeypatch: pytest.MonkeyPatch, deadline_s: float | None) -> None:
    keeper = ThreadAlarm(alarm.SoftTimeout, 0.05, alarm.now)

    def struck(_deadline: float | None) -> None:
        monkeypatch.undo()
        keeper._changed.acquire()
        raise alarm.SoftTimeout

    monkeypatch.setattr(keeper, "_arm", struck)
    with contextlib.suppress(alarm.SoftTimeout):
        keeper.arm(deadline_s and alarm.now() + deadline_s)
    free: list[bool] = []
    thread = threading.Thread(target=lambda: free.append(keeper._changed.acquire(timeout=60)), daemon=True)
    thread.start()
    thread.join()
    assert free == [True]
