"""What markers say of written answers: each action a row of its own, from which the marks that count are read."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

FIRST: Final = 1
SECOND: Final = 2
"""The round of a second marker, who does not see what the first one said."""
MARK: Final = "mark"
"""What a marker says in a round."""
SETTLED: Final = "settled"
"""What stands above both rounds: two markers have agreed, or a request was answered; it has a reason."""
APPEAL: Final = "appeal"
"""A student asks for another look; `why` holds the request."""
KINDS: Final = (MARK, SETTLED, APPEAL)
NOT_MARKED_YET: Final = "Not marked yet"
"""How the first line of a test's message begins while a person has still to mark it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody says of one answer, as a whole: not what changed."""

    items: tuple[str, ...] = ()
    """Ids of the rubric's items that were chosen, in the order of the rubric."""
    adjust: Fraction = Fraction(0)
    """Points beside the items, in either direction."""
    comment: str = ""
    """For the student."""
    done: bool = False
    """Whether it counts; else it is a draft."""
    earned: Fraction = Fraction(0)
    """What it is worth: from 0 to `points`."""
    points: Fraction = Fraction(0)
    """The question's."""
    told: str = ""
    """What the student reads: the items that were chosen, and the comment."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something is said. Equal bytes handed in by two people are one submission, and get one mark."""

    content_hash: str
    question: str
    """Its number in the rubric."""
    kind: str = MARK
    round: int = FIRST
    """0 where the kind has no rounds."""


@dataclass(frozen=True, slots=True)
class Review:
    """One row: who said what of an answer, and when."""

    id: int
    action: str
    """What was done at once: a decision about a group of answers is one action of several rows."""
    place: Place
    judgement: Judgement
    by: str
    why: str
    at: str
    """UTC, ISO 8601."""
    undoes: str = ""
    """The action that this one takes back."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts of an answer now."""

    judgement: Judgement | None
    """None while the question is open."""
    by: tuple[str, ...] = ()
    """Who said it; two names where two markers came to the same points."""
    at: str = ""
    """When the last of them did; UTC, ISO 8601."""
    why_open: str = ""
    """A sentence, where it is open although it was marked: two markers differ."""


def noticed(message: str) -> str:
    """What a test found out about an answer: its message without the line that nobody has marked it yet."""
    return "\n".join(line for line in message.split("\n") if NOT_MARKED_YET not in line)
