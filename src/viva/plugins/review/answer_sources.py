"""Sources of a class's written answers: the course's records, or a folder of results."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from viva.config import Assignment
from viva.model import Attempt, Entry, Score, ScoredAttempt, Status
from viva.model.errors import UsageError
from viva.model.hand_grading import CurrentDecision, noticed
from viva.plugins.records.store import Records
from viva.plugins.review.written_answers import GradedSubmission, Written

if TYPE_CHECKING:
    from viva.plugins.report.feedback_page import Notebook

_RESULTS: Final = "results.json"


class AnswerSource(Protocol):
    """A class whose submissions were graded."""

    stores_grades: bool
    """Whether `write_grades` does anything."""

    def read(self) -> Iterator[tuple[GradedSubmission, list[Written]]]:
        """Yield every submission that counts, with its parts that are graded by hand."""

    def score(self, submission: GradedSubmission) -> Score:
        """Return the whole score of a submission."""

    def notebook(self, submission: GradedSubmission) -> "tuple[Notebook | None, str]":
        """Return the notebook of a submission, or None and a sentence that says why no notebook is shown."""

    def write_grades(self, submission: GradedSubmission, grades: Mapping[str, CurrentDecision]) -> None:
        """Update the stored result of a submission with the grades that now count, by question."""


class RecordsSource:
    """An assignment whose scores are in the records; grades by hand are joined with a score whenever it is read."""

    stores_grades = False

    def __init__(
        self, records: Records, assignment: Assignment, withheld: Callable[[], Container[tuple[int, int]]]
    ) -> None:
        self._records, self._assignment, self._withheld = records, assignment, withheld

    def read(self) -> Iterator[tuple[GradedSubmission, list[Written]]]:
        """Yield submissions as `AnswerSource.read` does: the last attempt of a student, or all if the best counts."""
        only_last = self._assignment.policy().attempts.which == "last"
        answers: dict[object, tuple[GradedSubmission, list[Written]]] = {}
        for kept in self._records.each_current(self._assignment.name):
            attempt, score = kept.scored.attempt, kept.scored.score
            by_hand = [e for e in score.entries if e.rubric and e.status is Status.NEEDS_REVIEW]
            key = _students_key(attempt) if only_last else kept.id
            answers[key] = (GradedSubmission(attempt, score.content_hash, kept.id), [_part(e) for e in by_hand])
        yield from answers.values()

    def score(self, submission: GradedSubmission) -> Score:
        """Return the whole score, as `AnswerSource.score` does."""
        assert isinstance(submission.score, int)  # `read` made it
        return self._records.score(submission.score)

    def notebook(self, submission: GradedSubmission) -> "tuple[Notebook | None, str]":
        """Return the submitted notebook, as `AnswerSource.notebook` does, if the file still exists and is unchanged."""
        from viva.plugins.report.build import find_notebook

        marked = ScoredAttempt(submission.attempt, self.score(submission))
        return find_notebook(marked, self._assignment, self._withheld)

    def write_grades(self, submission: GradedSubmission, grades: Mapping[str, CurrentDecision]) -> None:
        """Do nothing: the records hold the grades."""


class FolderSource:
    """A folder that `viva grade -o` wrote; its results.json files are kept up to date."""

    stores_grades = True

    def __init__(
        self,
        folder: Path,
        submissions: Path,
        assignment: Assignment,
        withheld: Callable[[], Container[tuple[int, int]]],
        *,
        only_assignment: bool,
    ) -> None:
        """Set up the source; nothing is read yet.

        Args:
            folder: what `viva grade -o` wrote.
            submissions: the folder in which grading was started; results name their submissions relative to it.
            assignment: the assignment to grade.
            withheld: as for `open_submission`.
            only_assignment: whether results of another assignment are an error, because the user did not choose one.
        """
        self._folder, self._submissions, self._assignment = folder, submissions, assignment
        self._only_assignment, self._withheld = only_assignment, withheld

    def read(self) -> Iterator[tuple[GradedSubmission, list[Written]]]:
        """Yield submissions as `AnswerSource.read` does.

        Raises:
            UsageError: `only_assignment` is set, and there are results of several assignments.
        """
        from viva.plugins.report.load_results import load_attempts

        found = load_attempts(self._folder, self._submissions)
        names = list(dict.fromkeys(marked.score.assignment for marked, _ in found))
        if self._only_assignment and len(names) > 1:
            raise UsageError(f"{self._folder} holds results of several assignments ({', '.join(names)}): say one: -a.")
        results = [(marked, place) for marked, place in found if marked.score.assignment == self._assignment.name]
        for marked, place in results:
            written = [_part(entry) for entry in self._as_graded(marked.score, place).entries if entry.rubric]
            yield GradedSubmission(marked.attempt, marked.score.content_hash, place), written

    def score(self, submission: GradedSubmission) -> Score:
        """Return the whole score, as `AnswerSource.score` does."""
        return _score(_file(submission))

    @staticmethod
    def _as_graded(score: Score, place: Path) -> Score:
        """Return the score without the grades that earlier reviews wrote into its file."""
        if all(entry.status is Status.NEEDS_REVIEW for entry in score.entries if entry.rubric):
            return score
        return _score(place / _RESULTS, without_grades=True)

    def notebook(self, submission: GradedSubmission) -> "tuple[Notebook | None, str]":
        """Return the notebook, as `AnswerSource.notebook` does: the executed one if it was saved next to the result."""
        from viva.plugins.report.build import find_notebook

        marked = ScoredAttempt(submission.attempt, self.score(submission))
        return find_notebook(marked, self._assignment, self._withheld, _file(submission).parent)

    def write_grades(self, submission: GradedSubmission, grades: Mapping[str, CurrentDecision]) -> None:
        """Write the grades into the results.json of a submission."""
        from viva.formats.hand_graded_results import write_decisions

        write_decisions(_file(submission), grades, submission.content_hash)


def _score(file: Path, *, without_grades: bool = False) -> Score:
    from viva.formats.hand_graded_results import with_decisions
    from viva.formats.results_json import load_results
    from viva.plugins.report.load_results import read_score

    results = load_results(file)
    return read_score(with_decisions(results, {}) if without_grades else results)


def _file(submission: GradedSubmission) -> Path:
    assert isinstance(submission.score, Path)  # `read` made it
    return submission.score / _RESULTS


def _students_key(attempt: Attempt) -> Sequence[str]:
    return tuple(sorted(student.id for student in attempt.students)) or (attempt.name,)


def _part(entry: Entry) -> Written:
    return Written(entry.rubric, entry.test_id, entry.points, entry.written, noticed(entry.message))
