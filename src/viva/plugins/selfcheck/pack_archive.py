"""The archive to submit: gather its files, build the same bytes for the same files, and try to grade it."""

import functools
import io
import os
import re
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course, SubmissionFiles
from viva.examiner.answer_notes import list_names
from viva.formats.atomic_write import write_atomically
from viva.model import File, Score, Submission, Tier
from viva.model.errors import UsageError
from viva.model.grade_request import GradeOptions, GradeRequest
from viva.pipeline.process.examiner_process import ExaminerProcess
from viva.pipeline.process.settings import BoxOptions
from viva.plugins.selfcheck.pack_files import (
    ChosenFiles,
    ExpectedFiles,
    choose_files,
    expect_files,
    holds_secret,
    list_files,
    read_file,
)
from viva.submissions import open_submission
from viva.submissions.content_checks import problem
from viva.submissions.file_names import safe
from viva.submissions.notebook_count import with_notebooks_counted
from viva.submissions.open_submission import no_such_path
from viva.submissions.starter_code import starter_of

MAX_BYTES: Final = 64 << 20
"""The largest submission that grading accepts."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can store."""
_MODE: Final = 0o644 << 16
_UNIX: Final = 3
_UNDEFINED: Final = re.compile(r"`([^`\n]{1,100})` is not defined in your submission")


def gather_files(path: Path, assignment: Assignment | None) -> tuple[ChosenFiles, tuple[File, ...]]:
    """Return the files of the folder to submit; without an assignment, those that any assignment might ask for.

    Raises:
        UsageError: there is nothing to submit, or a file cannot be read.
    """
    if not path.exists():
        raise UsageError(no_such_path(path))
    folder, only = path, ""
    if not path.is_dir():
        folder, only = path.parent, path.name
    expected, names = ExpectedFiles(SubmissionFiles()), frozenset[str]()
    if assignment is not None:
        expected, names = expect_files(assignment), assignment.handed_out_names

    @functools.cache
    def read(name: str) -> bytes:
        return read_file(folder, name, MAX_BYTES)

    chosen = choose_files(list_files(folder), expected, read, only)
    if not chosen.mains:
        raise UsageError(f"{path}: there is no notebook (.ipynb) and no Python file (.py) to submit.")
    files = tuple(File(safe(name), read(name)) for name in chosen.paths)
    counted = with_notebooks_counted(Submission(str(path), files, ""), names)
    if why := problem(files, is_folder=True, shown=str(path)) or counted.problem:
        raise UsageError(f"Not packed, because it could not be graded: {why}")
    return chosen, files


def build_archive(files: Sequence[File]) -> bytes:
    """Return a zip file of the files, sorted by path, without times, owners or anything else of this machine."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for file in sorted(files, key=lambda file: file.path):
            entry = zipfile.ZipInfo(file.path, _EPOCH)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, _MODE, _UNIX
            packed.writestr(entry, file.data)
    return data.getvalue()


def write_archive(path: Path, data: bytes) -> None:
    """Write the archive to a file.

    Raises:
        UsageError: the file cannot be written.
    """
    write_atomically(path, data)


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


def inspect_files(files: Sequence[File], assignment: Assignment) -> list[str]:
    """Return what the bytes alone show, a sentence each: what is missing, unchanged, secret or too large."""
    sentences: list[str] = []
    expected = assignment.submission
    if not any(expected.asks_for(file.path) for file in files):
        wanted = " or ".join(filter(None, (expected.module, expected.notebook)))
        sentences.append(f"The assignment asks for {wanted}, and there is no such file.")
    starter = starter_of(assignment.starter)
    for file in files:
        if expected.asks_for(file.path) and starter.compare(file.path, file.data).is_unchanged:
            sentences.append(f"{file.path} is still the starter.")
        if holds_secret(file.data):
            sentences.append(f"{file.path} holds what looks like a secret key: take it out, and make a new key.")
    unpacked, most = sum(len(file.data) for file in files), assignment.limits.disk_mib << 20
    if unpacked > most:
        sentences.append(
            f"Together the files hold {unpacked / (1 << 20):.0f} MiB, and {assignment.limits.disk_mib} MiB is the most "
            "that can be graded: submit less data."
        )
    return sentences


def inspect_score(score: Score) -> list[str]:
    """Return what the public tests found missing, and what failed while the submission was loaded."""
    messages = [entry.message for entry in score.entries if entry.visibility == "visible"]
    undefined = dict.fromkeys(_UNDEFINED.findall("\n".join(messages)))
    sentences = list(score.notes)
    if undefined:
        sentences.append(f"Not defined: {list_names([f'`{name}`' for name in undefined])}.")
    return sentences
