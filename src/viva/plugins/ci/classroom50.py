"""Classroom 50's `result.json` (classroom50/result/v1): whole numbers and its own keys only.

Tests that are not graded yet (graded by hand, or in need of a GPU) are left out with their points: the format has no
pending points, and a zero would read as lost.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final, Self

from viva.formats import escaping
from viva.formats.decimal_points import whole_scores
from viva.model import Status
from viva.model.errors import UsageError
from viva.model.totals import Totals
from viva.plugins.ci.public_view import Report, ReportedTest

SCHEMA: Final = "classroom50/result/v1"
MOST_BYTES: Final = 10 << 20
"""The most that its collector reads."""
SCALE: Final = 100
"""Units for one point: hundredths."""
_CHARACTERS: Final = (2000, 1100, 0)
_VARIABLES: Final = {
    "classroom": ("CLASSROOM",),
    "assignment": ("ASSIGNMENT",),
    "assignment_type": ("ASSIGNMENT_TYPE",),
    "owner": ("OWNER", "USERNAME"),
    "submission": ("SUBMISSION_TAG",),
    "commit": ("COMMIT_URL",),
    "release": ("RELEASE_URL",),
    "review": ("REVIEW_URL", "COMMIT_URL"),
}
_TYPES: Final = ("individual", "group", "team")
_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ")


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner of a result; the runner of Classroom 50 sets all of it in environment variables."""

    classroom: str
    assignment: str
    assignment_type: str
    owner: str
    submission: str
    commit: str
    release: str
    review: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read it from the variables that the runner sets.

        Raises:
            UsageError: one is missing, empty or malformed; the text says which.
        """
        given = {"ASSIGNMENT_TYPE": "individual"} | {name: value for name, value in environ.items() if value}
        values = {}
        for field in fields(cls):
            names = _VARIABLES[field.name]
            value = next((escaping.line(given[name], characters=2000) for name in names if name in given), "")
            if not value:
                raise UsageError(
                    f"A result for Classroom 50 needs the environment variable {names[0]}, which its runner sets; "
                    "run this in its autograder.py, or set the variables that docs/ci.md lists."
                )
            values[field.name] = value
        if not values["submission"].startswith("submit/"):
            raise UsageError('SUBMISSION_TAG must begin with "submit/"; Classroom 50 reads no other tags.')
        if values["assignment_type"] not in _TYPES:
            raise UsageError(f"ASSIGNMENT_TYPE is {values['assignment_type']}; it may be {', '.join(_TYPES)}.")
        return cls(**values)


def classroom50(report: Report, identity: Identity, *, instant: str, scale: int = SCALE) -> bytes:
    """Write the file.

    Args:
        instant: when it was submitted, as `2026-06-01T14:33:11Z`; the runner replaces it by its own.
        scale: units for one point.

    Raises:
        UsageError: the result is not complete, or an argument is malformed.
        ValueError: `instant` is not in this form.
    """
    if not report.complete:
        raise UsageError(
            f"{report.submission}: grading was ended in the middle; grade it again before it is entered anywhere."
        )
    if scale < 1:
        raise UsageError(f"The scale is {scale}; it must be a whole number of at least 1.")
    if not _INSTANT.fullmatch(instant):
        raise ValueError(f"not in UTC as YYYY-MM-DDTHH:MM:SSZ: {instant}")
    for characters in _CHARACTERS:
        data = _file(report, identity, instant, scale, characters)
        if len(data) <= MOST_BYTES:
            return data
    raise UsageError(f"{report.submission}: a result for Classroom 50 would be larger than {MOST_BYTES >> 20} MiB.")


def _file(report: Report, identity: Identity, instant: str, scale: int, characters: int) -> bytes:
    tests = report.decided
    pairs = whole_scores(_earned_after_deductions(tests), [test.points for test in tests], scale)
    file = {
        "schema": SCHEMA,
        **{field.name: getattr(identity, field.name) for field in fields(identity)},
        "datetime": instant,
        "score": sum(won for won, _ in pairs),
        "max-score": sum(most for _, most in pairs),
        "tests": [_test(test, *pair, characters) for test, pair in zip(tests, pairs, strict=True)],
    }
    return json.dumps(file, indent=1, ensure_ascii=False).encode() + b"\n"


def _earned_after_deductions(tests: Sequence[ReportedTest]) -> list[Fraction]:
    """Return what each test earned; the format has no points below zero, so the last tests bear the deductions."""
    earned = [max(test.earned, Fraction(0)) for test in tests]
    deducted = sum(earned, Fraction(0)) - Totals.add_up(tests).earned
    for index in reversed(range(len(earned))):
        part = min(earned[index], deducted)
        earned[index] -= part
        deducted -= part
    return earned


def _test(test: ReportedTest, won: int, most: int, characters: int) -> dict[str, object]:
    entry: dict[str, object] = {
        "test-name": test.name,
        "passed": test.status is Status.PASSED,
        "score": won,
        "max-score": most,
        "status": test.status.value,
    }
    message = escaping.terminal(test.message, characters=characters) if characters else ""
    return entry | ({"message": message} if message else {})
