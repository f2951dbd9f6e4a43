"""A submission whose examiner is killed in the middle of a training gets, graded again, what it gets without that."""

from pathlib import Path

import pytest

from tests.support.course_of_texts import SECRET, best_tier, without_times
from viva.config import load_course
from viva.model.grade_request import Graded, GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.submissions import open_submission

ROOT = Path(__file__).parents[2]
NAME = "transfer_learning"
FOLDER = ROOT / "fixtures" / NAME / "submissions"
SHORT = ["test_pretrained_is_ahead_after_one_epoch", "test_pretrained_is_ahead_at_the_end"]


@pytest.mark.training
@pytest.mark.parametrize("name", ["accepted/einsum_by_hand", "wrong/base_not_loaded"])
def test_the_verdict_is_that_of_an_uninterrupted_run(name: str, tmp_path: Path) -> None:
    course = load_course(ROOT)
    process = ExaminerProcess(course, course.assignment(NAME), SECRET, BoxOptions(best_tier()))
    told: list[str] = []

    def graded(*, kept: Path | None, kill: bool = False) -> Graded:
        def on_progress(text: str) -> None:
            told.append(text)
            if kill and any(tmp_path.iterdir()):
                process.interrupt()

        told.clear()
        submission = open_submission(FOLDER / name, name)
        return process.grade(
            GradeRequest(submission, GradeOptions(only=tuple(SHORT)), checkpoints=kept), on_progress=on_progress
        )

    with process:
        whole = graded(kept=None)
        cut = graded(kept=tmp_path, kill=True)
        again = graded(kept=tmp_path)
    # A machine on which no training takes two seconds has nothing to keep, and comes to the end.
    assert cut.finished or any("goes on after epoch" in text for text in told)
    assert without_times(again.score) == without_times(whole.score) and not again.remarks
