"""Expected verdicts: which example submissions an assignment ships, and what each must get."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from viva.config import Assignment, Course
from viva.model import File, Submission
from viva.model.errors import CourseError
from viva.submissions import open_submission
from viva.submissions.examples import KINDS, STARTER, read_example


@dataclass(frozen=True, slots=True)
class ExampleSubmission:
    """One submission with an expected verdict."""

    name: str
    """`wrong/unclipped_counts`, `key` or `starter`."""
    verdict: str
    submission: Submission
    score: Fraction | None = None
    """The exact points it must get in the tests that run everywhere; None if the folder's name suffices."""
    training: Fraction | None = None
    """The exact points it must get in the tests that train; compared where these run."""
    failing: tuple[str, ...] | None = None
    """The test functions that must not pass, and no other."""
    message: str = ""
    """Text that the student must read in a note or at some test."""


def example_submissions(course: Course, assignment: Assignment) -> list[ExampleSubmission]:
    """Return key, starter and fixtures of an assignment, in a stable order.

    Raises:
        CourseError: an example is wrong (see `lay_out`); or there is no submission at all, where a suite needs no key.
    """
    folder = course.root / "fixtures" / assignment.name / "submissions"
    has_key = assignment.suite is None or (assignment.graders / "key.py").is_file()
    examples = [ExampleSubmission("key", "accepted", key_submission(course, assignment))] if has_key else []
    if assignment.starter.is_dir():
        examples.append(_example(STARTER, assignment.starter, folder / STARTER))
    for kind in KINDS:
        found = sorted((folder / kind).iterdir()) if (folder / kind).is_dir() else []
        examples += [_example(f"{kind}/{path.name}", path, path) for path in found]
    if not examples:
        raise CourseError(f"{folder}: nothing here has a known verdict; put a right submission into accepted/<name>/.")
    return examples


def key_submission(course: Course, assignment: Assignment) -> Submission:
    """Return the model answers as a submission: the key as the module, the references next to it.

    What the key submits besides code, such as predictions, is in `graders/<a>/handed_in/`.

    Raises:
        CourseError: there is no key.
    """
    import hashlib

    key = assignment.graders / "key.py"
    if not key.is_file():
        raise CourseError(f"{key}: there is no answer key; write the model answers there, in the student's API.")
    files = [File(assignment.submission.module or "solution.py", key.read_bytes())]
    for path in sorted((course.root / "reference").rglob("*.py")):
        files.append(File(path.relative_to(course.root).as_posix(), path.read_bytes()))
    submitted = assignment.graders / "handed_in"
    for path in sorted(p for p in submitted.rglob("*") if p.is_file()):
        files.append(File(path.relative_to(submitted).as_posix(), path.read_bytes()))
    digest = hashlib.sha256(b"".join(f.path.encode() + f.data for f in files)).hexdigest()
    return Submission("key", tuple(files), digest)


def _example(name: str, path: Path, described: Path) -> ExampleSubmission:
    expected = read_example(described)
    return ExampleSubmission(
        name=name,
        verdict=name.split("/")[0],
        submission=open_submission(path, name),
        score=expected.score,
        training=expected.training,
        failing=expected.failing,
        message=expected.message,
    )
