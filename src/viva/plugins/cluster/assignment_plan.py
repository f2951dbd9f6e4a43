"""What must be known of an assignment here before a cluster grades its submissions."""

from dataclasses import dataclass

from viva.config import Assignment, Course
from viva.model import Entry, Tier
from viva.model.grade_request import GradeOptions
from viva.model.seeds import Seeds
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.records.conditions import hash_tests


@dataclass(frozen=True, slots=True)
class Plan:
    """One assignment: what a worker's course must match, and which tests there are."""

    made_with: str
    seed_id: str
    notebooks: bool
    """Whether one of the class's submissions may hold notebooks."""
    _examiner: ExaminerProcess
    """Closed; it remembers its tests."""

    @classmethod
    def of(
        cls,
        course: Course,
        assignment: Assignment,
        secret: bytes,
        options_of_all: list[GradeOptions],
        *,
        notebooks: bool,
    ) -> "Plan":
        """Collect the assignment's tests once, with an examiner that has no box and so asks no program.

        Args:
            course: the course of the assignment.
            assignment: the assignment whose tests are collected.
            secret: the course's secret.
            options_of_all: the options of all submissions; the tests that they name must exist.
            notebooks: whether one of the submissions may hold notebooks.

        Raises:
            UsageError: the course has an error, or has no test of that name.
            GraderError: the examiner ended before it was ready.
        """
        with ExaminerProcess(course, assignment, secret, BoxOptions(Tier.T0, none=True)) as examiner:
            if assignment.suite is None:  # an existing suite is read in a box, so only workers know its tests
                examiner.open()
                for each in options_of_all:
                    examiner.check_selection(each)
        seed_id = Seeds(secret, assignment.name, assignment.version).id
        return cls(hash_tests(assignment, course.root), seed_id, notebooks, examiner)

    def open_entries(self, options: GradeOptions) -> tuple[Entry, ...]:
        """Return a pending entry for each test."""
        return self._examiner.pending(options, [])

    def needs_gpu(self, options: GradeOptions) -> bool:
        """Return whether a selected test needs a GPU."""
        return any("gpu" in entry.needs for entry in self._examiner.tests if options.selects_entry(entry))
