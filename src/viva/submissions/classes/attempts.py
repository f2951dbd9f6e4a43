"""Turn what was found into attempts: match people with students, count attempts, give each submission its name."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Final

from viva.model.attempt import Attempt, Student
from viva.submissions.classes import times
from viva.submissions.classes.class_export import ClassExport, Found, Person, Reading, Unmatched
from viva.submissions.classes.matching import Matcher, Matches
from viva.submissions.classes.people import clean, same_id, same_name
from viva.submissions.classes.roster import Roster
from viva.submissions.classes.submission_names import Names

_SHOWN: Final = 300
"""Characters of a name that are shown."""
_NOT_ELSEWHERE: Final = ("id", "email")
"""Identifiers that have their own field."""


def build_class(source: str, reading: Reading, roster: Roster | None, zone: tzinfo | None) -> ClassExport:
    """Give everything that was found its students, its attempt number and its name.

    Args:
        roster: the class list; without it, the people whom the source names are the students.
        zone: the time zone of times that the source writes without one.
    """
    return _AttemptBuilder(source, roster, zone).build(reading)


@dataclass(slots=True)
class _AttemptBuilder:
    source: str
    roster: Roster | None
    zone: tzinfo | None
    matches: Matches = field(default_factory=Matches)
    matcher: Matcher = field(init=False)
    groups: dict[str, tuple[Student, ...]] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    """Identifiers of all students in the roster, in the form in which they are compared."""

    def __post_init__(self) -> None:
        known = self.roster or Roster(())
        self.matcher = Matcher(known)
        self.listed = {same_id(student.id) for student in known.students}
        for name, members in known.groups.items():
            # A repository of "Team Rocket" is called team-rocket.
            self.groups |= dict.fromkeys((same_name(name), same_name(name.replace(" ", "-"))), members)

    def build(self, reading: Reading) -> ClassExport:
        found = [self._with_team(each) for each in reading.found]
        if self.roster is not None:
            self.matches = self.matcher.match(person for each, _ in found for person in each.people)
        unmatched = [Unmatched(clean(u.name)[:_SHOWN], u.reason) for u in reading.unmatched]
        unmatched += self._unknown(each for each, _ in found)
        attempts = self._named([(each, members or self._students(each)) for each, members in found])
        there = {student.id for attempt in attempts for student in attempt.students}
        listed = self.roster.students if self.roster is not None else ()
        return ClassExport(
            self.source,
            attempts,
            tuple(unmatched),
            tuple(student for student in listed if student.id not in there),
            listed,
            tuple(self._notes()),
        )

    def _with_team(self, found: Found) -> tuple[Found, tuple[Student, ...]]:
        """Return the submission and its team's members, if the roster has a team but no person of that name."""
        if self.roster is None or not found.group or len(found.people) != 1:
            return found, ()
        members = self.groups.get(same_name(found.group), ())
        student = self.matcher.by_identifiers(found.people[0]) if members else None
        if not members or (student is not None and self._is_called(student, found.group)):
            return found, ()
        return replace(found, people=()), members

    def _is_called(self, student: Student, name: str) -> bool:
        forms = self.roster.forms.get(student.id, frozenset()) if self.roster is not None else frozenset()
        return same_name(name) in forms or same_id(name) in map(same_id, (student.id, *student.also.values()))

    def _students(self, found: Found) -> tuple[Student, ...]:
        return tuple({student.id: student for student in map(self._student, found.people)}.values())

    def _student(self, person: Person) -> Student:
        also = {key: text for key, text in person.keys.items() if key not in _NOT_ELSEWHERE}
        student = self.matches.students.get(person.id)
        if student is not None:
            return replace(student, also={**also, **student.also})
        id_ = person.id
        if same_id(id_) in self.listed:
            id_ = f"{self.source}:{id_}"  # a platform's number that is another student's identifier in the roster
        return Student(id_, clean(person.name), person.keys.get("email", ""), also=also)

    def _unknown(self, found: Iterable[Found]) -> list[Unmatched]:
        """List the submissions of people who are not in the roster."""
        unmatched = []
        for each in found:
            if not each.people and not self._is_team(each):
                unmatched.append(Unmatched(clean(each.label)[:_SHOWN], "does not say who submitted it"))
            for person in each.people:
                if reason := self.matches.reasons.get(person.id):
                    label = f"{each.label}: {person.name or person.id}" if len(each.people) > 1 else each.label
                    unmatched.append(Unmatched(clean(label)[:_SHOWN], reason))
        return unmatched

    def _is_team(self, found: Found) -> bool:
        return bool(found.group) and same_name(found.group) in self.groups

    def _named(self, found: list[tuple[Found, tuple[Student, ...]]]) -> tuple[Attempt, ...]:
        by_submitters: dict[tuple[frozenset[str], str], list[tuple[Found, tuple[Student, ...]]]] = defaultdict(list)
        for each, students in found:
            submitters = frozenset(s.id for s in students) or frozenset((f"/{each.label}",))
            by_submitters[submitters, each.also.get("assignment", "")].append((each, students))
        names, found_attempts = Names(), list[Attempt]()
        for group in sorted(by_submitters.values(), key=lambda each: min(f.label for f, _ in each)):
            last, labels = 0, set[str]()
            for each, students in sorted(group, key=lambda a: (a[0].attempt or 0, a[0].order, a[0].label)):
                last = max(last + 1, each.attempt or 0)
                addition = f"-attempt-{last}" if each.label in labels else ""
                labels.add(each.label)
                name = names.give(each.label, addition=addition)
                found_attempts.append(self._attempt(each, students, name, last))
        return tuple(sorted(found_attempts, key=lambda d: d.name))

    def _attempt(self, found: Found, students: tuple[Student, ...], name: str, number: int) -> Attempt:
        team = clean(found.group) if not found.people and self._is_team(found) else ""
        return Attempt(
            name, found.path, students, self._time(found, students), found.late, number, team, self.source, found.also
        )

    def _time(self, found: Found, students: tuple[Student, ...]) -> datetime | None:
        if found.submitted_at is not None or self.roster is None:
            written = found.also.get("submitted")
        else:
            written = found.also.get("submitted") or next(
                (self.roster.submitted[s.id] for s in students if s.id in self.roster.submitted), None
            )
        return found.submitted_at or times.of_iso(written, without_zone=self.zone)

    def _notes(self) -> list[str]:
        """List who was matched by name alone, so that a person can check it."""
        return [
            f"{clean(person.name or person.id)[:_SHOWN]} was taken for {student.name} ({student.id}) by the name alone."
            for person, student in self.matches.by_name
        ]
