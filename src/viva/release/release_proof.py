"""The proof of a release: it decides as the course does on the starter and on every example submission.

What the boxes replied when the assignment was verified is replayed to the released tests, which takes seconds. Where a
replay does not answer, or decides otherwise, and for the starter and two right submissions, the programs run in both.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from viva.config import Assignment, Course, load_course
from viva.examiner.load_notes import WHILE_LOADING
from viva.model import Entry, Tier
from viva.model.grade_request import Graded, GradeOptions
from viva.pipeline.jobs import Job
from viva.pipeline.local_pool import LocalPool
from viva.pipeline.process.settings import BoxOptions
from viva.release.key_answers import right_submissions
from viva.replay.key_recording import NOT_RECORDED
from viva.verify.expected_verdicts import ExampleSubmission
from viva.verify.last_verification import Verified


def complaints(
    course: Course,
    assignment: Assignment,
    released: Path,
    tests: Sequence[str],
    tier: Tier,
    secret: bytes,
    examples: Sequence[ExampleSubmission],
    found: Mapping[str, Verified],
) -> list[str]:
    """Return how the released course differs from the course; empty if it does not.

    A test that cannot be decided there, because it asks the key about what a wrong submission returned, is not a
    difference: it says so to the student. For a right submission it is one.

    Args:
        course: the course of the assignment.
        assignment: the released assignment.
        released: the folder of the released course.
        tests: the ids of the released tests.
        tier: the isolation level.
        secret: the secret of the course.
        examples: submissions with their expected verdicts.
        found: what they got when the assignment was verified.

    Raises:
        VivaError: one of the two courses cannot grade at all.
    """
    options = GradeOptions(only=tuple(tests), visible_only=True, training=False)
    released_course = load_course(released)
    there = released_course.assignment(assignment.name)
    run = {k.name for k in (*right_submissions(assignment, examples)[:2], *examples) if k.name not in found}
    run |= {k.name for k in right_submissions(assignment, examples)[:2]} | {"starter"}
    replayable = [k for k in examples if k.name not in run and found[k.name].call_log]
    replayed = _replayed(released_course, there, tier, options, replayable, found)
    same = {
        k.name
        for k in replayable
        if k.name in replayed and not _differences(found[k.name].score.entries, replayed[k.name], k)
    }
    left = [k for k in examples if k.name not in same]
    in_course = _graded(course, assignment, tier, secret, options, left)
    in_release = _graded(released_course, there, tier, b"a student has no secret", options, left)
    wrong = []
    for example in left:
        differences = _differences(in_course[example.name].score.entries, in_release[example.name], example)
        wrong += [f"{example.name}: {text}" for text in differences]
        if example.verdict == "starter":
            wrong += [
                f"the starter does not run from top to bottom: {text}" for text in _loading(in_release[example.name])
            ]
    return wrong


def _loading(graded: Graded) -> list[str]:
    return [note for note in graded.score.notes if note.startswith(WHILE_LOADING)]


def _replayed(
    course: Course,
    assignment: Assignment,
    tier: Tier,
    options: GradeOptions,
    examples: Sequence[ExampleSubmission],
    found: Mapping[str, Verified],
) -> dict[str, Graded]:
    """Return what the released tests decide about the recorded replies; without those that ask something else."""
    if not examples:
        return {}
    logs = {k.name: found[k.name].call_log for k in examples}
    jobs = [Job(Path(n), n, assignment, k.submission, replayed=logs[n].__bytes__) for k in examples if (n := k.name)]
    pool = LocalPool(course, b"a student has no secret", BoxOptions(tier, replay_only=True), options)
    results = ((job.name, result) for job, result in pool.run(jobs))
    return {name: graded for name, graded in results if isinstance(graded, Graded) and not graded.changed}


def _graded(
    course: Course,
    assignment: Assignment,
    tier: Tier,
    secret: bytes,
    options: GradeOptions,
    examples: Sequence[ExampleSubmission],
) -> dict[str, Graded]:
    jobs = [Job(Path(k.name), k.name, assignment, k.submission) for k in examples]
    graded = {}
    for job, result in LocalPool(course, secret, BoxOptions(tier), options).run(jobs):
        if isinstance(result, Exception):
            raise result
        graded[job.name] = result
    return graded


def _differences(entries: Sequence[Entry], graded: Graded, example: ExampleSubmission) -> list[str]:
    """Return how the released tests differ from the same tests of the course."""
    mine = {entry.test_id: entry for entry in entries}
    return [text for other in graded.score.entries if (text := _difference(mine[other.test_id], other, example))]


def _difference(mine: Entry, other: Entry, example: ExampleSubmission) -> str:
    same = (mine.status, mine.earned, mine.points) == (other.status, other.earned, other.points)
    undecided = any(NOT_RECORDED in case.message or NOT_RECORDED in case.staff_message for case in other.cases)
    if same or (undecided and example.verdict != "accepted"):
        return ""
    reason = next((c.staff_message or c.message for c in other.cases if c.status is other.status), "")
    what = f"{other.status} ({reason[:200]})" if reason else str(other.status)
    return f"{mine.test_id} is {mine.status} in the course and {what} in what is released"
