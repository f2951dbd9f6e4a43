"""What authors of graders import: decorators for tests, and the functions that compare."""

from viva.examine.compare import Disagreement, agree, agree_on
from viva.grading.decorators import (
    hide_errors,
    leaderboard,
    number,
    partial_credit,
    tags,
    visibility,
    weight,
)
from viva.grading.review import needs_review

__all__ = [
    "Disagreement",
    "agree",
    "agree_on",
    "hide_errors",
    "leaderboard",
    "needs_review",
    "number",
    "partial_credit",
    "tags",
    "visibility",
    "weight",
]
