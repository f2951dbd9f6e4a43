"""One request to grade, and what comes back: the same value for the socket, the cluster and the records."""

from dataclasses import dataclass, field
from typing import Any, final

from viva.model.score import Entry, Score, names_of
from viva.model.submission import Submission


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions:
    """Which tests to run, and what to bring back: the same for every submission of a class."""

    only: tuple[str, ...] | None = None
    """Numbers, function names or ids of the tests to run; None for all."""
    visible_only: bool = False
    """Leave out tests that students cannot see."""
    training: bool = True
    """Run tests that train a model; otherwise they are deferred."""
    whole_trainings: bool = False
    """Run all epochs of trainings, even if they meet their thresholds earlier: for callers who compare curves."""
    until_loss: bool = False
    """Stop after the first test that loses points: for callers who need not know how many are lost."""
    explain: bool = True
    """Look for a smaller input where an answer is wrong, and for the mistake behind it: messages alone need this."""
    call_s: float | None = None
    """A limit in seconds for each call and each test, instead of the assignment's and the test's own.

    Nothing is then asked a second time."""
    load_s: float | None = None
    """A limit in seconds for each file and each cell that is loaded, instead of the assignment's."""
    questions: bool = False
    """Bring back what each test asked, as texts (`Graded.questions`)."""
    interceptor: str = ""
    """The name of an interceptor, which a plugin provides, between the examiner and what it asks; empty for none."""
    notebook: bool = False
    """Bring back the notebook that was run, with its outputs (`Graded.notebook`)."""

    def selects(self, test_id: str, number: str, *, visible: bool) -> bool:
        """Return whether a test is to run. Tests that must pass before it run as well.

        Args:
            test_id: of the form `test_file.py::test_function`.
            number: the question's number, such as `2.1`.
            visible: whether students can see the test.
        """
        if self.visible_only and not visible:
            return False
        return self.only is None or not names_of(test_id, number).isdisjoint(self.only)

    def selects_entry(self, entry: Entry) -> bool:
        """Return whether the test of an entry is to run."""
        return self.selects(entry.test_id, entry.number, visible=entry.visibility == "visible")

    @property
    def selects_all(self) -> bool:
        """Whether every test is to run, rather than some that were named."""
        return self.only is None and not self.visible_only

    @property
    def identity(self) -> list[object]:
        """What two gradings must have in common for one score to be valid for both."""
        return [None if self.only is None else list(self.only), self.visible_only, self.training]


@final
@dataclass(frozen=True, slots=True)
class GradeRequest:
    """Grade one submission."""

    submission: Submission
    options: GradeOptions = GradeOptions()
    interceptor_input: bytes = b""
    """What the interceptor of the options is given for this submission."""


@dataclass(slots=True)
class Graded:
    """The result of a request: the score, and what the options asked for in addition."""

    score: Score
    questions: list[Any] = field(default_factory=list)
    """[test, [[operation, subject, question, answer], …]] for each test."""
    interceptor_output: bytes = b""
    """What the interceptor brought back; its plugin reads it."""
    notebook: bytes = b""
    """The executed notebook, if one was run: an .ipynb of nbformat 4.5. The outputs of its cells are untrusted; the
    student's program made them before any test had asked it anything."""
    remarks: list[str] = field(default_factory=list)
    """For staff: why it was graded a second time."""
    finished: bool = True
    """False if the examiner did not come to the end."""
    ended: bool = False
    """Whether the examiner ended in the middle: a fresh one may do better. One that hung had its time."""
