"""A course that was imported, and the examiner of one of its assignments."""

from pathlib import Path

from tests.support.course_of_texts import SECRET, best_tier, handed_in
from viva.config import load_course
from viva.model import Entry, Score
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.suites.importing.new_course import ImportedAssignment, write_course


class ImportedCourse:
    """Grades submissions of the first assignment."""

    def __init__(self, root: Path, assignments: list[ImportedAssignment]) -> None:
        write_course(root, "old", assignments)
        self.course = load_course(root)
        self.assignment = self.course.assignment(self.course.assignments[0])
        self.process = ExaminerProcess(self.course, self.assignment, SECRET, BoxOptions(best_tier()))

    def score(self, files: dict[str, str], *, visible_only: bool = False) -> Score:
        """The score of a submission."""
        return self.process.grade(GradeRequest(handed_in(files), GradeOptions(visible_only=visible_only))).score


def points_by_question(score: Score) -> dict[str, float]:
    """Points of all entries of a question, by its number."""
    points: dict[str, float] = {}
    for entry in score.entries:
        points[entry.number] = points.get(entry.number, 0) + float(entry.earned)
    return points


def entry(score: Score, test_id: str) -> Entry:
    """One entry by its id."""
    return next(e for e in score.entries if e.test_id == test_id)
