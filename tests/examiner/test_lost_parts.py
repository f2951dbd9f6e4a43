"""A cell or statement that ends the process while it is loaded costs itself alone, and is named."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.course_of_texts import (
    NAME,
    Examined,
    examiner_fixture,
    handed_in,
    statuses,
    without_times,
    write_course,
)
from tests.support.replays import RECORDED, changed, replay_of
from tests.support.words_course import notebook
from viva.examiner.boxes.load import Loader
from viva.model import Tier
from viva.model.errors import BoxDied, BoxError, BoxTimeout
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.process.settings import BoxOptions
from viva.sandbox.guest.transport.message_types import NextCell, Request

TESTS: Final = "def test_one(student):\n    assert student.one() == 1\n"
ONE: Final = "def one(): return 1"
EXIT: Final = "import os\nos._exit(3)"
CRASH: Final = "import ctypes\nctypes.string_at(0)"
KILLED: Final = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


examiner = examiner_fixture(tests=TESTS, key="", settings="limits: {load_s: 3, call_s: 1}\n")


def work(*sources: str) -> dict[str, str]:
    return {"a.ipynb": notebook(*sources)}


def grade(examiner: Examined, files: dict[str, str]) -> Graded:
    return examiner.grade(files, GradeOptions(notebook=True))


def cell_statuses(data: bytes) -> list[str]:
    return [cell["metadata"].get("viva", {}).get("status", "") for cell in json.loads(data)["cells"]]


@pytest.mark.parametrize("ends", [EXIT, CRASH, KILLED])
def test_cell_that_ends_process(examiner: Examined, ends: str) -> None:
    graded = grade(examiner, work("print('kept')", "1 / 0", ends, ONE))
    assert statuses(graded.score) == {"test_one": "passed"}
    assert cell_statuses(graded.notebook) == ["", "raised", "died", ""]
    [note] = [note for note in graded.score.notes if "was left out" in note]
    assert "cell 3 of a.ipynb" in note and "ended the Python process" in note


def test_definitions_of_cell_that_ends_process(examiner: Examined) -> None:
    graded = grade(examiner, work(f"import os\n{ONE}\nos._exit(3)"))
    assert statuses(graded.score) == {"test_one": "passed"}


def test_definition_that_ends_process(examiner: Examined) -> None:
    graded = grade(examiner, work("def two(): return 2\ntwo = __import__('os')._exit(3)", ONE))
    assert statuses(graded.score) == {"test_one": "passed"}


@pytest.mark.parametrize("ends", [EXIT, CRASH, f"{EXIT}\n{CRASH}"])
def test_statement_that_ends_process(examiner: Examined, ends: str) -> None:
    graded = grade(examiner, {"solution.py": f"{ends}\n{ONE}\n"})
    assert statuses(graded.score) == {"test_one": "passed"}
    assert any("solution.py line 2: was left out" in note for note in graded.score.notes)


def test_imported_statement_that_ends_process(examiner: Examined) -> None:
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

    def ask(self, request: Request, **limits: Any) -> Any:
        if not isinstance(request, NextCell):
            return {}
        if request.cell["number"] == 2 and not request.only_definitions:
            self.left_s -= self.seconds
            raise self.error
        return {"number": request.cell["number"], "status": "ok"}


@pytest.mark.parametrize(
    ("error", "seconds", "failures"),
    [(BoxDied("exit status 3"), 2.0, 2), (BoxDied("exit status 3"), 81.0, 1), (BoxTimeout("no answer"), 68.0, 1)],
)
def test_loads_share_the_time_of_one(tmp_path: Path, error: BoxError, seconds: float, failures: int) -> None:
    """A load is repeated as it was only if half of the time is left; then without the cell that ended the box."""
    assignment = write_course(tmp_path / "course", tests=TESTS, key="").assignment(NAME)
    loader, box = Loader(handed_in(work("1", "2", "3")), assignment, {}), _Box(error, seconds)
    for _ in range(failures):
        with pytest.raises(type(error)):
            loader.load(box.ask, box.read_left_s)
        assert loader.can_load_again(error, seconds, box.left_s)
    report = loader.load(box.ask, box.read_left_s)
    assert [cell["status"] for cell in report.cells["a.ipynb"]] == ["ok", "died", "ok"]
    assert report.problems[0].where == "cell 2 of a.ipynb"


def test_load_that_used_up_time(tmp_path: Path) -> None:
    assignment = write_course(tmp_path / "course", tests=TESTS, key="").assignment(NAME)
    loader, box = Loader(handed_in(work("1", "2")), assignment, {}), _Box(BoxDied("exit status 3"), 121.0)
    with pytest.raises(BoxDied):
        loader.load(box.ask, box.read_left_s)
    assert not loader.can_load_again(box.error, 121.0, box.left_s)


def test_call_log_of_lost_cell(examiner: Examined) -> None:
    files = work("x = 1", EXIT, ONE)
    graded = examiner.grade(files, RECORDED)
    with Examined(examiner.course, BoxOptions(Tier.T3, none=True)) as without:
        again = without.process.grade(replay_of(handed_in(files), graded.interceptor_output))
    assert changed(again) == [] and without_times(again.score) == without_times(graded.score)
