"""Several `viva grade` at the same records: they share the class, and one that is lost costs nothing."""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import postgres
from tests.support.run_command import Viva
from tests.support.wait_until import wait_until
from tests.support.words_course import SLOW, hand_in
from viva.formats.results_json import load_results
from viva.records import Records

pytestmark = [pytest.mark.long, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kills processes")]
Start = Callable[..., "subprocess.Popen[str]"]
SIZE = 12
LOGS = """
    with open({log!r}, "a") as file:
        file.write(student.name() + "\\n")
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Of an empty database."""
    if request.param == "sqlite":
        yield "sqlite:///records.db"
    elif postgres.installed():
        with postgres.server() as place:
            yield place
    elif os.environ.get("VIVA_REQUIRED_TIERS"):
        pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
    else:
        pytest.skip("PostgreSQL is not installed")


@pytest.fixture
def course(own_course: Path, url: str, tmp_path: Path) -> Path:
    """A course whose grader writes down the name of each submission that it asks."""
    with (own_course / "grader.yaml").open("a") as file:
        file.write(f"records: {url}\n")
    tests = own_course / "graders/words/test_words.py"
    mark = '    """Numbers are added up."""\n'
    assert mark in tests.read_text()
    tests.write_text(tests.read_text().replace(mark, mark + LOGS.format(log=str(tmp_path / "asked"))))
    for index in range(SIZE):
        hand_in(tmp_path / "class" / f"s{index:02}", f"{SLOW}\n\ndef name():\n    return 's{index:02}'\n")
    return own_course


def asked(folder: Path) -> Counter[str]:
    """How often each submission was asked."""
    path = folder / "asked"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def test_three_graders_share_a_class_and_one_of_them_is_killed(start: Start, course: Path, tmp_path: Path) -> None:
    folders = [tmp_path / f"out-{number}" for number in range(3)]
    graders = [start("grade", tmp_path / "class", "-o", folder, "--workers", 1) for folder in folders]
    wait_until(lambda: len(asked(tmp_path)) >= 4)
    os.killpg(graders[0].pid, signal.SIGKILL)
    said = [grader.communicate(timeout=600) for grader in graders]
    assert [grader.returncode for grader in graders[1:]] == [0, 0], said
    times = asked(tmp_path)
    assert len(times) == SIZE and sum(times.values()) <= SIZE + 1, "only what the killed one was at is asked again"
    for folder in folders[1:]:
        results = [load_results(path) for path in folder.rglob("results.json")]
        assert len(results) == SIZE and all(each.score == 9 and each.extra_data.complete for each in results)


def lose(url: str, course: Path) -> None:
    """Make the records unusable while they are in use."""
    if url.startswith("postgresql"):
        postgres.stop(url)
        return
    with Records.open(url, course) as records, records.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE scores RENAME TO gone")


def find(url: str, course: Path) -> None:
    """Let them be as before."""
    if url.startswith("postgresql"):
        postgres.start(url)
        return
    with Records.open(url, course) as records, records.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE gone RENAME TO scores")


def test_records_that_are_lost_in_the_middle_cost_no_result(
    viva: Viva, start: Start, course: Path, url: str, tmp_path: Path
) -> None:
    """The run ends with a sentence; what it has graded is on disk, and the next run grades the rest."""
    grader = start("grade", tmp_path / "class", "-o", tmp_path / "out", "--workers", 1)
    wait_until(lambda: len(asked(tmp_path)) >= 3)
    lose(url, course)
    _, said = grader.communicate(timeout=600)
    assert grader.returncode == 1 and "Traceback" not in said, said
    last = said.strip().splitlines()[-1]
    assert "was graded and not kept: The records cannot be " in last
    assert last.endswith("Run the command again when the records can be written: it grades the rest.")
    written = [load_results(path) for path in (tmp_path / "out").rglob("results.json")]
    complete = [each for each in written if each.extra_data.complete]
    assert {each.score for each in complete} == {9} and 3 <= len(complete) <= len(asked(tmp_path))

    before = asked(tmp_path)
    find(url, course)
    again = viva("grade", tmp_path / "class", "-o", tmp_path / "out")
    assert again.status == 0
    assert sum((asked(tmp_path) - before).values()) == SIZE - len(complete) + 1
