"""Verify assignments: points add up, and every known submission gets what it should, through the real path."""

from collections.abc import Iterator, Sequence
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


def verify(
    course: Course, assignments: Sequence[Assignment], tier: Tier, secret: bytes, workers: int = 0
) -> Iterator[tuple[Assignment, list[Finding]]]:
    """Grade everything whose verdict is known, all assignments in one batch so that no core waits for another.

    Submissions that run into a time limit come first: while one worker waits for them, the others grade the rest.

    Yields:
        Each assignment in the order given, with a finding about its points and one per known submission.
    """
    known = {a.name: known_submissions(course, a) for a in assignments}
    jobs = [
        Job(Path(k.name), k.name, a, k.submission)
        for a in assignments
        for k in sorted(known[a.name], key=lambda k: k.verdict != "timeout")
    ]
    graded: dict[str, dict[str, Graded]] = {a.name: {} for a in assignments}
    left = list(assignments)
    for job, result in Batch(course, tier, secret, Wanted(), workers).run(jobs):
        if isinstance(result, Exception):
            raise result
        graded[job.assignment.name][job.name] = result
        while left and len(graded[left[0].name]) == len(known[left[0].name]):
            done = left.pop(0)
            yield done, _findings(done, known[done.name], graded[done.name])


def _findings(assignment: Assignment, known: Sequence[Known], graded: dict[str, Graded]) -> list[Finding]:
    complaint = points_complaint(assignment, graded[known[0].name].score.points)
    points = Finding("points", (complaint,) if complaint else ())
    return [points, *(_finding(k, graded[k.name]) for k in known)]


def _finding(known: Known, graded: Graded) -> Finding:
    return Finding(known.name, tuple(complaints(known, graded.score)), graded.score)
