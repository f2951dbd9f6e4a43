"""Checks whether a score agrees with the expected verdict of its submission."""

from collections.abc import Sequence
from fractions import Fraction

from viva.config import Assignment
from viva.formats.points_total import in_points, short_points
from viva.model import Entry, Score, Status
from viva.model.hand_grading import UNREADABLE, feedback_of
from viva.model.totals import EXTRA_CREDIT, Totals
from viva.plugins.verify.expected_verdicts import ExampleSubmission
from viva.submissions.handout import is_below, questions_in


def heading_complaints(assignment: Assignment, entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return one sentence for each heading of the handout whose points its tests do not add up to.

    A heading without any test is passed over: its answer may be a part of another question.
    """
    handout = assignment.folder / "handout.md"
    if not handout.is_file():
        return ()
    found = []
    for question in questions_in(handout.read_text("utf-8", "replace")):
        stated = question.points
        below = [entry.points for entry in entries if is_below(entry.number, question.number)]
        total = sum(below, Fraction(0))
        if below and stated not in (None, total):
            says = f"handout.md says {in_points(stated)}"
            found.append(f"the tests of {question.number} add up to {in_points(total)}, but {says}")
    return tuple(found)


def complaints(example: ExampleSubmission, score: Score) -> list[str]:
    """Return what is wrong with the score, one sentence each; empty if it is right as far as the tests ran."""
    found = [*_grader_errors(score), *_differences(example, score)]
    return found or ([] if waits(example, score) else _by_folder(example, score))


def waits(example: ExampleSubmission, score: Score) -> bool:
    """Return whether a test that must fail was left out of this run, so that the verdict is not decided yet."""
    left_out = {_test_name(e) for e in score.entries if _is_undecided(e)}
    return not left_out.isdisjoint(example.failing or ())


def blank_answers(example: ExampleSubmission, score: Score) -> list[str]:
    """Return which questions a right submission leaves blank; the key holds no answers in words."""
    if example.verdict != "accepted" or example.name == "key":
        return []
    empty = [e.rubric for e in score.entries if e.status is Status.NEEDS_REVIEW and e.rubric and not e.written.strip()]
    if not empty:
        return []
    what = f"no text was found for {', '.join(empty)}, which a person grades"
    return [f"{what}: write one that the starter does not have, below the starter's heading or in answers.yaml"]


def _is_undecided(entry: Entry) -> bool:
    """Return whether a test was left out, or a person decides it: it rests on a guess, or on an unreadable answer."""
    if entry.status is Status.NEEDS_REVIEW:
        return not entry.rubric or entry.rubric.startswith(UNREADABLE)
    return entry.status is Status.DEFERRED


def _grader_errors(score: Score) -> list[str]:
    return [
        f"{e.test_id} is a grader error: {(e.staff_message or e.message).strip().splitlines()[-1]}"
        for e in score.entries
        if e.status.is_fault
    ]


def _differences(example: ExampleSubmission, score: Score) -> list[str]:
    found = []
    everywhere = Totals.add_up(e for e in score.entries if not e.needs).earned
    if example.score is not None and everywhere != example.score:
        found.append(f"got {in_points(everywhere)}, expected {short_points(example.score)} ({_lost_tests(score)})")
    trained = [e for e in score.entries if e.needs == ("training",)]
    if example.training is not None and not any(e.status.is_open for e in trained):
        won = Totals.add_up(trained).earned
        if won != example.training:
            found.append(
                f"training got {in_points(won)}, expected {short_points(example.training)} ({_lost_tests(score)})"
            )
    if example.failing is not None:
        wanted = set(example.failing)
        compared = [e for e in score.entries if not e.needs or _covers_training(wanted, score)]
        left_out = {_test_name(e) for e in score.entries if _is_undecided(e)}
        lost = {_test_name(e) for e in compared if e.status.is_lost}
        if unknown := wanted - {_test_name(e) for e in score.entries}:
            return [f"its submission.yaml says that {', '.join(sorted(unknown))} must fail, and there is no such test"]
        if lost - wanted:
            found.append(f"should pass but did not: {', '.join(sorted(lost - wanted))}")
        if passed := wanted - lost - left_out:
            found.append(f"should not pass but did: {', '.join(sorted(passed))}")
    if (
        example.message
        and not waits(example, score)
        and not any(example.message in text for text in _read_by_student(score))
    ):
        found.append(f"no message to the student says {example.message!r}")
    return found


def _covers_training(failing: set[str], score: Score) -> bool:
    """Return whether the list of failing tests covers those that some runs omit: it names one, or is empty.

    A list written before there were such tests stays valid; `training` says what such a submission gets there.
    """
    return not failing or any(_test_name(e) in failing for e in score.entries if e.needs)


def _by_folder(example: ExampleSubmission, score: Score) -> list[str]:
    """Return what is wrong according to the folder's name, whatever else is stated."""
    required = Totals.add_up(e for e in score.entries if EXTRA_CREDIT not in e.tags)
    decided = required.graded_points
    statuses = {e.status for e in score.entries}
    match example.verdict:
        case "accepted" | "bases" if required.earned != decided:
            return [f"a right answer lost points: {_lost_tests(score)}"]
        case "partial" if not 0 < required.earned < decided:
            return [f"got {short_points(required.earned)} of {in_points(decided)}, expected some but not all"]
        case "wrong" if required.earned >= decided:
            return [f"got full marks{_unless_left_out(score)}"]
        case "error" if Status.ERROR not in statuses and not score.notes:
            return ["no test ended in an error"]
        case "timeout" if Status.TIMEOUT not in statuses and not score.notes:
            return ["no test ended in a timeout"]
        case "starter" if example.score is None and score.earned > 0:
            return [f"the starter gets {in_points(score.earned)}; state it in starter/submission.yaml if it is meant"]
    return []


def _unless_left_out(score: Score) -> str:
    """Return what to state where a test that was left out may be the one that fails."""
    if any(e.status is Status.DEFERRED for e in score.entries):
        return "; if it fails a test that was left out here, name it in its submission.yaml (failing: [test_…])"
    return ""


def _read_by_student(score: Score) -> list[str]:
    """Gather the notes, every test's message and what is told after grading; hidden tests report to staff."""
    after = [line for e in score.entries if e.visibility == "visible" for line in feedback_of(e.staff_message)]
    return [*score.notes, *(e.message for e in score.entries), *after]


def _lost_tests(score: Score) -> str:
    lost = [
        f"{_test_name(e)} {e.status}{': ' + text if (text := _reason(e)) else ''}"
        for e in score.entries
        if e.status.is_lost
    ]
    return "; ".join(lost[:4]) + (f"; and {len(lost) - 4} more" if len(lost) > 4 else "") if lost else "nothing lost"


def _test_name(entry: Entry) -> str:
    return entry.test_id.split("::", 1)[-1]


def _reason(entry: Entry) -> str:
    """Return one line of what the staff reads; of a traceback, the exception."""
    first, *others = (entry.staff_message or entry.message).strip().splitlines() or [""]
    if first.startswith("Traceback"):
        first = next((line for line in others if not line.startswith(" ")), first)
    return first[:160]
