"""Grading that is killed, or several commands at the same records: nothing is lost, nothing is graded twice."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import postgres
from tests.support.run_command import Viva, below, scores_in, still_there
from tests.support.wait_until import wait_until
from tests.support.words_course import SLOW, TESTS_FILE, edit, hand_in
from viva.formats.results_json import load_results
from viva.plugins.records.store import Records

pytestmark = [pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")]
Start = Callable[..., "subprocess.Popen[str]"]
SIZE = 8
NAMES = [f"s{index:02}" for index in range(SIZE)]
SCORES = dict.fromkeys(NAMES, 9)


# --- one command that is killed


def recorded_submissions(course: Path) -> list[str]:
    """The name of each score that was kept."""
    if not (course / "records.db").exists():
        return []
    with Records.open("sqlite:///records.db", course) as records:
        return [name for name in NAMES for _ in records.history(name)]


def own_processes(command: int) -> list[int]:
    """The command, its examiners, their keepers and fork servers; not the boxes, which students may end as well."""
    processes, level = [command], [command]
    for _ in range(3):
        level = [child for pid in level for child in children(pid)]
        processes += level
    return processes


def children(parent: int) -> list[int]:
    pids = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                pids.append(int(stat.parent.name))
    return pids


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(1, 6))])
def test_killed_again_and_again(viva: Viva, start: Start, keeping: Path, seed: int) -> None:
    for name in NAMES:
        hand_in(Path("class") / name, SLOW.replace("0.25", "0.12"))
    rng = random.Random(seed)
    kills = 0
    while len(recorded_submissions(keeping)) < SIZE and kills < 6:
        process = start("grade", "class", "-o", "out", "--workers", 2)
        time.sleep(rng.uniform(0.8, 2.5))
        everything = below(process.pid)
        victims = [process.pid] if rng.random() < 0.5 else own_processes(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(rng.choice(victims), signal.SIGKILL)
        process.communicate(timeout=120)
        if victims == [process.pid]:
            assert not still_there(everything, 10)
        kills += 1
        names = recorded_submissions(keeping)
        assert len(names) == len(set(names)), "graded twice"
    assert viva("grade", "class", "-o", "out").status == 0
    assert sorted(recorded_submissions(keeping)) == NAMES
    assert scores_in("out") == SCORES
    assert all(load_results(path).extra_data.complete for path in Path("out").rglob("results.json"))


# --- several commands

LOG = """
    with open({log!r}, "a") as file:
        file.write(student.name() + "\\n")
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Of an empty database."""
    if request.param == "sqlite":
        yield "sqlite:///records.db"
    elif postgres.installed():
        with postgres.server() as address:
            yield address
    elif os.environ.get("VIVA_REQUIRED_TIERS"):
        pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
    else:
        pytest.skip("PostgreSQL is not installed")


@pytest.fixture
def logging_course(own_course: Path, url: str) -> Path:
    """A course whose grader writes down the name of each submission that it asks."""
    with (own_course / "grader.yaml").open("a") as file:
        file.write(f"records: {url}\n")
    docstring = '    """Numbers are added up."""\n'
    edit(own_course / TESTS_FILE, docstring, docstring + LOG.format(log=str(Path("asked").absolute())))
    for name in NAMES:
        hand_in(Path("class") / name, f"{SLOW}\n\ndef name():\n    return {name!r}\n")
    return own_course


def count_asked() -> Counter[str]:
    """How often each submission was asked."""
    return Counter(Path("asked").read_text().split()) if Path("asked").exists() else Counter()


def test_three_graders_share_a_class(start: Start, logging_course: Path) -> None:
    """One of them is killed; only what it was at is asked again."""
    folders = [f"out-{number}" for number in range(3)]
    graders = [start("grade", "class", "-o", folder, "--workers", 1) for folder in folders]
    wait_until(lambda: len(count_asked()) >= 3)
    os.killpg(graders[0].pid, signal.SIGKILL)
    said = [grader.communicate(timeout=600) for grader in graders]
    assert [grader.returncode for grader in graders[1:]] == [0, 0], said
    times = count_asked()
    assert len(times) == SIZE and sum(times.values()) <= SIZE + 1
    for folder in folders[1:]:
        assert scores_in(folder) == SCORES
        assert all(load_results(path).extra_data.complete for path in Path(folder).rglob("results.json"))


def make_unusable(url: str, course: Path) -> None:
    if url.startswith("postgresql"):
        postgres.stop(url)
    else:
        _run_sql(course, "ALTER TABLE scores RENAME TO gone")


def make_usable(url: str, course: Path) -> None:
    if url.startswith("postgresql"):
        postgres.start(url)
    else:
        _run_sql(course, "ALTER TABLE gone RENAME TO scores")


def _run_sql(course: Path, statement: str) -> None:
    with Records.open("sqlite:///records.db", course) as records, records.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_records_lost_in_the_middle(viva: Viva, start: Start, logging_course: Path, url: str) -> None:
    """The run ends with a sentence; what it has graded is on disk, and the next run grades the rest."""
    grader = start("grade", "class", "-o", "out", "--workers", 1)
    wait_until(lambda: len(count_asked()) >= 3)
    make_unusable(url, logging_course)
    _, said = grader.communicate(timeout=600)
    assert grader.returncode == 1 and "Traceback" not in said, said
    last = said.strip().splitlines()[-1]
    assert "was graded and not kept: The records cannot be " in last
    assert last.endswith("Run the command again when the records can be written: it grades the rest.")
    written = [load_results(path) for path in Path("out").rglob("results.json")]
    complete = [each for each in written if each.extra_data.complete]
    assert {each.score for each in complete} == {9} and 3 <= len(complete) <= len(count_asked())

    before = count_asked()
    make_usable(url, logging_course)
    again = viva("grade", "class", "-o", "out")
    assert again.status == 0
    assert sum((count_asked() - before).values()) == SIZE - len(complete) + 1
