"""One grade for each student: the attempt that counts, the late penalty, decisions of staff, and what is returned."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum, unique
from fractions import Fraction

from viva.config.policy import Decision, Exceptions, Policy, Rounding
from viva.formats.decimal_points import show
from viva.model import Attempt, ScoredAttempt, Student
from viva.plugins.cohorts.grade_files.returned_grade import ReturnedGrade
from viva.plugins.cohorts.gradebook.counting_attempt import Choice, choose_attempt, compute_outcome
from viva.plugins.cohorts.gradebook.lateness import format_moment, to_utc

_ZERO = Fraction(0)


@unique
class State(StrEnum):
    """The state of a grade."""

    GRADED = "graded"
    OPEN = "open"
    """Points that are not graded yet may still change it, or the deadline has not passed."""
    MISSING = "missing"
    EXCUSED = "excused"


@dataclass(frozen=True, slots=True)
class Grade:
    """What one student gets; every number is exact, and rounded only where it is returned."""

    student: Student
    state: State
    points: Fraction | None
    """After penalties and adjustments, never below zero; None for a student without a grade."""
    maximum: Fraction
    earned: Fraction
    """By the attempt that counts, before penalties."""
    penalty: Fraction
    """Taken off for lateness."""
    adjusted: Fraction
    """Adjusted by staff; negative where points were taken off."""
    still_open: Fraction
    """Points of the attempt that counts which are not graded yet."""
    attempt: Attempt | None
    """The one that counts."""
    reasons: tuple[str, ...]
    """The reasons, as sentences for the student."""


def compute_final_grades(
    scored: Sequence[ScoredAttempt],
    roster: Sequence[Student],
    policy: Policy,
    exceptions: Exceptions | None = None,
    now: datetime | None = None,
) -> list[Grade]:
    """Compute a grade for everyone on the class list, and for everyone else who submitted something.

    Args:
        scored: every attempt with its score; each member of a team gets their own grade, by their own deadline.
        roster: the class list; grades come in its order, then others by id. May be empty.
        now: students without a submission are missing once the deadline has passed; None if it has.

    Raises:
        UsageError: the time of an attempt has no zone.
    """
    exceptions = exceptions or Exceptions()
    of_student: dict[str, list[ScoredAttempt]] = {}
    for each in scored:
        for student in {student.id: student for student in each.attempt.students}.values():
            of_student.setdefault(student.id, []).append(each)
    maximum = policy.maximum
    if maximum is None:
        maximum = max((each.score.points for each in scored), default=_ZERO)
    class_ = _Class(policy, exceptions, maximum, now)
    return [class_.grade(student, of_student.get(student.id, [])) for student in list_students(scored, roster)]


def list_students(scored: Iterable[ScoredAttempt], roster: Iterable[Student]) -> list[Student]:
    """List the class list, then submitters who are not on it, by id; details of both sources are combined."""
    listed = {student.id: student for student in roster}
    submitters: dict[str, Student] = {}
    for each in scored:
        for student in each.attempt.students:
            known = submitters.get(student.id) or listed.get(student.id)
            submitters[student.id] = _combine(known, student) if known else student
    others = sorted(submitters.keys() - listed.keys())
    return [submitters.get(id_, student) for id_, student in listed.items()] + [submitters[id_] for id_ in others]


def list_without_submitter(scored: Iterable[ScoredAttempt]) -> list[str]:
    """List the names of attempts without a known submitter, for which no one gets a grade."""
    return sorted(each.attempt.name for each in scored if not each.attempt.students)


def list_unknown_exceptions(exceptions: Exceptions, grades: Iterable[Grade]) -> list[str]:
    """List the ids of exceptions.yaml that no student has: a typing error would silently have no effect."""
    return sorted(exceptions.students - {grade.student.id for grade in grades})


@dataclass(frozen=True, slots=True)
class _Class:
    """What is the same for every student of the class."""

    policy: Policy
    exceptions: Exceptions
    maximum: Fraction
    now: datetime | None

    def grade(self, student: Student, scored: Sequence[ScoredAttempt]) -> Grade:
        """Compute the grade of one student, who may have submitted nothing."""
        if decision := self.exceptions.excused.get(student.id):
            return self._excused(student, scored, decision)
        due, reasons = self._deadline(student)
        if not scored:
            return self._missing(student, due, reasons)
        choice, unused = self._choice(scored, due)
        counted = choice.counted
        reasons = [*reasons, *unused, *choice.reasons]
        if late := counted.late.sentence(counted.loss):
            reasons.append(late)
        if counted.still_open and counted.late.counts:
            reasons.append(f"{show(counted.still_open)} more points are pending: they are not graded yet")
        points, adjusted, sentences = self._adjust(student, counted.points, counted.maximum)
        is_open = choice.rival or (counted.still_open > 0 and counted.late.counts)
        return Grade(
            student=student,
            state=State.OPEN if is_open else State.GRADED,
            points=points,
            maximum=counted.maximum,
            earned=counted.earned,
            penalty=counted.loss,
            adjusted=adjusted,
            still_open=counted.still_open,
            attempt=counted.scored.attempt,
            reasons=(*reasons, *sentences),
        )

    def _choice(self, scored: Sequence[ScoredAttempt], due: datetime | None) -> tuple[Choice, list[str]]:
        """Choose by the student's deadline, or by the common one, and say why, if their own would cost them points."""
        common = choose_attempt(
            [compute_outcome(each, self.policy.due, self.policy) for each in scored], self.policy.attempts
        )
        if due == self.policy.due:
            return common, []
        own = choose_attempt([compute_outcome(each, due, self.policy) for each in scored], self.policy.attempts)
        if own.counted.points >= common.counted.points:
            return own, []
        return common, ["by the extension a later and worse submission would count, so it is not applied"]

    def _deadline(self, student: Student) -> tuple[datetime | None, list[str]]:
        """Return the later of the common deadline and the student's own, and sentences about it."""
        own = self.exceptions.extensions.get(student.id)
        if own is None:
            return self.policy.due, []
        decided = _describe_decision(own.decision)
        common = self.policy.due
        if common is not None and to_utc(own.due, "The extension") <= to_utc(common, "The deadline"):
            return common, [f"the extension to {format_moment(own.due)} {decided} is not later than the deadline"]
        return own.due, [f"extended to {format_moment(own.due)} {decided}"]

    def _adjust(self, student: Student, points: Fraction, maximum: Fraction) -> tuple[Fraction, Fraction, list[str]]:
        """Return points after staff's adjustments, the adjustment, and its reasons."""
        rows = self.exceptions.adjustments.get(student.id, ())
        adjusted = sum((row.points for row in rows), _ZERO)
        sentences = [f"{_format_signed(row.points)} points {_describe_decision(row.decision)}" for row in rows]
        total = max(_ZERO, points + adjusted)
        if self.policy.extra_credit == "cap" and total > maximum:
            total = maximum
            sentences.append(f"no more than the maximum of {show(maximum)} points counts")
        return total, adjusted, sentences

    def _excused(self, student: Student, scored: Sequence[ScoredAttempt], decision: Decision) -> Grade:
        sentences = [f"excused {_describe_decision(decision)}"]
        if scored:
            names = ", ".join(sorted(each.attempt.name for each in scored))
            sentences.append(f"what was submitted does not count: {names}")
        return self._without(student, State.EXCUSED, None, _ZERO, sentences)

    def _missing(self, student: Student, due: datetime | None, reasons: Sequence[str]) -> Grade:
        if due is not None and self.now is not None and to_utc(self.now, "now") <= to_utc(due, "The deadline"):
            return self._without(student, State.OPEN, None, _ZERO, [*reasons, "nothing was submitted yet"])
        sentences = [*reasons, "nothing was submitted"]
        rows = self.exceptions.adjustments.get(student.id, ())
        if not rows and self.policy.nothing == "blank":
            return self._without(student, State.MISSING, None, _ZERO, sentences)
        points, adjusted, more = self._adjust(student, _ZERO, self.maximum)
        return self._without(student, State.MISSING, points, adjusted, [*sentences, *more])

    def _without(
        self, student: Student, state: State, points: Fraction | None, adjusted: Fraction, reasons: Sequence[str]
    ) -> Grade:
        """Return a grade without an attempt."""
        return Grade(student, state, points, self.maximum, _ZERO, _ZERO, adjusted, _ZERO, None, tuple(reasons))


def _combine(first: Student, second: Student) -> Student:
    """Combine what two sources know about one person; the first one has priority."""
    also: Mapping[str, str] = {**second.also, **first.also}
    return replace(
        first,
        name=first.name or second.name,
        email=first.email or second.email,
        section=first.section or second.section,
        also=also,
    )


def _describe_decision(decision: Decision) -> str:
    return f"by {decision.by} ({decision.reason})"


def _format_signed(points: Fraction) -> str:
    return f"{'+' if points > 0 else '−'}{show(abs(points))}"


def round_grades(grades: Iterable[Grade], rounding: Rounding, *, with_open: bool = False) -> list[ReturnedGrade]:
    """Return what is written for each grade.

    Args:
        with_open: write grades that are not complete with the points so far, unless nothing of them is graded; else
            nothing is written for them, because a platform would show points as lost that are not graded yet.
    """
    return [_round_grade(grade, rounding, with_open=with_open) for grade in grades]


def _round_grade(grade: Grade, rounding: Rounding, *, with_open: bool) -> ReturnedGrade:
    has_graded_points = grade.still_open < grade.maximum or grade.adjusted != 0
    is_written = grade.points is not None and (grade.state is not State.OPEN or (with_open and has_graded_points))
    return ReturnedGrade(
        student=grade.student,
        state=grade.state.value,
        points=round_points(grade.points, rounding) if is_written and grade.points is not None else None,
        maximum=grade.maximum,
        exact=grade.points if is_written else None,
        earned=grade.earned,
        penalty=grade.penalty,
        adjusted=grade.adjusted,
        still_open=grade.still_open,
        attempt=grade.attempt.name if grade.attempt else "",
        submitted_at=grade.attempt.submitted_at if grade.attempt else None,
        why="\n".join(f"{reason[:1].upper()}{reason[1:]}." for reason in grade.reasons),
    )


def round_points(points: Fraction, rounding: Rounding) -> Fraction:
    """Return the nearest multiple of `rounding.to`; a half goes to the even multiple, or up if the course says so."""
    units = points / rounding.to
    whole = math.floor(units + Fraction(1, 2)) if rounding.half == "up" else round(units)
    return whole * rounding.to
