"""The result of a comparison: `Difference` inside the package, `Disagreement` for its callers."""

from collections.abc import Callable
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
        mistakes: the names of the known mistakes that the answer equals.
        share: the share of the points that is earned nevertheless; None where the comparison cannot tell.
        is_telling: whether the answer is one that two different mistakes hardly give, so that it alone names one.
        feedback: what is told after grading only, because an answer by hand could be repaired with it.
        is_unreadable: whether an answer by hand cannot be read, so that a person decides.
        actual: the differing part of the answer, shortened, for staff.
        expected: what was expected there, shortened, for staff.
    """

    def __init__(  # noqa: PLR0913  # the parts of one message, each by its name
        self,
        message: str,
        *,
        mistakes: tuple[str, ...] = (),
        naming: Callable[[list[str]], str] | None = None,
        share: Fraction | None = None,
        feedback: str = "",
        is_unreadable: bool = False,
        is_telling: bool = True,
        actual: str = "",
        expected: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.mistakes = mistakes
        self._naming = naming
        self.is_telling = is_telling
        self.share = share
        self.feedback = feedback
        self.is_unreadable = is_unreadable
        self.actual = actual
        self.expected = expected

    @property
    def hint(self) -> str | None:
        """Return the known mistake that is named first; None if none is."""
        return self.mistakes[0] if self.mistakes else None

    @property
    def suspected(self) -> tuple[str, ...]:
        """Return the mistakes that are named, if the message can do without them."""
        return self.mistakes if self._naming is not None else ()

    def naming_only(self, supported: Callable[[str], bool]) -> "Disagreement":
        """Return the same disagreement that names only the mistakes that are supported."""
        fitting = [name for name in self.mistakes if supported(name)]
        if self._naming is None or len(fitting) == len(self.mistakes):
            return self
        other = Disagreement(
            self._naming(fitting),
            mistakes=tuple(fitting),
            naming=self._naming,
            share=self.share,
            actual=self.actual,
            expected=self.expected,
        )
        for note in getattr(self, "__notes__", ()):
            other.add_note(note)
        return other.with_traceback(self.__traceback__)
