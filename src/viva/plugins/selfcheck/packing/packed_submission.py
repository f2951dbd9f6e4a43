"""Choose the files to submit, pack them, and run the public tests on the archive itself."""

import os
import tempfile
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course, SubmissionFiles
from viva.model import File, Score, Submission, Tier
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.selfcheck.packing.choosing import ChosenFiles, ExpectedFiles, choose, expected_files
from viva.plugins.selfcheck.packing.pack_archive import Folder
from viva.plugins.selfcheck.packing.pack_listing import listing
from viva.submissions import open_submission
from viva.submissions.content_checks import problem
from viva.submissions.file_names import safe
from viva.submissions.notebook_count import with_notebooks_counted
from viva.submissions.open_submission import no_such_path

MOST_MIB: Final = 64
"""The largest submission that grading accepts."""


def gather(path: Path, assignment: Assignment | None) -> tuple[ChosenFiles, tuple[File, ...]]:
    """Return the files of the folder to submit; without an assignment, those that any assignment might ask for.

    Raises:
        UsageError: there is nothing to submit, or a file cannot be read.
    """
    if not path.exists():
        raise UsageError(no_such_path(path))
    folder, only = (path, "") if path.is_dir() else (path.parent, path.name)
    reader = Folder(folder, MOST_MIB << 20)
    chosen = choose(
        listing(folder),
        expected_files(assignment) if assignment else ExpectedFiles(SubmissionFiles()),
        reader.read,
        only,
    )
    if not chosen.mains:
        raise UsageError(f"{path}: there is no notebook (.ipynb) and no Python file (.py) to submit.")
    files = tuple(File(safe(name), reader.read(name)) for name in chosen.paths)
    names = assignment.handed_out_names if assignment is not None else frozenset()
    counted = with_notebooks_counted(Submission(str(path), files, ""), names)
    if why := problem(files, is_folder=True, shown=str(path)) or counted.problem:
        raise UsageError(f"Not packed, because it could not be graded: {why}")
    return chosen, files


def try_archive(data: bytes, name: str, course: Course, assignment: Assignment) -> Score:
    """Run the public tests on the archive itself, opened as grading opens it, and return the score.

    Raises:
        UsageError: it cannot be graded.
    """
    with tempfile.TemporaryDirectory(prefix="viva-pack-") as folder:
        packed = Path(folder).resolve() / name
        packed.write_bytes(data)
        submission = open_submission(packed, name)
    if submission.problem:
        raise UsageError(f"Not packed, because it could not be graded: {submission.problem}")
    options = GradeOptions(visible_only=True, training=False)
    secret = course.secret_or_public(os.environ)
    with ExaminerProcess(course, assignment, secret, BoxOptions(Tier.T0, ready=1, notebooks=True)) as examiner:
        return examiner.grade(GradeRequest(submission, options)).score
