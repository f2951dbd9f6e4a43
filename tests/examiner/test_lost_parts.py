"""A cell or statement that ends the process while it is loaded costs itself alone, and is named."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.course_of_texts import NAME, SECRET, best_tier, handed_in, statuses, without_times, write_course
from viva.config import load_course
from viva.examiner.boxes.load import Loader
from viva.model import Tier
from viva.model.errors import BoxDied, BoxError, BoxTimeout
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions

TESTS: Final = "def test_one(student):\n    assert student.one() == 1\n"
ONE: Final = "def one(): return 1"
EXIT: Final = "import os\nos._exit(3)"
CRASH: Final = "import ctypes\nctypes.string_at(0)"
KILLED: Final = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


def notebook(*sources: str) -> dict[str, str]:
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return {"a.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})}


@pytest.fixture(scope="module")
def examiner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExaminerProcess]:
    root = tmp_path_factory.mktemp("lost") / "course"
    settings = "limits: {load_s: 3, call_s: 1}\n"
    course = write_course(root, tests=TESTS, key="", settings=settings)
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier())) as process:
        yield process


def grade(examiner: ExaminerProcess, files: dict[str, str], **options: Any) -> Graded:
    return examiner.grade(GradeRequest(handed_in(files), GradeOptions(notebook=True, **options)))


def cell_statuses(data: bytes) -> list[str]:
    return [cell["metadata"].get("viva", {}).get("status", "") for cell in json.loads(data)["cells"]]


@pytest.mark.parametrize("ends", [EXIT, CRASH, KILLED])
def test_a_cell_that_ends_the_process(examiner: ExaminerProcess, ends: str) -> None:
    graded = grade(examiner, notebook("print('kept')", "1 / 0", ends, ONE))
    assert statuses(graded.score) == {"test_one": "passed"}
    assert cell_statuses(graded.notebook) == ["", "raised", "died", ""]
    [note] = [note for note in graded.score.notes if "was left out" in note]
    assert "cell 3 of a.ipynb" in note and "ended the Python process" in note


def test_the_definitions_of_such_a_cell_are_kept(examiner: ExaminerProcess) -> None:
    graded = grade(examiner, notebook(f"import os\n{ONE}\nos._exit(3)"))
    assert statuses(graded.score) == {"test_one": "passed"}


def test_definitions_that_end_the_process_as_well(examiner: ExaminerProcess) -> None:
    graded = grade(examiner, notebook("def two(): return 2\ntwo = __import__('os')._exit(3)", ONE))
    assert statuses(graded.score) == {"test_one": "passed"}


@pytest.mark.parametrize("ends", [EXIT, CRASH, f"{EXIT}\n{CRASH}"])
def test_a_statement_that_ends_the_process(examiner: ExaminerProcess, ends: str) -> None:
    graded = grade(examiner, {"solution.py": f"{ends}\n{ONE}\n"})
    assert statuses(graded.score) == {"test_one": "passed"}
    assert any("solution.py line 2: was left out" in note for note in graded.score.notes)


def test_a_statement_of_an_imported_file_that_ends_the_process(examiner: ExaminerProcess) -> None:
    graded = grade(examiner, {"solution.py": "from parts import *\n", "parts.py": f"{ONE}\n{CRASH}\n"})
    assert statuses(graded.score) == {"test_one": "passed"}
    assert any("parts.py line 3: was left out" in note for note in graded.score.notes)


class _Box:
    """A box whose second cell ends it after some seconds, by an error."""

    def __init__(self, error: BoxError, seconds: float) -> None:
        self.error, self.seconds = error, seconds
        self.left_s = 120.0

    def read_left_s(self) -> float:
        return self.left_s

    def ask(self, op: str, **fields: Any) -> Any:
        if op == "next_cell" and fields["cell"]["number"] == 2 and not fields["only_definitions"]:
            self.left_s -= self.seconds
            raise self.error
        return {"number": fields["cell"]["number"], "status": "ok"} if op == "next_cell" else {}


@pytest.mark.parametrize(
    ("error", "seconds", "failures"),
    [(BoxDied("exit status 3"), 2.0, 2), (BoxDied("exit status 3"), 81.0, 1), (BoxTimeout("no answer"), 68.0, 1)],
)
def test_all_loads_share_the_time_of_one(tmp_path: Path, error: BoxError, seconds: float, failures: int) -> None:
    """A load is repeated as it was only if half of the time is left; then without the cell that ended the box."""
    assignment = write_course(tmp_path / "course", tests=TESTS, key="").assignment(NAME)
    loader, box = Loader(handed_in(notebook("1", "2", "3")), assignment, {}), _Box(error, seconds)
    for _ in range(failures):
        with pytest.raises(type(error)):
            loader.load(box.ask, box.read_left_s)
        assert loader.can_load_again(error, seconds, box.left_s)
    report = loader.load(box.ask, box.read_left_s)
    assert [cell["status"] for cell in report.cells["a.ipynb"]] == ["ok", "died", "ok"]
    assert report.problems[0].where == "cell 2 of a.ipynb"


def test_a_load_that_used_up_the_time_is_not_repeated(tmp_path: Path) -> None:
    assignment = write_course(tmp_path / "course", tests=TESTS, key="").assignment(NAME)
    loader, box = Loader(handed_in(notebook("1", "2")), assignment, {}), _Box(BoxDied("exit status 3"), 121.0)
    with pytest.raises(BoxDied):
        loader.load(box.ask, box.read_left_s)
    assert not loader.can_load_again(box.error, 121.0, box.left_s)


def test_a_call_log_gives_the_same_score(examiner: ExaminerProcess) -> None:
    work = handed_in(notebook("x = 1", EXIT, ONE))
    graded = examiner.grade(GradeRequest(work, GradeOptions(call_log=True)))
    course = load_course(Path(examiner.assignment.folder).parents[1])
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(Tier.T3, replay_only=True)) as without:
        again = without.grade(GradeRequest(work, GradeOptions(), replayed=graded.call_log))
    assert again.changed == [] and without_times(again.score) == without_times(graded.score)
