"""Turn a marker's choices into a judgement: the points by the rubric, and the text for the student."""

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
    question: Question, items: Iterable[str], adjust: Fraction, comment: str, points: Fraction, *, done: bool
) -> Judgement:
    """Return the judgement of an answer, with its points.

    Args:
        question: the rubric's question.
        items: ids of its items, in any order; an id that occurs twice counts once.
        adjust: points added to those of the items; may be negative.
        comment: for the student, cleaned by `tidied`.
        points: the maximum for the answer.
        done: whether the judgement counts; otherwise it is a draft.

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
    """Return the judgement for the same items under the present rubric.

    Args:
        question: the question as it is in the rubric now.
        judgement: the judgement under the earlier rubric.
        points: the maximum for the answer now.

    Returns:
        None if a person has to choose again: an item is gone, or two of them exclude each other now.
    """
    try:
        return judge(question, judgement.items, judgement.adjust, judgement.comment, points, done=judgement.done)
    except UsageError:
        return None


def tidied(text: str, what: str = "comment", most: int = MOST_COMMENT) -> str:
    """Remove control characters from a text, and spaces and empty lines around it.

    Args:
        text: the text.
        what: the name of the field, for the error.
        most: the maximum number of characters.

    Raises:
        UsageError: the text is too long.
    """
    if len(text) > most:
        raise UsageError(f"The {what} has {len(text):,} characters; write at most {most:,}.")
    return escaping.terminal(text, characters=most, lines=most + 1).strip()


def adjustment(text: str) -> Fraction:
    """Parse points as people write them: `1`, `-0.5`, `+1/2`, `0,25`; an empty text is zero.

    Raises:
        UsageError: it is not a number.
    """
    plain = text.strip().translate(_MINUS)
    if plain and not _NUMBER.fullmatch(plain):
        raise UsageError(
            f"`{escaping.line(text, characters=40)}` is not a number of points; write one such as 1, -0.5, 1/2."
        )
    return Fraction(plain or 0)
