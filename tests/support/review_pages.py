"""A class of ten with its queue, and requests to its pages."""

from typing import Final

from tests.support.review_class import hash_of
from tests.support.review_queues import QUESTION, Person

SIZE: Final = 10
ALIKE: Final = (3, 8)
"""Students who write nearly the same."""
HERE: Final = f"/q/{QUESTION}/{hash_of(0)}"
ONE, OTHER = (f"/q/{QUESTION}/{hash_of(number)}" for number in ALIKE)
DECIDE: Final = f"/decide/{QUESTION}/{hash_of(0)}"


def mark(person: Person, path: str = HERE, *items: str, comment: str = "", seen: int = 0) -> None:
    """Mark an answer by its form."""
    sent = person.send(path, items=items, comment=comment, finish="yes", seen=str(seen))
    assert sent.status == 303, sent.body
