"""What authors of graders import: decorators for tests, and the functions that compare."""

from viva.compare import Disagreement, agree, agree_in_distribution, agree_on
from viva.compare.answers import (
    agree_choice,
    agree_formula,
    agree_json,
    agree_number,
    agree_table,
)
from viva.compare.answers.unreadable import Unreadable
from viva.compare.show import show_call
from viva.grading.by_hand import needs_review
from viva.grading.decorators import hide_errors, leaderboard, number, partial_credit, tags, visibility, weight
from viva.grading.drawings import drawn
from viva.grading.hidden_twin import with_other_arguments
from viva.grading.mistaken import with_mistake
from viva.grading.networks import outputs, trained
from viva.grading.observing import observed, played

__all__ = [
    "Disagreement",
    "Unreadable",
    "agree",
    "agree_choice",
    "agree_formula",
    "agree_in_distribution",
    "agree_json",
    "agree_number",
    "agree_on",
    "agree_table",
    "drawn",
    "hide_errors",
    "leaderboard",
    "needs_review",
    "number",
    "observed",
    "outputs",
    "partial_credit",
    "played",
    "show_call",
    "tags",
    "trained",
    "visibility",
    "weight",
    "with_mistake",
    "with_other_arguments",
]
