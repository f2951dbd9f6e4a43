"""Turn what was found into attempts: match people with students, count attempts, give each submission its name."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Final

from viva.model.attempt import Attempt, Student
from viva.plugins.cohorts.exports.export_format import Found, Person, Reading
from viva.plugins.cohorts.exports.matching import Matcher, Matches
from viva.plugins.cohorts.exports.names import clean_text, normalize_id, normalize_name
from viva.plugins.cohorts.exports.roster import Roster
from viva.plugins.cohorts.exports.times import parse_iso_time
from viva.submissions.class_export import ClassExport, Unmatched
from viva.submissions.safe_names import Names

_MAX_SHOWN: Final = 300
"""Characters of a name that are shown."""
_OWN_FIELDS: Final = ("id", "email")
"""Identifiers that have their own field."""


def build_class(source: str, reading: Reading, roster: Roster | None, zone: tzinfo | None) -> ClassExport:
    """Give everything that was found its students, its attempt number and its name.

    Args:
        source: the kind of export.
        reading: what was found.
        roster: the class list; without it, the people whom the source names are the students.
        zone: the time zone of times that the source writes without one.
    """
    return _AttemptBuilder(source, roster, zone).build(reading)


class _AttemptBuilder:
    def __init__(self, source: str, roster: Roster | None, zone: tzinfo | None) -> None:
        self._source, self._zone = source, zone
        self._has_roster = roster is not None
        self._roster = roster or Roster(())
        self._matcher = Matcher(self._roster)
        self._matches = Matches()
        self._listed = {normalize_id(student.id) for student in self._roster.students}
        self._groups: dict[str, tuple[Student, ...]] = {}
        for name, members in self._roster.groups.items():
            # A repository of "Team Rocket" is called team-rocket.
            for written in (name, name.replace(" ", "-")):
                self._groups[normalize_name(written)] = members

    def build(self, reading: Reading) -> ClassExport:
        members = [self._find_team(found) for found in reading.found]
        if self._has_roster:
            alone = [found for found, team in zip(reading.found, members, strict=True) if not team]
            self._matches = self._matcher.match(person for found in alone for person in found.people)
        unmatched = [Unmatched(_shorten(each.name), each.reason) for each in reading.unmatched]
        submitted = []
        for found, team in zip(reading.found, members, strict=True):
            students = team or tuple({s.id: s for s in map(self._find_student, found.people)}.values())
            if not team:
                unmatched += self._list_unknown(found)
            submitted.append((found, students, bool(team)))
        attempts = self._name_attempts(submitted)
        there = {student.id for attempt in attempts for student in attempt.students}
        missing = tuple(student for student in self._roster.students if student.id not in there)
        notes = [
            f"{_shorten(person.name or person.id)} was taken for {student.name} ({student.id}) by the name alone."
            for person, student in self._matches.by_name
        ]
        return ClassExport(self._source, attempts, tuple(unmatched), missing, self._roster.students, tuple(notes))

    def _find_team(self, found: Found) -> tuple[Student, ...]:
        """Return the members of the submission's team, if the roster has a team but no person of that name."""
        members = self._groups.get(normalize_name(found.group), ()) if found.group else ()
        if not members or len(found.people) != 1:
            return ()
        student = self._matcher.match_identifiers(found.people[0])
        if student is not None:
            ids = map(normalize_id, (student.id, *student.also.values()))
            names = self._roster.forms.get(student.id, frozenset())
            if normalize_name(found.group) in names or normalize_id(found.group) in ids:
                return ()
        return members

    def _find_student(self, person: Person) -> Student:
        also = {key: text for key, text in person.keys.items() if key not in _OWN_FIELDS}
        student = self._matches.students.get(person.id)
        if student is not None:
            return replace(student, also={**also, **student.also})
        id_ = person.id
        if normalize_id(id_) in self._listed:
            id_ = f"{self._source}:{id_}"  # a platform's number that is another student's identifier in the roster
        return Student(id_, clean_text(person.name), person.keys.get("email", ""), also=also)

    def _list_unknown(self, found: Found) -> Iterator[Unmatched]:
        """List the people of a submission who are not in the roster."""
        if not found.people:
            yield Unmatched(_shorten(found.label), "does not say who submitted it")
        for person in found.people:
            label = found.label
            if len(found.people) > 1:
                label = f"{found.label}: {person.name or person.id}"
            if reason := self._matches.reasons.get(person.id):
                yield Unmatched(_shorten(label), reason)

    def _name_attempts(self, submitted: list[tuple[Found, tuple[Student, ...], bool]]) -> tuple[Attempt, ...]:
        by_submitters: dict[tuple[frozenset[str], str], list[tuple[Found, tuple[Student, ...], bool]]]
        by_submitters = defaultdict(list)
        for found, students, is_team in submitted:
            submitters = frozenset(student.id for student in students) or frozenset((f"/{found.label}",))
            by_submitters[submitters, found.also.get("assignment", "")].append((found, students, is_team))
        names, attempts = Names(), list[Attempt]()
        for group in sorted(by_submitters.values(), key=lambda group: min(found.label for found, _, _ in group)):
            number, labels = 0, set[str]()
            for found, students, is_team in sorted(group, key=lambda each: _position(each[0])):
                number = max(number + 1, found.attempt or 0)
                addition = f"-attempt-{number}" if found.label in labels else ""
                labels.add(found.label)
                name = names.give(found.label, addition=addition)
                team = clean_text(found.group) if is_team else ""
                moment = self._find_time(found, students)
                attempt = Attempt(
                    name, found.path, students, moment, found.late, number, team, self._source, found.also
                )
                attempts.append(attempt)
        return tuple(sorted(attempts, key=lambda attempt: attempt.name))

    def _find_time(self, found: Found, students: tuple[Student, ...]) -> datetime | None:
        if found.submitted_at is not None:
            return found.submitted_at
        listed = (self._roster.submitted.get(student.id) for student in students)
        written = found.also.get("submitted") or next(filter(None, listed), None)
        return parse_iso_time(written, without_zone=self._zone)


def _position(found: Found) -> tuple[int, str, str]:
    """Return what sorts the attempts of one person."""
    return found.attempt or 0, found.order, found.label


def _shorten(name: str) -> str:
    return clean_text(name)[:_MAX_SHOWN]
