"""Create the queue for an assignment whose scores are in the records, or for a folder of results."""

from pathlib import Path

from viva.config import Assignment, Course
from viva.config.rubric import Rubric
from viva.config.rubric_file import load_rubric
from viva.model.errors import UsageError
from viva.plugins.records.store import Records
from viva.plugins.review.answer_sources import AnswerSource, FolderSource, RecordsSource
from viva.plugins.review.decision_log import DecisionLog
from viva.plugins.review.queue import ReviewQueue


def queue_of_records(course: Course, name: str, records: Records) -> ReviewQueue:
    """Create the queue for an assignment whose scores are in the records.

    Raises:
        UsageError: there is no such assignment, or it has no rubric.
    """
    assignment = course.assignment(name)
    return _queue(assignment, RecordsSource(records, assignment, course.withheld), records)


def queue_of_folder(course: Course, folder: Path, submissions: Path, name: str | None, records: Records) -> ReviewQueue:
    """Create the queue for a folder that `viva grade -o` wrote.

    Grades are stored in the records, and written into the results of the folder.

    Args:
        course: the course of the assignment.
        folder: what `viva grade -o` wrote.
        submissions: the folder in which grading was started; the results name their submissions relative to it.
        name: the assignment; None for the only one in the folder.
        records: where decisions are stored.

    Raises:
        UsageError: there is no such assignment, or it has no rubric.
    """
    assignment = course.assignment(name or _assignment_of(folder))
    source = FolderSource(folder, submissions, assignment, course.withheld, only_assignment=name is None)
    return _queue(assignment, source, records)


def _queue(assignment: Assignment, source: AnswerSource, records: Records) -> ReviewQueue:
    return ReviewQueue(assignment, _rubric(assignment), source, DecisionLog(records, assignment.name))


def _rubric(assignment: Assignment) -> Rubric:
    rubric = load_rubric(assignment.folder / "rubric.yaml")
    if not rubric.questions and not assignment.answers:
        raise UsageError(
            f"{assignment.folder / 'rubric.yaml'} has no questions, so there is nothing by which prose is graded; "
            "part 13 of docs/author-guide.md shows how a rubric is written."
        )
    return rubric


def _assignment_of(folder: Path) -> str:
    """Return the assignment of the first result; `FolderSource` refuses results of others."""
    from viva.formats.results_json import load_results

    file = next((path for path in sorted(folder.rglob("results.json")) if path.is_file()), None)
    if file is None:
        raise UsageError(f"{folder} holds no results.json; give the folder that `viva grade -o` wrote.")
    return load_results(file).extra_data.assignment
