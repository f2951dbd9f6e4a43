"""Find people of an export in the roster: by identifier, login or address; by name only where it is unambiguous.

Two people are never taken for one: a name matches only if one person of the export and one of the roster have it, and
an identifier only if nothing contradicts it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from viva.model.attempt import Student
from viva.plugins.cohorts.exports.export_format import Person
from viva.plugins.cohorts.exports.names import list_name_forms, normalize_id, normalize_name
from viva.plugins.cohorts.exports.roster import Roster

_PLATFORMS: Final = ("canvas", "moodle", "gradescope", "brightspace_user")
Students = dict[str, Student]
"""By id."""


@dataclass(slots=True)
class Matches:
    """The result of matching the people of an export, by their id in it."""

    students: dict[str, Student] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """Why no student in the roster was found, as a phrase."""
    by_name: list[tuple[Person, Student]] = field(default_factory=list)


class Matcher:
    """Looks people up in one roster."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._by_key: dict[tuple[str, str], Students] = defaultdict(dict)
        self._by_form: dict[str, Students] = defaultdict(dict)
        self._kinds = {kind for student in roster.students for kind in student.also}
        for student in roster.students:
            for kind, text in {"id": student.id, "email": student.email, **student.also}.items():
                if text:
                    self._by_key[kind, normalize_id(text)][student.id] = student
            for form in roster.forms.get(student.id, frozenset()):
                self._by_form[form][student.id] = student

    def match_identifiers(self, person: Person) -> Student | None:
        """Return the only student with a person's identifiers; None if no student has them, or several do."""
        found = self._find_by_keys(person)
        return next(iter(found.values())) if len(found) == 1 else None

    def match(self, persons: Iterable[Person]) -> Matches:
        """Match each person of an export with a student: first by identifiers, then the others by name."""
        matches = Matches()
        people = list({person.id: person for person in persons}.values())
        for person in people:
            found = self._find_by_keys(person)
            if len(found) == 1:
                matches.students[person.id] = next(iter(found.values()))
            elif found:
                matches.reasons[person.id] = "has identifiers of several people in the roster"
        taken = {student.id for student in matches.students.values()}
        by_form, by_exact_name = _group_by_names(people, _list_forms), _group_by_names(people, _list_exact_names)
        for person in people:
            if person.id in matches.students or person.id in matches.reasons:
                continue
            found = self._find_by_name(person)
            sharing = _find_others(person, by_form, _list_forms)
            exact = {id_: s for id_, s in found.items() if normalize_name(s.name) in _list_exact_names(person)}
            if len(found) > 1 and len(exact) == 1:  # Kim Lee is not Lee Kim, who is in the class as well
                found = exact
                sharing = _find_others(person, by_exact_name, _list_exact_names)
            reason = _refuse_match(person, found, taken, has_others=bool(sharing))
            if reason:
                matches.reasons[person.id] = reason
            else:
                matches.students[person.id] = next(iter(found.values()))
                matches.by_name.append((person, matches.students[person.id]))
        return matches

    def _find_by_keys(self, person: Person) -> Students:
        """Return every student who has one of the identifiers."""
        found: Students = {}
        for kind, text in person.keys.items():
            found |= self._find_by_key(person, kind, normalize_id(text))
        if not found:
            for text in map(normalize_id, person.maybe):
                for kind in ("id", "login", "email"):
                    found |= self._by_key.get((kind, text), {})
        return found

    def _find_by_key(self, person: Person, kind: str, text: str) -> Students:
        known = self._by_key.get((kind, text), {})
        if kind == "moodle" and person.name:  # the number may be a team's, and a participant may have the same one
            return {id_: s for id_, s in known.items() if not s.name or self._has_name_of(person, s)}
        if known or kind not in _PLATFORMS or kind in self._kinds:
            return known
        # A course's own list may use the platform's numbers as its identifiers; it may also number otherwise.
        return {id_: s for id_, s in self._by_key.get(("id", text), {}).items() if self._has_name_of(person, s)}

    def _has_name_of(self, person: Person, student: Student) -> bool:
        return bool(_list_forms(person) & self._roster.forms.get(student.id, frozenset()))

    def _find_by_name(self, person: Person) -> Students:
        found: Students = {}
        for form in _list_forms(person):
            found |= self._by_form.get(form, {})
        return found


def _refuse_match(person: Person, found: Students, taken: set[str], *, has_others: bool) -> str:
    """Return why a person is not the student whom their name finds; empty if they are."""
    if not _list_forms(person) and not person.keys:
        return "does not say who submitted it"
    if not found:
        return "is not in the roster"
    if len(found) > 1:
        return f"has a name that {len(found)} people in the roster have"
    if has_others:
        return "has a name that someone else in the export has too"
    return "has the name of someone who submitted under another identifier" if found.keys() & taken else ""


def _group_by_names(people: Iterable[Person], list_names: Callable[[Person], frozenset[str]]) -> dict[str, set[str]]:
    grouped: dict[str, set[str]] = defaultdict(set)
    for person in people:
        for name in list_names(person):
            grouped[name].add(person.id)
    return grouped


def _find_others(
    person: Person, grouped: dict[str, set[str]], list_names: Callable[[Person], frozenset[str]]
) -> set[str]:
    """Return the other people of the export who have one of a person's names."""
    return set().union(*(grouped[name] for name in list_names(person))) - {person.id}


def _list_exact_names(person: Person) -> frozenset[str]:
    """Return the names as they are written."""
    return frozenset(normalize_name(text) for text in (person.name, *person.maybe)) - {""}


def _list_forms(person: Person) -> frozenset[str]:
    """Return the forms of a person's name, and of a folder's name that may be one."""
    return list_name_forms(person.name).union(*(list_name_forms(text) for text in person.maybe))


def rematch_students(students: Iterable[Student], roster: Roster) -> dict[str, Student]:
    """Map each student's previous id to the student as the class list describes them, unchanged if not in the list.

    Students are matched by identifiers alone, never by name. A platform's number that is another student's identifier
    in the list gets the platform's name as a prefix, so that two people never become one.

    Args:
        students: the students of submissions.
        roster: a class list that was not available when they were graded.
    """
    listed = {normalize_id(student.id) for student in roster.students}
    matcher = Matcher(roster)
    found = {}
    for student in students:
        # The platform whose number is the student's id; empty where the id is the course's own.
        platform = next((kind for kind, text in student.also.items() if text == student.id), "")
        keys = {**student.also, "email": student.email, "id": "" if platform else student.id}
        maybe = () if student.also or student.email else (student.id,)  # a folder's name may be a login or an address
        person = Person(student.id, student.name, {kind: text for kind, text in keys.items() if text}, maybe)
        same = matcher.match_identifiers(person)
        if same is not None:
            found[student.id] = replace(same, also={**student.also, **same.also})
        elif normalize_id(student.id) in listed:
            found[student.id] = replace(student, id=f"{platform or 'other'}:{student.id}")
        else:
            found[student.id] = student
    return found
