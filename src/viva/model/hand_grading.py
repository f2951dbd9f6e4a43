"""Decisions of markers about written answers: each action is a row, and the current state is computed from the rows."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

FIRST: Final = 1
SECOND: Final = 2
"""The round of a second marker, who does not see what the first one decided."""
MARK: Final = "mark"
"""A marker's decision in a round."""
SETTLED: Final = "settled"
"""A decision above both rounds: two markers have agreed, or a request was answered; it has a reason."""
APPEAL: Final = "appeal"
"""A student's regrade request; `why` holds its text."""
KINDS: Final = (MARK, SETTLED, APPEAL)
NOT_GRADED_YET: Final = "Not graded yet"
"""The beginning of the first line of a test's message until it is graded."""
UNREADABLE: Final = "unreadable."
"""How the rubric's question begins that stands for a test whose answer by hand cannot be read."""
SET_BY_HAND: Final = "Set by hand to"
"""How the message of a test begins whose points a person has set."""
AFTER_GRADING: Final = "After grading: "
"""How a line for staff begins that students read as well, on the feedback pages."""
NOTHING_WRITTEN: Final = "You have not written an answer."
NOTHING_WRITTEN_FOR: Final = "Nothing written for: "
"""The beginning of a note that names such questions."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A marker's complete decision about one answer, not only what changed."""

    items: tuple[str, ...] = ()
    """Ids of the chosen rubric items, in the order of the rubric."""
    adjust: Fraction = Fraction(0)
    """Points added to those of the items; may be negative."""
    comment: str = ""
    """For the student."""
    done: bool = False
    """Whether it counts; else it is a draft."""
    earned: Fraction = Fraction(0)
    """The points given: from 0 to `points`."""
    points: Fraction = Fraction(0)
    """The question's points."""
    told: str = ""
    """What the student reads: the chosen items, and the comment."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """What a decision is about. Equal bytes submitted by two people are one submission, and get one decision."""

    content_hash: str
    question: str
    """Its number in the rubric."""
    kind: str = MARK
    round: int = FIRST
    """0 where the kind has no rounds."""


@dataclass(frozen=True, slots=True)
class Review:
    """One row: who decided what about an answer, and when."""

    id: int
    action: str
    """Groups rows that were made at once: a decision about a group of answers is one action with several rows."""
    place: Place
    judgement: Judgement
    by: str
    why: str
    at: str
    """UTC, ISO 8601."""
    undoes: str = ""
    """The action that this one undoes."""


@dataclass(frozen=True, slots=True)
class CurrentDecision:
    """The decision that counts for an answer now."""

    judgement: Judgement | None
    """None while the answer is not graded yet."""
    by: tuple[str, ...] = ()
    """Who decided; two names where two markers gave the same points."""
    at: str = ""
    """When the last of them decided; UTC, ISO 8601."""
    why_open: str = ""
    """A sentence, where the answer was graded but is still pending: two markers differ."""


def noticed(message: str) -> str:
    """Return what a test found out about an answer: its message without the line that it is not graded yet."""
    return "\n".join(line for line in message.split("\n") if NOT_GRADED_YET not in line)


def feedback_of(staff_message: str) -> list[str]:
    """Return the lines for staff that students read after grading."""
    return [line.removeprefix(AFTER_GRADING) for line in staff_message.split("\n") if line.startswith(AFTER_GRADING)]
