"""What the example submissions of this repository get: graded once for all tests that look at it."""

import os
from pathlib import Path
from typing import Final

from viva.config import load_course
from viva.model import Tier
from viva.sandbox.host.levels.detect_levels import detect_tiers
from viva.verify.last_verification import Verified, recall, remember, verified
from viva.verify.verify_course import verify

ROOT: Final = Path(__file__).parents[2]
COURSE: Final = load_course(ROOT)
SECRET: Final = COURSE.secret_or_public(os.environ)


def tier() -> Tier:
    """The best that this host offers."""
    return next(report.tier for report in detect_tiers() if report.available)


def verified_examples(name: str) -> dict[str, Verified]:
    """What each example submission of an assignment gets; it must be what is expected of it.

    `make nightly` begins without any, and the first test that asks for them grades them, as `viva verify` does.
    """
    assignment = COURSE.assignment(name)
    found = recall(COURSE, assignment, tier(), SECRET)
    if found is None:
        ((_, findings),) = verify(COURSE, [assignment], tier(), SECRET, with_mutants=False, call_logs=True)
        assert [f"{f.what}: {complaint}" for f in findings for complaint in f.complaints] == []
        found = verified(findings)
        remember(COURSE, assignment, tier(), SECRET, found)
    return found
