"""An answer by hand that cannot be read as what the question asks for, or that is wrong."""

from collections.abc import Sequence
from typing import final

from viva.compare.disagreement import Difference, Disagreement
from viva.compare.hints import mistakes_sentence
from viva.compare.normalize import Opaque, plain
from viva.compare.show import describe, show


@final
class Unreadable(ValueError):
    """The reason why an answer cannot be read; `str()` continues "your answer ... cannot be read:".

        raise Unreadable("write three letters, such as A D G", answer)

    Attributes:
        answer: the answer, for the person who reads it.
    """

    def __init__(self, why: str, answer: str = "") -> None:
        super().__init__(why)
        self.answer = answer


def refusal(name: str, answer: object, what: str, why: Unreadable, *, shown: bool = True) -> Disagreement:
    """Return the exception for an answer that cannot be read as `what`, with the reason and how to write it."""
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        return Disagreement(Difference(f"is empty; expected {what}.").sentence(name))
    found = plain(answer)
    is_object = isinstance(found, Opaque)  # no person can read it either
    quoted = f"{show(answer)} " if shown else ""
    if is_object:
        quoted = f"is {describe(found)}, which "
    text = f"{quoted}cannot be read as {what}: {why}."
    return Disagreement(Difference(text).sentence(name), is_unreadable=not is_object, actual=show(found))


def wrong_answer(
    text: str, named: Sequence[str], notes: Sequence[str], *, feedback: str = "", actual: str, expected: str
) -> Disagreement:
    """Return the exception for a wrong answer; which mistake it is, students read only after grading.

    Args:
        text: what they read before: never the right value, nor where or how theirs differs.
        named: the known mistakes that the answer equals.
        notes: notes to the author about hints that failed.
        feedback: what else students read after grading.
        actual: the answer, for staff.
        expected: the right answer, for staff.
    """
    known = mistakes_sentence(list(named)) if named else ""
    told = f"{feedback}{known}".strip()
    error = Disagreement(text, mistakes=tuple(named), feedback=told, actual=actual, expected=expected)
    for note in notes:
        error.add_note(note)
    return error
