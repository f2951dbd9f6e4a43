"""An answer that cannot be read as what the question asks for."""

from typing import final

from viva.compare.disagreement import Difference, Disagreement
from viva.compare.normalize import Opaque, plain
from viva.compare.show import describe, show


@final
class Unreadable(ValueError):
    """The reason why an answer cannot be read; `str()` continues "your answer ... cannot be read:"."""


def refusal(name: str, answer: object, what: str, why: Unreadable, *, shown: bool = True) -> Disagreement:
    """Return the exception for an answer that cannot be read as `what`, with the reason and how to write it."""
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        return Disagreement(Difference(f"is empty; expected {what}.").sentence(name))
    found = plain(answer)
    quoted = f"{show(answer)} " if shown else ""
    if isinstance(found, Opaque):
        quoted = f"is {describe(found)}, which "
    text = f"{quoted}cannot be read as {what}: {why}."
    return Disagreement(Difference(text).sentence(name), actual=show(found))
