"""Comments that a marker can use again: those that the rubric has ready, and those that were written before."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from viva.config.rubric import Question

_TITLE: Final = 80


@dataclass(frozen=True, slots=True)
class Phrase:
    """A comment that is ready."""

    text: str
    """The whole comment."""
    item: str
    """The rubric's item that goes with it; empty for none."""
    used: int
    """In how many answers it stands already."""
    title: str
    """What it is chosen by: the misconception, or how the comment begins."""


def phrases(question: Question, comments: Iterable[str]) -> list[Phrase]:
    """Comments for reuse: the misconceptions' in the order of the rubric, then those written before, most used first.

    Comments that differ in spaces or in large letters alone are one, as it was written first.

    Args:
        question: whose misconceptions are meant.
        comments: as they stand now below answers to this question, one for each answer.
    """
    used: Counter[str] = Counter()
    written: dict[str, str] = {}
    for comment in comments:
        used[_same(comment)] += 1
        written.setdefault(_same(comment), comment.strip())
    ready = {_same(known.comment): known for known in reversed(question.misconceptions)}
    return [
        *(
            Phrase(known.comment.strip(), known.item, used[_same(known.comment)], _title(known.text))
            for known in question.misconceptions
            if ready[_same(known.comment)] is known
        ),
        *(
            Phrase(written[same], "", count, _title(written[same]))
            for same, count in used.most_common()
            if same and same not in ready
        ),
    ]


def _same(comment: str) -> str:
    return " ".join(comment.casefold().split())


def _title(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1].rstrip()}…"
