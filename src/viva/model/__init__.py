"""Values that every package shares: statuses, scores, limits, tiers, submissions, errors; without input and output."""

from viva.model.attempt import Attempt, ScoredAttempt, Student
from viva.model.isolation import Isolation
from viva.model.score import Case, Entry, Score
from viva.model.status import Status
from viva.model.submission import File, Submission
from viva.sandbox import system
from viva.sandbox.limits import Limits
from viva.sandbox.tier import Tier

__all__ = [
    "Attempt",
    "Case",
    "Entry",
    "File",
    "Isolation",
    "Limits",
    "Score",
    "ScoredAttempt",
    "Status",
    "Student",
    "Submission",
    "Tier",
    "system",
]
