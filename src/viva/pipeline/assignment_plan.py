"""What must be known of an assignment here before its submissions are graded elsewhere."""

from dataclasses import dataclass

from viva.config import Assignment, Course
from viva.model import Entry, Tier
from viva.model.grade_request import Wanted
from viva.model.seeds import Seeds
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.records.grading_identity import made_with


@dataclass(frozen=True, slots=True)
class Plan:
    """One assignment: what a worker's course must be, and which tests there are."""

    made_with: str
    seed_id: str
    notebooks: bool
    """Whether one of the class's submissions may hold notebooks."""
    _examiner: ExaminerProcess
    """Closed; it remembers its tests."""

    @classmethod
    def of(
        cls, course: Course, assignment: Assignment, secret: bytes, wanted: list[Wanted], *, notebooks: bool
    ) -> "Plan":
        """Collect the assignment's tests, once, by an examiner that has no box and so asks nobody.

        Args:
            wanted: all that is asked of submissions; the tests that it names must exist.

        Raises:
            UsageError: the course is wrong, or has no test of that name.
            GraderError: the examiner ended before it was ready.
        """
        with ExaminerProcess(course, assignment, Tier.T0, secret, boxes=False) as examiner:
            if assignment.suite is None:  # an existing suite is read in a box, so that only workers know its tests
                examiner.open()
                for each in wanted:
                    examiner.find(each)
        seed_id = Seeds(secret, assignment.name, assignment.version).id
        return cls(made_with(assignment, course.root), seed_id, notebooks, examiner)

    def open_entries(self, wanted: Wanted) -> tuple[Entry, ...]:
        """An entry for each test, still open."""
        return self._examiner.pending(wanted, [])

    def needs_gpu(self, wanted: Wanted) -> bool:
        """Whether a test that is asked for needs a GPU."""
        return any("gpu" in entry.needs for entry in self._examiner.tests if wanted.asks(entry))
