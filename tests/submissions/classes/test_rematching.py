"""Students of an export are found again in a list of the class, by identifiers alone."""

import pytest

from viva.model.attempt import Student
from viva.submissions.classes.people import forms
from viva.submissions.classes.rematching import rematched
from viva.submissions.classes.roster import Roster

ADA = Student("S1", "Ada Lovelace", "ada@x.edu", "A", {"canvas": "1001", "login": "ada"})
BOB = Student("1002", "Bob Stone")
LISTED = (ADA, BOB)
ROSTER = Roster(LISTED, forms={student.id: forms(student.name) for student in LISTED})


@pytest.mark.parametrize(
    ("student", "expected"),
    [
        (Student("1001", "lovelaceada", also={"canvas": "1001"}), "S1"),
        (Student("s1"), "S1"),
        (Student("x", email="ADA@x.edu"), "S1"),
        (Student("Ada"), "S1"),  # a folder that is called as the login
        (Student("ada@x.edu"), "S1"),
        (Student("Ada Lovelace"), "Ada Lovelace"),
        (Student("ada@x.edu", email="ada@x.edu", also={"gradescope": "ada@x.edu"}), "S1"),
        (Student("7", "Ada Lovelace", also={"canvas": "7"}), "7"),  # a name joins no one
        (Student("1002", "Eve", also={"canvas": "1002"}), "canvas:1002"),  # Bob's identifier, another one's number
        (Student("1002", "Bob Stone", also={"moodle": "5"}), "1002"),
        (Student("z", email="ada@x.edu", also={"login": "nobody"}), "S1"),
    ],
)
def test_whom_identifiers_mean(student: Student, expected: str) -> None:
    assert rematched([student], ROSTER)[student.id].id == expected


def test_what_the_list_knows_is_added_to_what_the_export_says() -> None:
    found = rematched([Student("1001", "lovelaceada", also={"canvas": "1001", "moodle": "9"})], ROSTER)["1001"]
    assert (found.name, found.section, found.also) == ("Ada Lovelace", "A", {**ADA.also, "moodle": "9"})


def test_two_identifiers_of_two_people_join_nobody() -> None:
    mixed = Student("1002", email="ada@x.edu")
    assert rematched([mixed], ROSTER)["1002"].id == "other:1002"


def test_without_a_list_everybody_stays() -> None:
    assert rematched([ADA], Roster(())) == {"S1": ADA}
