"""A machine that is busy takes no points: limits count what the student's program computes."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.course_of_texts import Examined, statuses, write_course
from viva.sandbox.guest.process.counted_time import waited_s

LOOPS = 12
"""Endless loops next to the examiner, all on one core."""
SETTINGS = "limits: {load_s: 2, call_s: 1, test_s: 1, submission_s: 4}\n"
KEY = "def work(x):\n    return x + 1\n"
TESTS = """
from viva.grading import agree

def test_once(student, key):
    agree(student.work(1), key.work(1))

def test_twice(student, key):
    agree(student.work(1), key.work(1))
    agree(student.work(2), key.work(2))
"""
SLOW = """
import time

def work(x):
    began = time.process_time()
    while time.process_time() < began + {}:
        pass
    return x + 1
"""
ASLEEP = "import time\ndef work(x):\n    time.sleep(60)\n    return x + 1\n"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        waited_s("self") is None, reason="this system does not tell how long a thread waits for a processor"
    ),
]


@pytest.fixture(scope="module")
def busy_core() -> Iterator[None]:
    """Put this process and what it starts on a core that others use."""
    free = os.sched_getaffinity(0)
    core = {min(free)}
    os.sched_setaffinity(0, core)
    # A session each, because Linux may share processors between sessions rather than between processes.
    command = [sys.executable, "-S", "-c", "while True: pass"]
    loops = [subprocess.Popen(command, start_new_session=True) for _ in range(LOOPS)]
    yield
    os.sched_setaffinity(0, free)
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.fixture(scope="module")
def examined(busy_core: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examined]:
    """Return an examiner on the busy core."""
    found = Examined(write_course(tmp_path_factory.mktemp("busy"), tests=TESTS, key=KEY, settings=SETTINGS))
    with found.process:
        yield found


def test_slow_program_under_load(examined: Examined) -> None:
    """It computes for 0.9 s, which takes about 12 s here: more than the submission has."""
    score = examined.score(SLOW.format(0.3))
    assert statuses(score) == {"test_once": "passed", "test_twice": "passed"}
    assert score.wall_s > 4


def test_endless_program_under_load(examined: Examined) -> None:
    assert set(statuses(examined.score(SLOW.format(3))).values()) == {"timeout"}
    assert set(statuses(examined.score(ASLEEP, "test_once")).values()) == {"timeout"}
