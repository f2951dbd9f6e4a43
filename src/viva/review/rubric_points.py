"""From what a marker chose to a judgement: what it is worth by the rubric, and what the student reads."""

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from viva.config.rubric import NOTHING, Question, earned
from viva.formats import escaping
from viva.formats.decimal_points import signed
from viva.model.errors import UsageError
from viva.model.hand_grading import Judgement

MOST_COMMENT: Final = 20_000
"""Characters."""
MOST_REASON: Final = 2_000
MOST_REQUEST: Final = 5_000
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,6}(\.[0-9]{1,6}|/0{0,5}[1-9][0-9]{0,5})?")
_MINUS: Final = str.maketrans({"−": "-", "–": "-", ",": "."})


def judge(
    question: Question, items: Iterable[str], adjust: Fraction, comment: str, done: bool, points: Fraction
) -> Judgement:
    """What a marker says of an answer, with what it is worth.

    Args:
        question: the rubric's.
        items: ids of its items, in any order; one that is named twice counts once.
        adjust: points beside the items, in either direction.
        comment: for the student, as `tidied` leaves it.
        done: whether it counts; else it is a draft.
        points: the most that the answer can be worth.

    Raises:
        UsageError: an item does not exist, two of an exclusive group were chosen, or the comment is too long.
    """
    wanted = set(items)
    worth = earned(question, wanted) + adjust
    comment = tidied(comment)
    chosen = [item for item in question.items if item.id in wanted]
    lines = [f"{signed(item.points)}  {escaping.line(item.text, characters=1000)}" for item in chosen]
    if adjust:
        lines.append(f"{signed(adjust)}  adjusted by hand")
    return Judgement(
        items=tuple(item.id for item in chosen),
        adjust=adjust,
        comment=comment,
        done=done,
        earned=min(max(worth, NOTHING), points),
        points=points,
        told="\n\n".join(part for part in ("\n".join(lines), comment) if part),
    )


def rejudged(question: Question, judgement: Judgement, points: Fraction) -> Judgement | None:
    """The same choice under a rubric that has changed since.

    Args:
        question: as the rubric has it now.
        judgement: what was said under the old one.
        points: the most that the answer can be worth now.

    Returns:
        None where a person has to choose again: an item is gone, or two of them exclude each other by now.
    """
    try:
        return judge(question, judgement.items, judgement.adjust, judgement.comment, judgement.done, points)
    except UsageError:
        return None


def tidied(text: str, what: str = "comment", most: int = MOST_COMMENT) -> str:
    """A text without control characters, and without spaces and empty lines around it.

    Args:
        what: how it is called.
        most: characters that it may have.

    Raises:
        UsageError: it is too long.
    """
    if len(text) > most:
        raise UsageError(f"The {what} has {len(text):,} characters; write at most {most:,}.")
    return escaping.terminal(text, characters=most, lines=most + 1).strip()


def adjustment(text: str) -> Fraction:
    """Points as people write them beside the items: `1`, `-0.5`, `+1/2`, `0,25`; nothing written is zero.

    Raises:
        UsageError: it is no number.
    """
    plain = text.strip().translate(_MINUS)
    if plain and not _NUMBER.fullmatch(plain):
        raise UsageError(
            f"`{escaping.line(text, characters=40)}` is no number of points; write one such as 1, -0.5, 1/2."
        )
    return Fraction(plain or 0)
