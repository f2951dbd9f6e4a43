"""The queue of an assignment's written answers that are graded by hand.

Several queues may share one set of records, in other processes and on other machines. Each reads what the others have
appended before it answers a request, and stores its own decisions before it confirms them.
"""

import sys
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Self

from viva.config import Assignment, Course
from viva.config.rubric import Item, Question, Rubric
from viva.config.rubric_file import load_rubric
from viva.formats import escaping
from viva.model.errors import EXPECTED_ERRORS, UsageError
from viva.model.hand_grading import FIRST, MARK, SECOND, SETTLED, UNREADABLE, CurrentDecision, Judgement, Place, Review
from viva.model.reason import Reason
from viva.plugins.records.store import Records
from viva.plugins.review.answer_sources import AnswerSource, FolderSource, RecordsSource
from viva.plugins.review.decision_log import DecisionLog, key_of, place_of
from viva.plugins.review.leases import Leases, Marker
from viva.plugins.review.rubric_points import MOST_REASON, judge, rejudged, tidied
from viva.plugins.review.written_answers import Answer, GradedSubmission, Key, Written, answers_of

Grades = Callable[[], Mapping[str, CurrentDecision]]
"""Returns the grades of a submission that count at the time of the call, by question."""


class BackgroundWriter:
    """Passes grades to a source in one thread, in the order in which they were given."""

    def __init__(self, source: AnswerSource) -> None:
        self._source = source
        self._thread = ThreadPoolExecutor(1, "viva-review")
        self.failures: Mapping[str, str] = {}
        """Submissions whose results could not be updated, and why. The mapping is replaced, never changed in place,
        because pages read it from other threads."""

    def schedule(self, submissions: Iterable[GradedSubmission], grades: Grades) -> None:
        """Schedule the update of a submission under each of its names; return at once."""
        self._thread.submit(self._write, submissions, grades)

    def close(self) -> None:
        """Wait until every scheduled update is written."""
        self._thread.shutdown(wait=True)

    def _write(self, submissions: Iterable[GradedSubmission], grades: Grades) -> None:
        for submission in submissions:
            name = submission.attempt.name
            try:
                self._source.write_grades(submission, grades())
            except Exception as error:  # no caller can catch it: it is shown on the page and at the end
                self.failures = {**self.failures, name: str(error) or type(error).__name__}
            else:
                self.failures = {other: why for other, why in self.failures.items() if other != name}


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of answers to a question that are graded in one round."""

    question: Question
    done: int
    of: int

    @property
    def left(self) -> int:
        """Return the number of answers that are not graded."""
        return self.of - self.done


class ReviewQueue:
    """The written answers of a class, with the decisions about them.

    Entering the context starts a thread that reads the answers. Until `ready` is set there are none.
    """

    def __init__(self, assignment: Assignment, rubric: Rubric, source: AnswerSource, decisions: DecisionLog) -> None:
        self.assignment, self.rubric, self.source, self.decisions = assignment, rubric, source, decisions
        self.ready = threading.Event()
        self.fault: Exception | None = None
        """The error with which reading the class ended, if it failed."""
        self.read_count = 0
        """The number of submissions that were read so far."""
        self.unknown: Sequence[str] = ()
        """Questions that are graded by hand but are not in the rubric."""
        self.outdated: Sequence[tuple[Review, Judgement | None]] = ()
        """Grades of an earlier rubric, and the judgement by the present one; None if one of its items is gone."""
        self.answers: Mapping[str, Sequence[Answer]] = {question.number: () for question in rubric.questions}
        self._index: Mapping[Key, int] = {}
        self._hashes: Mapping[str, frozenset[str]] = {}
        self._groups: dict[str, Mapping[str, Sequence[str]]] = {}
        self.leases = Leases(decisions)
        self._lock = threading.Lock()
        self.writer = BackgroundWriter(source)
        self._reading = threading.Thread(target=self._read, name="viva-class", daemon=True)

    # --- the class

    def __enter__(self) -> Self:
        """Start reading the class in another thread."""
        self._reading.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Wait until all grades are written to the source."""
        self.writer.close()

    def _read(self) -> None:
        try:
            self.decisions.refresh()
            class_ = []
            for submission in self.source.read():
                class_.append(submission)
                self.read_count += 1
            asked = {part.question: part for _, written in class_ for part in written}
            unreadable = [_unreadable_question(asked[n]) for n in sorted(asked) if n.startswith(UNREADABLE)]
            self.rubric = Rubric((*self.rubric.questions, *unreadable))
            self.answers = {question.number: () for question in self.rubric.questions}
            self.unknown = sorted(set(asked) - set(self.answers))
            self.answers = answers_of(class_, self.answers)
            self._hashes = {
                n: frozenset(answer.content_hash for answer in answers) for n, answers in self.answers.items()
            }
            self._index = {
                (answer.content_hash, number): place
                for number, answers in self.answers.items()
                for place, answer in enumerate(answers)
            }
            # Undone grades are included: an earlier process may have ended before it wrote them to the source.
            self._changed({key_of(row.place) for row in self.decisions.current()})
        except Exception as error:  # shown on the page that waits for the class
            self.fault = error
            if not isinstance(error, EXPECTED_ERRORS):  # a bug in viva: its traceback is needed
                print(escaping.terminal(traceback.format_exc()), file=sys.stderr, flush=True)
        finally:
            self.ready.set()
        self.outdated = list(self._outdated())

    def _outdated(self) -> Iterator[tuple[Review, Judgement | None]]:
        @cache  # many answers get the same judgement
        def renewed(number: str, judgement: Judgement, points: Fraction) -> Judgement | None:
            question = self.rubric.question(number)
            assert question is not None  # there are answers only to questions of the rubric
            return rejudged(question, judgement, points)

        for row in self.decisions.current():
            answer = self.answer(key_of(row.place))
            if answer is not None and row.judgement.done:
                new = renewed(row.place.question, row.judgement, answer.points)
                if new != row.judgement:
                    yield row, new

    def wait(self) -> None:
        """Wait until the class is read and `outdated` is known; `ready` is set before that, for the pages.

        Raises:
            UsageError: the class cannot be read.
        """
        self._reading.join()
        if self.fault is not None:
            raise self.fault

    def answer(self, key: Key) -> Answer | None:
        """Return an answer; None if there is no such answer."""
        place = self._index.get(key)
        return None if place is None else self.answers[key[1]][place]

    def all_answers(self) -> Iterator[Answer]:
        """Yield all answers, question by question."""
        return chain.from_iterable(self.answers.values())

    def position(self, answer: Answer) -> int:
        """Return the index of an answer among the answers to its question, from 0."""
        return self._index[answer.key]

    def progress(self, number: str, round_: int) -> Progress:
        """Return how many answers to a question are graded in a round."""
        question = self.rubric.question(number)
        assert question is not None  # callers take it from the rubric
        hashes = self._hashes.get(number, frozenset())
        return Progress(question, len(hashes & self.decisions.done(number, round_)), len(hashes))

    def next_for(self, marker: Marker, number: str, after: Answer | None = None) -> Answer | None:
        """Return the next answer that is not graded; None if none is left for this marker. See `Leases.next_for`."""
        return self.leases.next_for(marker, self.answers[number], None if after is None else self.position(after))

    def neighbor(self, answer: Answer, step: int) -> Answer | None:
        """Return the previous (-1) or the next (1) answer to the same question; None at the ends."""
        place = self.position(answer) + step
        answers = self.answers[answer.question]
        return answers[place] if 0 <= place < len(answers) else None

    # --- similar answers

    def similar(self, answer: Answer) -> list[Answer]:
        """Return the answers that are similar to this one, without it."""
        from viva.plugins.review.similar_answers import groups

        number = answer.question
        with self._lock:
            if number not in self._groups:
                answers = self.answers[number]
                found: defaultdict[str, list[str]] = defaultdict(list)
                for group in groups([other.text for other in answers]):
                    hashes = [answers[index].content_hash for index in group]
                    found.update(dict.fromkeys(hashes, hashes))
                self._groups[number] = found
        same = self._groups[number].get(answer.content_hash, ())
        others = (self.answer((content_hash, number)) for content_hash in same if content_hash != answer.content_hash)
        return [other for other in others if other is not None]

    # --- decisions

    def judge(self, answer: Answer, items: Sequence[str], adjust: Fraction, comment: str, *, done: bool) -> Judgement:
        """Return the judgement that a marker's choices give by the rubric.

        Raises:
            UsageError: an item does not exist, two exclude each other, or the comment is too long.
        """
        question = self.rubric.question(answer.question)
        assert question is not None  # there are answers only to questions of the rubric
        return judge(question, items, adjust, comment, answer.points, done=done)

    def mark(
        self, marker: Marker, judgements: Sequence[tuple[Answer, Judgement]], *, action: str, seen: Mapping[str, int]
    ) -> list[Review]:
        """Store a marker's judgements of one answer or of several as one action.

        Args:
            marker: the marker.
            judgements: answers, and the judgement of each.
            action: the name of the action; see `DecisionLog.append`.
            seen: by content hash, the row that the marker has seen; see `DecisionLog.append`.

        Raises:
            Changed: another marker has graded one of the answers since; nothing was added.
            UsageError: this marker may not grade one of the answers, see `Leases.may_mark`.
        """
        self.leases.check_may_mark(marker, [answer for answer, _ in judgements])
        places = [(place_of(answer.key, marker.round), judgement) for answer, judgement in judgements]
        known = {place: seen[place.content_hash] for place, _ in places if place.content_hash in seen}
        return self.append(places, Reason(marker.name), action=action, seen=known)

    def settle(self, by: str, answer: Answer, judgement: Judgement, why: str, *, action: str, seen: int) -> Review:
        """Store a decision that overrides both rounds: after a disagreement of two markers, or a regrade request.

        Raises:
            Changed: someone else has decided since.
            UsageError: there is no reason, or it is too long.
        """
        why = tidied(why, "reason", MOST_REASON)
        if not why:
            raise UsageError("A decision needs a reason.")
        place = Place(*answer.key, SETTLED, 0)
        return self.append([(place, judgement)], Reason(by, why), action=action, seen={place: seen})[0]

    def undo(self, marker: Marker) -> list[Review]:
        """Undo a marker's last action, and return the new rows.

        Raises:
            Changed: another marker has added a row for one of the answers since.
        """
        rows = self.decisions.undo(marker.name, marker.round)
        self._changed({key_of(row.place) for row in rows})
        return rows

    def pairs(self, number: str) -> list[tuple[Fraction, Fraction]]:
        """Return the points of the first and the second marker for each answer to a question that both have graded."""
        first, second = (self.decisions.done(number, round_) for round_ in (FIRST, SECOND))
        found = []
        for content_hash in sorted(self._hashes.get(number, frozenset()) & first & second):
            rows = [self.decisions.at(Place(content_hash, number, MARK, round_)) for round_ in (FIRST, SECOND)]
            one, two = (row.judgement.earned for row in rows if row is not None)
            found.append((one, two))
        return found

    def refresh(self) -> None:
        """Read what others have appended."""
        self._changed(self.decisions.refresh())

    def append(
        self,
        judgements: Sequence[tuple[Place, Judgement]],
        reason: Reason,
        *,
        action: str,
        seen: Mapping[Place, int] | None = None,
    ) -> list[Review]:
        """Append judgements as `DecisionLog.append` does, and update the results."""
        rows = self.decisions.append(judgements, reason, action=action, seen=seen)
        self._changed({key_of(place) for place, _ in judgements})
        return rows

    def _changed(self, keys: set[Key]) -> None:
        if not self.source.stores_grades:
            return
        for content_hash in {key[0] for key in keys if key in self._index}:
            found = [answer for number in self.answers if (answer := self.answer((content_hash, number)))]
            self.writer.schedule(found[0].submissions, partial(self._standing, found))

    def _standing(self, answers: Sequence[Answer]) -> dict[str, CurrentDecision]:
        return {answer.question: self.decisions.standing(answer.key) for answer in answers}


def _unreadable_question(part: Written) -> Question:
    """Return the question that stands for a test whose answer by hand cannot be read: it is right, or earns nothing."""
    return Question(
        part.question,
        f"An answer that could not be read ({part.test_id})",
        part.points,
        (Item("right", part.points, "The answer is right; the test asks for the form that it should have had."),),
        note="Read the answer as a person would. For an answer that is partly right, adjust the points.",
    )


def queue_of_records(course: Course, name: str, records: Records) -> ReviewQueue:
    """Create the queue for an assignment whose scores are in the records.

    Raises:
        UsageError: the course has no such assignment, or the assignment has no rubric.
    """
    assignment = course.assignment(name)
    return _queue(assignment, RecordsSource(records, assignment, course.withheld), records)


def queue_of_folder(course: Course, folder: Path, submissions: Path, name: str | None, records: Records) -> ReviewQueue:
    """Create the queue for a folder that `viva grade -o` wrote.

    Grades are stored in the records, and written into the results of the folder.

    Args:
        course: the course of the assignment.
        folder: what `viva grade -o` wrote.
        submissions: the folder in which grading was started; the results name their submissions relative to it.
        name: the assignment; None for the only one in the folder.
        records: where decisions are stored.

    Raises:
        UsageError: the course has no such assignment, or the assignment has no rubric.
    """
    assignment = course.assignment(name or _assignment_of(folder))
    source = FolderSource(folder, submissions, assignment, course.withheld, only_assignment=name is None)
    return _queue(assignment, source, records)


def _queue(assignment: Assignment, source: AnswerSource, records: Records) -> ReviewQueue:
    return ReviewQueue(assignment, _rubric(assignment), source, DecisionLog(records, assignment.name))


def _rubric(assignment: Assignment) -> Rubric:
    rubric = load_rubric(assignment.folder / "rubric.yaml")
    if not rubric.questions and not assignment.answers:
        raise UsageError(
            f"{assignment.folder / 'rubric.yaml'} has no questions, so there is nothing by which prose is graded; "
            "part 13 of docs/author-guide.md shows how a rubric is written."
        )
    return rubric


def _assignment_of(folder: Path) -> str:
    """Return the assignment of the first result; `FolderSource` refuses results of others."""
    from viva.formats.results_json import load_results

    file = next((path for path in sorted(folder.rglob("results.json")) if path.is_file()), None)
    if file is None:
        raise UsageError(f"{folder} holds no results.json; give the folder that `viva grade -o` wrote.")
    return load_results(file).extra_data.assignment
