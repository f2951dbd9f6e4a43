"""The proof of a release: it decides as the course does on the starter and on every example submission.

What the boxes replied when the assignment was verified is replayed to the released tests, which takes seconds. The
programs of the starter and of a right submission run in the released course, and others where a replay does not
answer, or decides otherwise. One that runs into a time limit does not: the limit is the same there.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viva.config import Assignment, Course
from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Entry, Score, Tier
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.release.key_answers import right_submissions
from viva.release.starter_failures import unforeseen
from viva.replay.key_recording import NOT_RECORDED
from viva.verify.earlier_replies import Verified
from viva.verify.expected_verdicts import ExampleSubmission

STARTER_FAILS: Final = "the starter does not run from top to bottom"


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
        by_name = {example.name: example for example in examples}
        jobs = [
            Job(Path(name), name, self.assignment, example.submission, replayed=found[name].call_log)
            for name, example in by_name.items()
        ]
        boxes, options = BoxOptions(self.tier, replay_only=True), replace(self.options, explain=False)
        return {
            job.name
            for job, graded in LocalPool(self.course, self.secret, boxes, options).run(jobs)
            if isinstance(graded, Graded) and not graded.changed
            if not _differences(found[job.name].score, graded.score, by_name[job.name], self.options)
        }


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
    always = {"starter", right[0].name}
    always |= {k.name for k in examples if k.name not in found or not found[k.name].head}
    decided = [k for k in examples if k.verdict != "timeout"]
    with ThreadPoolExecutor(1) as other_thread:  # its fork server starts while others are replayed
        run = other_thread.submit(released.graded, [k for k in decided if k.name in always], workers=1)
        same = released.agreeing([k for k in decided if k.name not in always], found)
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
            wrong += [f"{STARTER_FAILS}: {note}" for note in failures]
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
