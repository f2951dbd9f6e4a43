"""Match students whom an export named with a class list that was not available when they were graded."""

from collections.abc import Iterable
from dataclasses import replace

from viva.model.attempt import Student
from viva.submissions.classes.class_export import Person
from viva.submissions.classes.matching import Matcher
from viva.submissions.classes.people import same_id
from viva.submissions.classes.roster import Roster


def rematched(students: Iterable[Student], roster: Roster) -> dict[str, Student]:
    """Map each student's previous id to the student as the class list describes them, unchanged if not in the list.

    Students are matched by identifiers alone, never by name. A platform's number that is another student's identifier
    in the list gets the platform's name as a prefix, so that two people never become one.

    Args:
        students: the students of submissions.
        roster: the class list.
    """
    listed = {same_id(student.id) for student in roster.students}
    matcher = Matcher(roster)
    found = {}
    for student in students:
        same = matcher.by_identifiers(_person(student))
        if same is not None:
            found[student.id] = replace(same, also={**student.also, **same.also})
        elif same_id(student.id) in listed:
            found[student.id] = replace(student, id=f"{_platform(student) or 'other'}:{student.id}")
        else:
            found[student.id] = student
    return found


def _person(student: Student) -> Person:
    keys = {**student.also, "email": student.email, "id": "" if _platform(student) else student.id}
    maybe = () if student.also or student.email else (student.id,)  # a folder's name may be a login or an address
    return Person(student.id, student.name, {kind: text for kind, text in keys.items() if text}, maybe)


def _platform(student: Student) -> str:
    """Return the platform whose number is the student's id; empty where the id is the course's own."""
    return next((kind for kind, text in student.also.items() if text == student.id), "")
