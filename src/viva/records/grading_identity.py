"""Identify gradings that must be equal: the same bytes, graded with the same tests by the same version."""

import dataclasses
import hashlib
import json
from pathlib import Path

import viva
from viva.config import Assignment
from viva.grading.training.checkpoints import content_of
from viva.model.grade_request import GradeOptions
from viva.model.seeds import Seeds

_NO_PART_OF_THE_QUESTIONS = ("folder", "title", "due", "graders", "starter", "release", "data", "min_tier")
"""Fields of an assignment that change no score, or whose content is hashed separately."""


def made_with(assignment: Assignment, root: Path) -> str:
    """Return a digest of all that decides about scores: tests, key, references, data, limits.

    Args:
        assignment: the assignment with the tests.
        root: the course's folder.
    """
    reference = [
        [path.relative_to(root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()]
        for path in sorted((root / "reference").rglob("*.py"))
    ]
    settings = {
        field.name: str(getattr(assignment, field.name))
        for field in dataclasses.fields(assignment)
        if field.name not in _NO_PART_OF_THE_QUESTIONS
    }
    return _digest([content_of(assignment), reference, settings])


def identity_of(
    attempt_id: int,
    content_hash: str,
    made: str,
    secret: bytes,
    assignment: Assignment,
    options: GradeOptions,
    *,
    gpu: bool,
) -> str:
    """Return a digest that is the same for two gradings whose scores must be equal, and differs otherwise.

    Args:
        attempt_id: its number in the records.
        content_hash: of the bytes that are graded.
        made: the result of `made_with`.
        secret: the course's secret.
        assignment: whose tests are asked.
        options: which of them.
        gpu: whether a GPU is offered: without one, tests that need it stay open.
    """
    seed = Seeds(secret, assignment.name, assignment.version).id
    with_gpu = f"{made} {'gpu' if gpu else ''}"
    return _digest([attempt_id, content_hash, with_gpu, viva.__version__, seed, options.identity])


def _digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()
