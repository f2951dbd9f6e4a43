"""Grading that is killed at any moment goes on where it was: nothing is lost, nothing is graded twice."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.run_command import Viva, below, still_there
from tests.support.words_course import SLOW, hand_in
from viva.formats.results_json import load_results
from viva.records import Records

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
Start = Callable[..., "subprocess.Popen[str]"]
SIZE = 8


@pytest.fixture
def some_class(own_course: Path, tmp_path: Path) -> Path:
    """Submissions of half a second each."""
    with (own_course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    for index in range(SIZE):
        hand_in(tmp_path / "class" / f"s{index:02}", SLOW.replace("0.25", "0.12"))
    return tmp_path / "class"


def graded(course: Path) -> list[str]:
    """The name of each score that was kept."""
    if not (course / "records.db").exists():
        return []
    with Records.open("sqlite:///records.db", course) as records:
        return [f"s{n:02}" for n in range(SIZE) for _ in records.history(f"s{n:02}")]


def ours(command: int) -> list[int]:
    """The command, its examiners, their keepers and fork servers; not the boxes, which students may end as well."""
    found, level = [command], [command]
    for _ in range(3):
        level = [child for pid in level for child in children(pid)]
        found += level
    return found


def children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize(
    "seed",
    [pytest.param(0, marks=pytest.mark.long), *(pytest.param(n, marks=pytest.mark.nightly) for n in range(1, 6))],
)
def test_killed_again_and_again(viva: Viva, start: Start, some_class: Path, own_course: Path, seed: int) -> None:
    draw = random.Random(seed)
    kills = 0
    while len(graded(own_course)) < SIZE and kills < 6:
        process = start("grade", some_class, "-o", "out", "--workers", 2)
        time.sleep(draw.uniform(0.8, 2.5))
        everything = below(process.pid)
        victims = [process.pid] if draw.random() < 0.5 else ours(process.pid)
        for victim in draw.sample(victims, 1):
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if process.pid in victims[:1] and len(victims) == 1:
            process.wait()
            assert not still_there(everything, 10)
        else:
            process.communicate(timeout=120)
        kills += 1
        names = graded(own_course)
        assert len(names) == len(set(names)), "graded twice"
    last = viva("grade", some_class, "-o", "out")
    assert last.status == 0
    assert sorted(graded(own_course)) == [f"s{n:02}" for n in range(SIZE)]
    found = [load_results(path) for path in Path("out").rglob("results.json")]
    assert len(found) == SIZE and all(r.extra_data.complete and r.score == 9 for r in found)
