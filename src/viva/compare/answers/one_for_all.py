"""Detects a student who gives the same answer to all questions of a kind."""

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction

from viva.compare.answers.unreadable import Unreadable
from viva.compare.disagreement import Difference, Disagreement


def refuse_one_for_all(
    given: Hashable, beside: Iterable[object], read: Callable[[object], Hashable], name: str
) -> None:
    """Raise if all questions of a kind have the same answer, which is right for some of them by chance.

    Args:
        given: the answer as it was read.
        beside: the answers to the other questions, as they were written.
        read: reads one of them; it may raise Unreadable.
        name: what the message calls the answer.

    Raises:
        Disagreement: they are all the same; nothing is earned.
    """
    others = list(beside)
    try:
        same = bool(others) and all(read(other) == given for other in others)
    except Unreadable:
        return
    if same:
        text = f"is the same as for the other {len(others)} of these questions; one answer for all earns nothing."
        raise Disagreement(Difference(text).sentence(name), share=Fraction(0))
