"""Examiners of this repository's own assignments, and its example submissions, for tests that train."""

from pathlib import Path
from typing import Final

from tests.support.course_of_texts import SECRET, best_tier
from viva.config import load_course
from viva.model import Score, Submission
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.submissions import open_submission

ROOT: Final = Path(__file__).parents[2]
COURSE: Final = load_course(ROOT)


def submissions_of(assignment: str) -> Path:
    """The folder of the example submissions."""
    return ROOT / "fixtures" / assignment / "submissions"


def accepted_of(assignment: str) -> list[str]:
    """Names of the examples that lose nothing."""
    return sorted(f"accepted/{path.name}" for path in (submissions_of(assignment) / "accepted").iterdir())


def example(assignment: str, name: str) -> Submission:
    """One example submission."""
    return open_submission(submissions_of(assignment) / name, name)


def examiner(assignment: str, options: BoxOptions | None = None) -> ExaminerProcess:
    """An examiner of an assignment, not started yet."""
    return ExaminerProcess(COURSE, COURSE.assignment(assignment), SECRET, options or BoxOptions(best_tier()))


def grade(process: ExaminerProcess, submission: Submission, *only: str) -> Score:
    """Grade a submission by these tests."""
    return process.grade(GradeRequest(submission, GradeOptions(only=only))).score
