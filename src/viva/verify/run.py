"""Verify an assignment: points add up, and every known submission gets what it should, through the real path."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from viva.batch.local import Batch, Job
from viva.course import Assignment, Course
from viva.examine.parent import Graded, Wanted
from viva.model import Score, Tier
from viva.verify.expected import Known, known_submissions
from viva.verify.verdict import complaints, points_complaint


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was verified."""

    what: str
    complaints: tuple[str, ...]
    score: Score | None = None

    @property
    def holds(self) -> bool:
        """True when there is nothing to complain about."""
        return not self.complaints


def verify(course: Course, assignment: Assignment, tier: Tier, secret: bytes, workers: int = 0) -> Iterator[Finding]:
    """Grade everything whose verdict is known.

    Yields:
        A finding per known submission as it is graded, and one about the assignment's points.
    """
    known = {k.name: k for k in known_submissions(course, assignment)}
    jobs = [Job(Path(k.name), k.name, assignment, k.submission) for k in known.values()]
    points_said = False
    for job, graded in Batch(course, tier, secret, Wanted(), workers).run(jobs):
        if isinstance(graded, Exception):
            raise graded
        if not points_said:
            points_said = True
            complaint = points_complaint(assignment, graded.score.points)
            yield Finding("points", (complaint,) if complaint else ())
        yield _finding(known[job.name], graded)


def _finding(known: Known, graded: Graded) -> Finding:
    return Finding(known.name, tuple(complaints(known, graded.score)), graded.score)
