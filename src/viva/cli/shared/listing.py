"""Turn the paths of a command line into jobs: single submissions, folders of students, or a platform's export."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click

from viva.cli.shared.options import choose_assignment
from viva.config import Course, keep_apart
from viva.formats import escaping
from viva.hooks import hooks
from viva.model import Attempt
from viva.model.errors import UsageError
from viva.pipeline.jobs import Job
from viva.sandbox.guest.loading.student_files import shorten_list
from viva.submissions import discover, open_submission
from viva.submissions.class_export import ClassExport
from viva.submissions.notebook_count import same_answers
from viva.submissions.unpacked_classes import UNPACKED

KEEP_BYTES_BELOW: Final = 50
"""Submissions of a class this small are read once; larger ones are read again when they are graded."""
_NAMED: Final = 5


@dataclass(slots=True)
class Listing:
    """What there is to grade, and the notes to print about it."""

    jobs: list[Job] = field(default_factory=list)
    found: ClassExport | None = None
    """The class, if the path is a platform's export."""

    @property
    def exit_status(self) -> int:
        """Return 1 if something in an export could not be matched: it may be a student's work."""
        return 1 if self.found is not None and self.found.unmatched else 0

    def say(self) -> None:
        """Print what in an export is not a submission, and who submitted nothing."""
        if self.found is None:
            return
        unmatched = [f"{each.name} ({each.reason})" for each in self.found.unmatched]
        missing = [student.name or student.id for student in self.found.missing]
        for what, names in (("not matched", unmatched), ("not submitted", missing)):
            if names:
                rest = f" and {len(names) - _NAMED} more (viva submissions lists all)" if len(names) > _NAMED else ""
                shown = ", ".join(escaping.line(name, characters=100) for name in names[:_NAMED])
                click.echo(f"viva: {what}: {shown}{rest}", err=True)


def list_jobs(
    course: Course,
    paths: Sequence[Path],
    assignment: str | None,
    *,
    is_class: bool,
    roster: Path | None,
    place: Path,
) -> Listing:
    """List everything that the paths name, with its assignment.

    Args:
        course: the course whose assignments are graded.
        paths: the paths on the command line.
        assignment: the one for all of them; None recognises each.
        is_class: the one path is a platform's export, also if it is an archive.
        roster: a class list.
        place: the folder below which an export is unpacked.

    Raises:
        UsageError: nothing is there, or an assignment cannot be recognised.
    """
    reader = hooks().viva_cohort_reader()
    if is_class or roster is not None or (len(paths) == 1 and reader.is_export(paths[0])):
        if len(paths) != 1:
            raise UsageError("A class is one path: what the platform exported, or the folder that holds all of it.")
        read: ClassExport = reader.read(paths[0], roster, place)
        found: ClassExport | None = read
        attempts = [replace(each, path=each.path.absolute()) for each in read.attempts]  # a regrade reads from there
        handed_in: list[tuple[Path, Attempt | None]] = [(attempt.path, attempt) for attempt in attempts]
    else:
        found = None
        handed_in = [(path, None) for path in discover(paths)]
    is_one = found is None and len(paths) == len(handed_in) == 1
    keep_apart(course.root, [path for path, _ in handed_in if not path.is_relative_to(place / UNPACKED)])
    few = len(handed_in) < KEEP_BYTES_BELOW
    jobs = [_job(course, assignment, path, attempt, keep=few, is_one=is_one) for path, attempt in handed_in]
    return Listing(jobs, found)


def _job(
    course: Course, assignment: str | None, path: Path, attempt: Attempt | None, *, keep: bool, is_one: bool
) -> Job:
    name = attempt.name if attempt is not None else str(path)
    submission = open_submission(path, name, withheld=course.withheld)
    chosen = choose_assignment(course, assignment, submission)
    if is_one and (rivals := same_answers(submission, chosen)):
        raise UsageError(
            f"{path}: {shorten_list(rivals)} answer the same questions, so they may be several students' submissions; "
            "pass --class to grade each by itself, or give the one file to grade."
        )
    return Job(
        path,
        name,
        chosen,
        submission if keep else None,
        may_hold_notebook=submission.may_hold_notebook,
        content_hash=submission.content_hash,
        attempt=attempt,
    )
