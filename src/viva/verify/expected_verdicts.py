"""Expected verdicts: which example submissions an assignment ships, and what each must get."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final

from viva.config import Assignment, Course
from viva.config.read_config import CourseDocument, read_document, suggest
from viva.config.yaml_types import STRICT, Points, Text, TextOrNothing, matching
from viva.model import File, Submission
from viva.model.errors import CourseError
from viva.submissions import open_submission

VERDICTS: Final = ("accepted", "partial", "wrong", "error", "timeout", "hostile")


@dataclass(frozen=True, slots=True)
class ExpectedVerdict:
    """What a submission must get."""

    __pydantic_config__ = STRICT

    score: Points | None = None
    """The exact points it must get in the tests that run everywhere; null if its folder's name says all."""
    training: Points | None = None
    """The exact points it must get in the tests that train; compared where they are run."""
    failing: tuple[Text, ...] | None = None
    """The test functions that must not pass, and no other."""
    message: TextOrNothing = ""
    """Words that the student must read in some visible test."""
    note: TextOrNothing = ""
    """For readers of this file."""


_NAME: Final = f"starter|({'|'.join(VERDICTS)})/.+"
EXPECTED_FILE: Final = dict[Annotated[str, matching(_NAME, "a verdict and a name")], ExpectedVerdict]
"""expected.yaml: what is expected, by the submission's verdict and name: `wrong/unclipped_counts`."""


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
        CourseError: expected.yaml is wrong, or mentions a fixture that does not exist; or there is no submission at
            all, where a suite needs no key.
    """
    folder = course.root / "fixtures" / assignment.name / "submissions"
    paths = {"starter": assignment.starter} if assignment.starter.is_dir() else {}
    for verdict in VERDICTS:
        found = sorted((folder / verdict).iterdir()) if (folder / verdict).is_dir() else []
        paths |= {f"{verdict}/{path.name}": path for path in found}
    expected = _expectations(folder / "expected.yaml", list(paths))
    has_key = assignment.suite is None or (assignment.graders / "key.py").is_file()
    examples = [ExampleSubmission("key", "accepted", key_submission(course, assignment))] if has_key else []
    examples += [_example(name, path, expected.get(name, ExpectedVerdict())) for name, path in paths.items()]
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


def _example(name: str, path: Path, expected: ExpectedVerdict) -> ExampleSubmission:
    return ExampleSubmission(
        name=name,
        verdict=name.split("/")[0],
        submission=open_submission(path, name),
        score=expected.score,
        training=expected.training,
        failing=expected.failing,
        message=expected.message,
    )


def _expectations(path: Path, names: list[str]) -> dict[str, ExpectedVerdict]:
    """Return what expected.yaml says, by the name of the submission; empty if there is no such file."""
    if not path.is_file():
        return {}
    document: CourseDocument = read_document(path)
    written = document.document.value
    if not isinstance(written, dict):
        if written is None:
            return {}
        raise document.error((), "expected lines such as `wrong/unclipped_counts: {score: 85}`.")
    for name in written:
        if name not in names:
            raise document.error((name,), f"there is no such submission in {path.parent}{suggest(name, names)}")
    return {name: document.read(ExpectedVerdict, (name,)) for name in written}
