"""Grade many submissions of this repository's course through the real path, in one batch."""

from pathlib import Path

from tests.support.course_of_texts import best_tier
from tests.support.editable_submission import HandIn
from viva.config import Course
from viva.model import Score, Status
from viva.model.grade_request import GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.submissions import open_submission

ROOT = Path(__file__).parents[2]


def accepted(assignment: str) -> list[Path]:
    """The fixtures that lose nothing."""
    return sorted(p for p in (ROOT / "fixtures" / assignment / "submissions" / "accepted").iterdir() if p.is_dir())


def graded(course: Course, works: dict[str, tuple[str, HandIn]], folder: Path, workers: int = 0) -> dict[str, Score]:
    """Grade submissions; what has the same files is graded once."""
    jobs: dict[tuple[str, frozenset[tuple[str, bytes]]], Job] = {}
    for number, (assignment, work) in enumerate(works.values()):
        same = (assignment, frozenset(work.files.items()))
        if same not in jobs:
            path = folder / str(number)
            for name, data in work.files.items():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                (path / name).write_bytes(data)
            jobs[same] = Job(path, str(path), course.assignment(assignment), open_submission(path, str(path)))
    scores = {}
    batch = LocalPool(course, b"a secret", BoxOptions(best_tier()), GradeOptions(training=False), workers)
    for job, result in batch.run(list(jobs.values())):
        if isinstance(result, Exception):
            raise result
        scores[job.name] = result.score
    return {
        name: scores[jobs[(assignment, frozenset(work.files.items()))].name]
        for name, (assignment, work) in works.items()
    }


def lost(score: Score) -> str:
    """What a score has lost, for a person to read."""
    missed = [e for e in score.entries if not e.status.is_open and e.status is not Status.PASSED]
    first = " ".join(missed[0].message.split())[:300] if missed else ""
    notes = " ".join(" ".join(score.notes).split())[:600]
    faults = [e.staff_message for e in score.entries if e.status is Status.GRADER_ERROR][:1]
    return f"{', '.join(e.test_id.split('::')[-1] for e in missed[:9])}; {first!r}; notes {notes!r} {faults}"
