"""What a comparison found: `Difference` inside the package, `Disagreement` for its callers."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is wrong, found while walking through the expected value."""

    text: str
    """A predicate that continues "your answer": "has shape (3,); expected (4,)." """
    path: str = ""
    """Where in the answer, as Python would index it: "[2]['bleu']"; empty for the answer itself."""
    actual: Any = None
    """The part of the answer that is wrong."""
    expected: Any = None
    """The expected part."""
    advice: str = ""
    """What the student might do, shown when no hint explains more."""

    def below(self, step: str) -> "Difference":
        """Return the same difference seen from one container further out."""
        return replace(self, path=step + self.path)

    def sentence(self, name: str) -> str:
        """Return the whole sentence: "At [2] your answer is 1; expected 2."."""
        if self.path:
            return f"At {self.path} {name} {self.text}"
        if not name:
            return self.text
        is_words = name.startswith(("your ", "the "))
        return f"{name[0].upper()}{name[1:]} {self.text}" if is_words else f"{name} {self.text}"


@final
class Disagreement(AssertionError):
    """The student's value is not the expected one; `str()` is what the student reads.

    Attributes:
        message: one or two sentences for the student.
        hint: the name of the known mistake that the answer equals, None if none does.
        share: the part of the points that is earned nevertheless, None where the comparison cannot tell.
        actual: the differing part of the answer, shortened, for staff.
        expected: what was expected there, shortened, for staff.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        share: Fraction | None = None,
        actual: str = "",
        expected: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.share = share
        self.actual = actual
        self.expected = expected
