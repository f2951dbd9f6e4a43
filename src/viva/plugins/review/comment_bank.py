"""Comments that a marker can reuse: those of the rubric's misconceptions, and those that markers wrote before."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from viva.config.rubric import Question

_TITLE_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that can be reused."""

    text: str
    """The whole comment."""
    item: str
    """The id of the rubric item that belongs to it; empty for none."""
    used: int
    """The number of answers that have this comment."""
    title: str
    """The label shown to markers: the misconception, or the beginning of the comment."""


def reusable_comments(question: Question, comments: Iterable[str]) -> list[Comment]:
    """List comments for reuse: those of the misconceptions in the order of the rubric, then others by frequency.

    Comments that differ only in whitespace or letter case count as one, in the wording that came first.

    Args:
        question: the rubric's question, with its misconceptions.
        comments: the current comments on answers to this question, one for each answer.
    """
    used: Counter[str] = Counter()
    written: dict[str, str] = {}
    for comment in comments:
        used[_normalized(comment)] += 1
        written.setdefault(_normalized(comment), comment.strip())
    ready = {_normalized(known.comment): known for known in reversed(question.misconceptions)}
    return [
        *(
            Comment(known.comment.strip(), known.item, used[_normalized(known.comment)], _title(known.text))
            for known in question.misconceptions
            if ready[_normalized(known.comment)] is known
        ),
        *(
            Comment(written[same], "", count, _title(written[same]))
            for same, count in used.most_common()
            if same and same not in ready
        ),
    ]


def _normalized(comment: str) -> str:
    return " ".join(comment.casefold().split())


def _title(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TITLE_CHARACTERS else f"{text[: _TITLE_CHARACTERS - 1].rstrip()}…"
