"""The proof of a release: it decides as the course does on the starter and on every example submission.

What the boxes replied when the assignment was verified is replayed to the released tests, which takes seconds: all of
them for a right submission, those that lose points for any other. A test that has learnt the same from several right
submissions is replayed for the first. The programs of the starter and of two right submissions run in the released
course, and others where a replay does not answer, or decides otherwise. One that runs into a time limit does not: the
limit is the same there.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from viva.config import Assignment, Course
from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Entry, Score, Tier
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.release.key_answers import right_submissions
from viva.release.starter_failures import unforeseen
from viva.replay.call_log import CallLog
from viva.replay.key_recording import NOT_RECORDED
from viva.verify.expected_verdicts import ExampleSubmission
from viva.verify.last_verification import Verified


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two courses that are compared, and how it grades."""

    course: Course
    assignment: Assignment
    tier: Tier
    secret: bytes
    options: GradeOptions

    def graded(self, examples: Sequence[ExampleSubmission], workers: int = 0) -> dict[str, Graded]:
        """Run the examples, with so many examiners at once as `LocalPool` takes.

        Raises:
            VivaError: one cannot be graded at all.
        """
        if not examples:
            return {}
        jobs = [Job(Path(k.name), k.name, self.assignment, k.submission) for k in examples]
        graded = {}
        for job, result in LocalPool(self.course, self.secret, BoxOptions(self.tier), self.options, workers).run(jobs):
            if isinstance(result, Exception):
                raise result
            graded[job.name] = result
        return graded

    def agreeing(self, examples: Sequence[ExampleSubmission], found: Mapping[str, Verified]) -> set[str]:
        """Return the names of the examples that recorded replies show to be decided as in the course."""
        asked: dict[str, GradeOptions] = {}
        shared: dict[str, set[str]] = {}
        first: dict[tuple[str, bytes], str] = {}
        for example in examples:
            asked[example.name], shared[example.name] = self._worth_asking(example, found[example.name], first)
        agreeing = self._replayed([(k, asked[k.name]) for k in examples], found)
        agreeing -= {name for name in agreeing if not shared[name] <= agreeing}
        everything = replace(self.options, explain=False)  # a test may need that others came before it
        left = [(k, everything) for k in examples if k.name not in agreeing]
        return agreeing | self._replayed(left, found)

    def _worth_asking(
        self, example: ExampleSubmission, verified: Verified, first: dict[tuple[str, bytes], str]
    ) -> tuple[GradeOptions, set[str]]:
        """Return which tests to replay for an example, and the names of the examples that stand in for it in others.

        A wrong submission fails what it failed. A right one passes every test, and of several from which a test has
        learnt the same, the first is replayed.

        Args:
            example: the submission.
            verified: what it got in the course.
            first: by test and what it has learnt, the first example; added to here.
        """
        entries = list(filter(self.options.selects_entry, verified.score.entries))
        if example.verdict != "accepted":
            lost = tuple(entry.test_id for entry in entries if entry.earned < entry.points)
            return replace(self.options, only=lost, explain=False), set()
        call_log, chosen, shared = CallLog.from_bytes(verified.call_log), [], set()
        for entry in entries:
            learnt = call_log.learnt(entry.test_id)
            name = example.name if learnt is None else first.setdefault((entry.test_id, learnt), example.name)
            if name == example.name:
                chosen.append(entry.test_id)
            else:
                shared.add(name)
        return replace(self.options, only=tuple(chosen), explain=False), shared

    def _replayed(
        self, examples: Sequence[tuple[ExampleSubmission, GradeOptions]], found: Mapping[str, Verified]
    ) -> set[str]:
        """Return the names of the examples whose replay answers everything, and is decided as in the course."""
        by_name = {example.name: (example, options) for example, options in examples if options.only}
        jobs = [
            Job(Path(name), name, self.assignment, example.submission, options, replayed=_of(found[name]))
            for name, (example, options) in by_name.items()
        ]
        pool = LocalPool(self.course, self.secret, BoxOptions(self.tier, replay_only=True), self.options)
        unasked = {example.name for example, _ in examples if example.name not in by_name}
        return unasked | {
            job.name
            for job, graded in pool.run(jobs)
            if isinstance(graded, Graded) and not graded.changed
            if not _differences(found[job.name].score, graded.score, *by_name[job.name])
        }


def _of(verified: Verified) -> Callable[[], bytes]:
    return lambda: verified.call_log


def complaints(
    course: Side, released: Side, examples: Sequence[ExampleSubmission], found: Mapping[str, Verified]
) -> list[str]:
    """Return how the released course differs from the course; empty if it does not.

    A test that cannot be decided there, because it asks the key about what a wrong submission returned, is not a
    difference: it says so to the student. For a right submission it is one.

    Args:
        course: the author's course.
        released: the released one.
        examples: submissions with their expected verdicts.
        found: what they got when the assignment was verified.

    Raises:
        VivaError: one of the two courses cannot grade at all.
    """
    right = right_submissions(course.assignment, examples)
    always = {"starter", *(k.name for k in right[:2])}
    decided = [k for k in examples if k.verdict != "timeout"]
    replayable = [k for k in decided if k.name not in always and k.name in found and found[k.name].call_log]
    with ThreadPoolExecutor(1) as beside:  # its fork server starts while others are replayed
        run = beside.submit(released.graded, [k for k in decided if k.name in always], workers=1)
        same = released.agreeing(replayable, found)
        in_release = run.result()
    left = [k for k in decided if k.name not in same]
    in_course = {k.name: found[k.name].score for k in left if k.name in found}
    in_course |= {
        name: graded.score for name, graded in course.graded([k for k in left if k.name not in found]).items()
    }
    in_release |= released.graded([k for k in left if k.name not in in_release])
    wrong = []
    for example in left:
        mine, other = in_course[example.name], in_release[example.name].score
        wrong += [f"{example.name}: {text}" for text in _differences(mine, other, example, released.options)]
        if example.verdict == "starter":
            notes = [note for note in other.notes if note.startswith(WHILE_LOADING)]
            failures = unforeseen(notes, example.submission, right[0].submission)
            wrong += [f"the starter does not run from top to bottom: {note}" for note in failures]
    return wrong


def _differences(course: Score, released: Score, example: ExampleSubmission, options: GradeOptions) -> list[str]:
    """Return how the released tests differ from the same tests of the course, of which there may be more."""
    mine, others = (filter(options.selects_entry, score.entries) for score in (course, released))
    pairs = zip(mine, others, strict=True)
    return [text for mine, other in pairs if (text := _difference(mine, other, example))]


def _difference(mine: Entry, other: Entry, example: ExampleSubmission) -> str:
    same = _decision(mine) == _decision(other)
    undecided = any(NOT_RECORDED in case.message or NOT_RECORDED in case.staff_message for case in other.cases)
    if same or (undecided and example.verdict != "accepted"):
        return ""
    reason = next((c.staff_message or c.message for c in other.cases if c.status is other.status), "")
    what = f"{other.status} ({reason[:200]})" if reason else str(other.status)
    return f"{mine.test_id} is {mine.status} in the course and {what} in what is released"


def _decision(entry: Entry) -> tuple[object, ...]:
    return entry.test_id, entry.status, entry.earned, entry.points
