"""Find people of an export in the roster: by identifier, login or address; by name only where it is unambiguous.

Two people are never taken for one: a name matches only if one person of the export and one of the roster have it, and
an identifier only if nothing contradicts it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from viva.model.attempt import Student
from viva.submissions.classes.class_export import Person
from viva.submissions.classes.people import forms, same_id, same_name
from viva.submissions.classes.roster import Roster

_PLATFORMS: Final = ("canvas", "moodle", "gradescope", "brightspace_user")

Sharing = dict[str, set[str]]
"""From each form of a name to the people of the export who have it."""


@dataclass(slots=True)
class Matches:
    """The result of matching the people of an export, by their id in it."""

    students: dict[str, Student] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """Why no student in the roster was found, as a phrase."""
    by_name: list[tuple[Person, Student]] = field(default_factory=list)


@dataclass(slots=True)
class Matcher:
    """Looks people up in one roster."""

    roster: Roster
    _keys: dict[tuple[str, str], dict[str, Student]] = field(default_factory=lambda: defaultdict(dict))
    _names: dict[str, dict[str, Student]] = field(default_factory=lambda: defaultdict(dict))
    _kinds: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for student in self.roster.students:
            identifiers = {"id": student.id, "email": student.email, **student.also}
            self._kinds.update(student.also)
            for kind, text in identifiers.items():
                if text:
                    self._keys[kind, same_id(text)][student.id] = student
            for form in self.roster.forms.get(student.id, frozenset()):
                self._names[form][student.id] = student

    def by_identifiers(self, person: Person) -> Student | None:
        """Return the student with a person's identifiers; None where there is no such student, or several."""
        found = self._by_keys(person)
        return next(iter(found.values())) if len(found) == 1 else None

    def match(self, persons: Iterable[Person]) -> Matches:
        """Match each person of an export with a student."""
        matches = Matches()
        people = list({person.id: person for person in persons}.values())
        for person in people:
            found = self._by_keys(person)
            if len(found) == 1:
                matches.students[person.id] = next(iter(found.values()))
            elif found:
                matches.reasons[person.id] = "has identifiers of several people in the roster"
        taken = {student.id for student in matches.students.values()}
        sharing, precisely = _sharing(people, _forms), _sharing(people, _exact)
        for person in people:
            if person.id not in matches.students and person.id not in matches.reasons:
                self._by_name(person, (sharing, precisely), taken, matches)
        return matches

    def _by_keys(self, person: Person) -> dict[str, Student]:
        """Return every student who has one of the identifiers, by id."""
        found: dict[str, Student] = {}
        for kind, text in person.keys.items():
            found |= self._of_kind(person, kind, same_id(text))
        for text in () if found else map(same_id, person.maybe):
            for kind in ("id", "login", "email"):
                found |= self._keys.get((kind, text), {})
        return found

    def _of_kind(self, person: Person, kind: str, text: str) -> dict[str, Student]:
        known = self._keys.get((kind, text), {})
        if kind == "moodle" and person.name:  # the number may be a team's, and a participant may have the same one
            return {id_: s for id_, s in known.items() if not s.name or self._has_name_of(person, s)}
        if known or kind not in _PLATFORMS or kind in self._kinds:
            return known
        # A course's own list may use the platform's numbers as its identifiers; it may also number otherwise.
        return {id_: s for id_, s in self._keys.get(("id", text), {}).items() if self._has_name_of(person, s)}

    def _has_name_of(self, person: Person, student: Student) -> bool:
        return bool(_forms(person) & self.roster.forms.get(student.id, frozenset()))

    def _by_name(self, person: Person, both: tuple[Sharing, Sharing], taken: set[str], matches: Matches) -> None:
        mine, sharing = _forms(person), both[0]
        found: dict[str, Student] = {}
        for form in mine:
            found |= self._names.get(form, {})
        precise = {id_: s for id_, s in found.items() if same_name(s.name) in _exact(person)}
        if len(found) > 1 and len(precise) == 1:  # Kim Lee is not Lee Kim, who is in the class as well
            found, mine, sharing = precise, _exact(person), both[1]
        others = {other for form in mine for other in sharing[form]} - {person.id}
        if not mine and not person.keys:
            matches.reasons[person.id] = "does not say who submitted it"
        elif not found:
            matches.reasons[person.id] = "is not in the roster"
        elif len(found) > 1:
            matches.reasons[person.id] = f"has a name that {len(found)} people in the roster have"
        elif others:
            matches.reasons[person.id] = "has a name that someone else in the export has too"
        elif found.keys() & taken:
            matches.reasons[person.id] = "has the name of someone who submitted under another identifier"
        else:
            student = next(iter(found.values()))
            matches.students[person.id] = student
            matches.by_name.append((person, student))


def _sharing(people: Iterable[Person], forms_of: Callable[[Person], frozenset[str]]) -> Sharing:
    sharing: Sharing = defaultdict(set)
    for person in people:
        for form in forms_of(person):
            sharing[form].add(person.id)
    return sharing


def _exact(person: Person) -> frozenset[str]:
    """Return the names as they are written."""
    return frozenset(same_name(text) for text in (person.name, *person.maybe)) - {""}


def _forms(person: Person) -> frozenset[str]:
    """Return the forms of a person's name, and of a folder's name that may be one."""
    return forms(person.name).union(*(forms(text) for text in person.maybe))
