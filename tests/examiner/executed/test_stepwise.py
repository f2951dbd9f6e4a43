"""Notebooks that end their box while they are loaded: what was run before is kept, and costs nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from examined import NAME, SECRET, best_tier, handed_in, statuses, without_times, write_course

from viva.config import load_course
from viva.examiner.executed.stepwise import ENDED, HUNG, run_stepwise
from viva.model import Tier
from viva.model.errors import BoxUnavailable
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions

TESTS = "def test_one(student):\n    assert student.one() == 1\n"
BEFORE = ["print('kept')\nx = 41", "x + 1", "1 / 0"]
AFTER = ["print('never')"]


def notebook(*sources: str) -> dict[str, str]:
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return {"a.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})}


@pytest.fixture(scope="module")
def examiner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExaminerProcess]:
    root = tmp_path_factory.mktemp("stepwise") / "course"
    course = write_course(root, tests=TESTS, key="", settings="limits: {load_s: 1, call_s: 1}\n")
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier())) as process:
        yield process


def told(data: bytes) -> list[tuple[str, Any]]:
    """Status and first output of each code cell."""
    cells = json.loads(data)["cells"]
    return [
        (cell["metadata"].get("viva", {}).get("status", ""), next(iter(cell["outputs"]), {}).get("text"))
        for cell in cells
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "ends", ["import os\nos._exit(3)", "import os, signal\nprint('lost')\nos.kill(os.getpid(), signal.SIGKILL)"]
)
def test_what_came_before_the_end_is_kept(examiner: ExaminerProcess, ends: str) -> None:
    graded = examiner.grade(GradeRequest(handed_in(notebook(*BEFORE, ends, *AFTER)), GradeOptions(notebook=True)))
    assert told(graded.notebook) == [
        ("", "kept\n"), ("", None), ("raised", None), ("died", ENDED), ("skipped", None)
    ]  # fmt: skip
    assert json.loads(graded.notebook)["cells"][1]["outputs"][0]["data"] == {"text/plain": "42"}
    assert "ended the Python process" in graded.score.notes[0] and statuses(graded.score) == {"test_one": "error"}


@pytest.mark.long
def test_a_cell_that_cannot_be_interrupted_ends_it_too(examiner: ExaminerProcess) -> None:
    hangs = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\nwhile True: pass"
    graded = examiner.grade(GradeRequest(handed_in(notebook(*BEFORE, hangs, *AFTER)), GradeOptions(notebook=True)))
    assert told(graded.notebook)[3:] == [("died", HUNG), ("skipped", None)]


def test_a_call_log_knows_nothing_of_it_and_gives_the_same_score(examiner: ExaminerProcess) -> None:
    work = handed_in(notebook(*BEFORE, "import os\nos._exit(3)"))
    plain = examiner.grade(GradeRequest(work, GradeOptions(call_log=True)))
    wanted = examiner.grade(GradeRequest(work, GradeOptions(call_log=True, notebook=True)))
    assert without_times(plain.score) == without_times(wanted.score)
    course = load_course(Path(examiner.assignment.folder).parents[1])
    with ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(Tier.T3, replay_only=True)) as without:
        again = without.grade(GradeRequest(work, GradeOptions(notebook=True), replayed=wanted.call_log))
    assert again.changed == [] and without_times(again.score) == without_times(wanted.score)
    assert again.notebook == b"", "a call log holds no more than what was said"


def test_the_next_submission_is_graded_as_ever(examiner: ExaminerProcess) -> None:
    graded = examiner.grade(
        GradeRequest(handed_in(notebook("def one(): return 1", "one()")), GradeOptions(notebook=True))
    )
    assert statuses(graded.score) == {"test_one": "passed"} and told(graded.notebook) == [("", None)] * 2


def test_without_a_box_nothing_is_kept_and_nothing_raised(examiner: ExaminerProcess) -> None:
    class NoBoxes:
        def take(self) -> Any:
            raise BoxUnavailable("there is none")

    report = run_stepwise(NoBoxes(), handed_in(notebook("1")), examiner.assignment, {})
    assert report.cells == {} and report.loaded == []
