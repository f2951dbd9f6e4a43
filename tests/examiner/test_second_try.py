"""What a busy machine may have spoiled is asked once more, alone, before it costs a point.

Tier T0 lets a program see this machine's files, so that it can behave differently at its second try.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.course_of_texts import NAME, SECRET, handed_in, statuses, write_course
from tests.support.words_course import notebook
from viva.examiner.turns import Turns
from viva.model import Score, Tier
from viva.model.grade_request import GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions

TESTS = """
from viva.grading import agree

def test_first(student, key):
    agree(student.first(), key.first())

def test_second(student, key):
    agree(student.second(), key.second())

def test_third(student, key):
    agree(student.third(), key.third())

def test_fourth(student, key):
    agree(student.fourth(), key.fourth())

def test_fifth(student, key):
    agree(student.fifth(), key.fifth())
"""
NAMES = ("first", "second", "third", "fourth", "fifth")
KEY = "".join(f"def {name}(): return 1\n" for name in NAMES)
SETTINGS = "limits: {load_s: 1, call_s: 0.5, test_s: 1, submission_s: 10, output_kib: 16}\n"
HANG, DIE = "while True: pass", "import os; os._exit(3)"


class Tried:
    """A submission that counts, in a file, how often each of its functions is called, and how often it is loaded."""

    def __init__(self, process: ExaminerProcess, folder: Path) -> None:
        self._process, self._folder = process, folder

    def source(self, **spoiled: tuple[int, str]) -> str:
        """Return a program whose functions do something else at their first calls: name = (how many, what)."""
        lines = [
            "def tried(name):",
            f"    with open({str(self._folder)!r} + '/' + name, 'a+') as file:",
            "        file.write('x')",
            "        return file.tell()",
        ]
        for name in ("load", *NAMES):
            times, instead = spoiled.get(name, (0, "pass"))
            indent = "    " if name != "load" else ""
            lines += [f"def {name}():"] if indent else []
            lines += [f"{indent}if tried({name!r}) <= {times}:", f"{indent}    {instead}"]
            lines += ["    return 1"] if indent else []
        return "\n".join(lines) + "\n"

    def score(self, **spoiled: tuple[int, str]) -> Score:
        """Grade such a program."""
        return self.score_of(self.source(**spoiled))

    def score_of(self, source: str) -> Score:
        """Grade a program."""
        return self._process.grade(GradeRequest(handed_in(source))).score

    def counted(self) -> list[Path]:
        """Return the files in which calls are counted."""
        return sorted(self._folder.iterdir())

    def times(self, name: str) -> int:
        """Return how often a function was called."""
        return len((self._folder / name).read_text("utf-8"))


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExaminerProcess]:
    """Return an examiner whose boxes have no isolation layers."""
    course = write_course(tmp_path_factory.mktemp("tries"), tests=TESTS, key=KEY, settings=SETTINGS)
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(Tier.T0)) as found:
        yield found


@pytest.fixture
def tried(process: ExaminerProcess, tmp_path: Path) -> Tried:
    return Tried(process, tmp_path)


@pytest.mark.parametrize(
    "instead", [HANG, DIE, pytest.param("import time; time.sleep(60)", marks=pytest.mark.long), "raise TimeoutError"]
)
def test_second_try_that_passes(tried: Tried, instead: str) -> None:
    found = statuses(tried.score(first=(1, instead), third=(1, instead)))
    lost = "error" if "raise" in instead else "passed"  # an exception has no cause outside of the program
    assert found == {
        "test_first": lost, "test_second": "passed", "test_third": lost, "test_fourth": "passed", "test_fifth": "passed"
    }  # fmt: skip
    # What answers is called a second time with the same arguments.
    assert tried.times("second") == 2 and tried.times("first") == (1 if lost == "error" else 3)


@pytest.mark.parametrize(("instead", "status"), [pytest.param(HANG, "timeout", marks=pytest.mark.long), (DIE, "error")])
def test_second_try_that_fails(tried: Tried, instead: str, status: str) -> None:
    found = statuses(tried.score(**dict.fromkeys(NAMES, (99, instead))))
    assert set(found.values()) == {status}
    assert [tried.times(name) for name in NAMES] == [2, 2, 2, 1, 1]


@pytest.mark.slow
def test_second_try_waits_unless_it_slept(process: ExaminerProcess, tried: Tried) -> None:
    """Sleeping takes as long on any machine, so a sleeping program must not make a class wait for its second try."""
    others = Turns()
    try:
        for instead, waits in (("import time; time.sleep(60)", False), (HANG, True)):
            source = tried.source(first=(1, instead))
            for count in tried.counted():
                count.unlink()
            lines: list[str] = []
            with contextlib.ExitStack() as running:
                running.enter_context(others.shared(lambda _: None))

                def told(line: str, running: contextlib.ExitStack = running, lines: list[str] = lines) -> None:
                    lines.append(line)
                    running.close()  # the other test has ended; a test of another process may wait for it as well

                score = process.grade(GradeRequest(handed_in(source)), on_progress=told).score
            assert statuses(score)["test_first"] == "passed" and tried.times("first") == 3
            assert any("waiting until other tests have ended" in line for line in lines) == waits
    finally:
        others.close()


def test_no_second_try_after_output_limit(tried: Tried) -> None:
    found = statuses(tried.score(first=(99, "import sys; [sys.stdout.write('x' * 2**20) for _ in range(1000)]")))
    assert found["test_first"] == "error" and tried.times("first") == 1


TICKS = """
import time
def burn(seconds):
    for tick in range(round(10 * seconds)):
        end = time.thread_time() + 0.1
        while time.thread_time() < end: pass
        with open({!r}, "a") as file: file.write("x")
"""


def test_failed_loads_share_time_of_one(process: ExaminerProcess, tmp_path: Path) -> None:
    """A second load had the whole time again, so that it ran to its end a second time."""
    ticks = tmp_path / "ticks"
    sources = [TICKS.format(str(ticks)), "burn(0.8)", "burn(0.8)", "import os; os._exit(3)"]
    process.grade(GradeRequest(handed_in({"work.ipynb": notebook(*sources)})))
    assert len(ticks.read_text()) < 2 * 16, "the second load came to its end"


def test_files_share_time_of_one_load(process: ExaminerProcess, tmp_path: Path) -> None:
    ticks = TICKS.format(str(tmp_path / "ticks"))
    files = {f"part_{name}.py": f"{ticks}burn(0.8)\ndef {name}(): return 1\n" for name in NAMES}
    score = process.grade(GradeRequest(handed_in(files))).score
    assert [*statuses(score).values()].count("passed") == 2
    assert sum("did not finish in time" in note or "used up its time" in note for note in score.notes) == 3


@pytest.mark.parametrize(("times", "status"), [(1, "passed"), (99, "failed")])
def test_missing_names_after_stopped_load(tried: Tried, times: int, status: str) -> None:
    source = tried.source(load=(times, HANG))
    definition = source[source.index("def first") : source.index("def second")]
    after_hanging = f"    {HANG}\nelse:\n    first = lambda: 1\n"
    score = tried.score_of(source.replace(definition, "").replace(f"    {HANG}\n", after_hanging))
    assert statuses(score)["test_first"] == status and statuses(score)["test_second"] == "passed"
    assert tried.times("load") == 2
    assert any("did not finish in time" in note for note in score.notes) is (status == "failed")
