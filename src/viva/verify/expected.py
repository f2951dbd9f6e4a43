"""The known verdicts: which submissions an assignment ships, and what each must get."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import yaml

from viva.course import Assignment, Course
from viva.intake import open_submission
from viva.model import File, Submission
from viva.model.errors import CourseError

VERDICTS: Final = ("accepted", "partial", "wrong", "error", "timeout", "hostile")
_KEYS: Final = {"score", "failing", "message", "note"}


@dataclass(frozen=True, slots=True)
class Known:
    """One submission with a known verdict."""

    name: str
    """`wrong/unclipped_counts`, `key` or `starter`."""
    verdict: str
    submission: Submission
    score: Fraction | None = None
    """The exact points it must get; None where the folder's name says all."""
    failing: tuple[str, ...] | None = None
    """The test functions that must not pass, and no other."""
    message: str = ""
    """Words that the student must read in some visible test."""


def known_submissions(course: Course, assignment: Assignment) -> list[Known]:
    """Key, starter and fixtures of an assignment, in a stable order.

    Raises:
        CourseError: expected.yaml is wrong, or speaks of a fixture that does not exist.
    """
    folder = course.root / "fixtures" / assignment.name / "submissions"
    stated = _read(folder / "expected.yaml")
    known = [Known("key", "accepted", key_submission(course, assignment))]
    if assignment.starter.is_dir():
        known.append(_known("starter", "starter", assignment.starter, stated.pop("starter", {})))
    for verdict in VERDICTS:
        for path in sorted((folder / verdict).iterdir()) if (folder / verdict).is_dir() else []:
            name = f"{verdict}/{path.name}"
            known.append(_known(name, verdict, path, stated.pop(name, {})))
    if stated:
        raise CourseError(f"{folder / 'expected.yaml'}: no such fixture: {', '.join(sorted(stated))}.")
    return known


def key_submission(course: Course, assignment: Assignment) -> Submission:
    """The model answers as if a student had handed them in: the key as the module, the references beside it."""
    import hashlib

    key = assignment.graders / "key.py"
    if not key.is_file():
        raise CourseError(f"{key}: there is no answer key; write the model answers there, in the student's API.")
    files = [File(assignment.submission.module or "solution.py", key.read_bytes())]
    for path in sorted((course.root / "reference").glob("*.py")):
        files.append(File(f"reference/{path.name}", path.read_bytes()))
    digest = hashlib.sha256(b"".join(f.path.encode() + f.data for f in files)).hexdigest()
    return Submission("key", tuple(files), digest)


def _known(name: str, verdict: str, path: Path, stated: dict[str, Any]) -> Known:
    unknown = set(stated) - _KEYS
    if unknown:
        raise CourseError(
            f"expected.yaml: {name}: unknown key {sorted(unknown)[0]!r}; allowed: {', '.join(sorted(_KEYS))}."
        )
    score = stated.get("score")
    try:
        exact = None if score is None else Fraction(str(score))
    except ValueError:
        raise CourseError(
            f"expected.yaml: {name}: score is {score!r}; expected points such as 87.5 or 175/2."
        ) from None
    failing = stated.get("failing")
    return Known(
        name=name,
        verdict=verdict,
        submission=open_submission(path, name),
        score=exact,
        failing=None if failing is None else tuple(str(f) for f in failing),
        message=str(stated.get("message", "")),
    )


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.is_file():
        return {}
    try:
        loaded = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise CourseError(f"{path}: this is no YAML: {error}.") from None
    if not isinstance(loaded, dict) or not all(isinstance(v, dict) for v in loaded.values()):
        raise CourseError(f"{path}: expected a mapping from `verdict/name` to score, failing and message.")
    return {str(k): dict(v) for k, v in loaded.items()}
