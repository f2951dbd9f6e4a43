"""Whom the people of an export are taken for, and whom never."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.table_rows import Rows
from viva.model.attempt import Student
from viva.plugins.cohorts.exports.export_format import Person
from viva.plugins.cohorts.exports.matching import Matcher, rematch_students
from viva.plugins.cohorts.exports.names import list_name_forms, normalize_name
from viva.plugins.cohorts.exports.roster import Roster, read_roster


def roster(tmp_path: Path, text: str) -> Roster:
    (tmp_path / "list.csv").write_text(text, "utf-8")
    return read_roster(tmp_path / "list.csv")


LIST = (
    "id,name,email,login\n1,Ada Lovelace,ada@x.edu,ada\n2,Jo Smith,jo1@x.edu,jo1\n3,Jo Smith,jo2@x.edu,jo2\n"
    "4,Zoë,,zoe\n"
)


PEOPLE = [
    (Person("p", keys={"id": "1"}), "1"),
    (Person("p", keys={"email": "ADA@X.EDU"}), "1"),
    (Person("p", keys={"login": "Ada"}), "1"),
    (Person("p", "Somebody Else", keys={"email": "jo2@x.edu"}), "3"),
    (Person("p", maybe=("ada",)), "1"),
    (Person("p", maybe=("jo2@x.edu",)), "3"),
    (Person("p", maybe=("ada_lovelace",)), "1"),
    (Person("p", "  ada   LOVELACE "), "1"),
    (Person("p", "lovelaceada"), "1"),
    (Person("p", "Lovelace Ada"), "1"),
    (Person("p", "Zoe\u0308"), "4"),
    (Person("p", "\u200fZoë\u200e"), "4"),
    (Person("p", "Zoe"), "is not in the roster"),
    (Person("p", "Jo Smith"), "has a name that 2 people in the roster have"),
    (Person("p", keys={"id": "1", "email": "jo1@x.edu"}), "has identifiers of several people in the roster"),
    (Person("p", "Zoë", keys={"login": "ada", "id": "4"}), "has identifiers of several people in the roster"),
    (Person("p", keys={"canvas": "77"}), "is not in the roster"),
    (Person("p"), "does not say who submitted it"),
    # a number of a platform's is only taken for the list's own where the name agrees
    (Person("p", "lovelaceada", keys={"canvas": "1"}), "1"),
    (Person("p", "smithjo", keys={"canvas": "3"}), "3"),
    (Person("p", "grace", keys={"canvas": "3"}), "is not in the roster"),
]  # fmt: skip


def test_one_person(tmp_path: Path) -> None:
    with Rows() as row:
        for n, (person, outcome) in enumerate(PEOPLE):
            with row(n, person):
                matches = Matcher(roster(tmp_path, LIST)).match([person])
                assert (matches.students["p"].id if "p" in matches.students else matches.reasons["p"]) == outcome


def test_name_of_two_attempts(tmp_path: Path) -> None:
    matches = Matcher(roster(tmp_path, LIST)).match([Person("7", "Ada Lovelace"), Person("8", "ada lovelace")])
    assert not matches.students
    assert set(matches.reasons.values()) == {"has a name that someone else in the export has too"}


def test_names_the_other_way_round(tmp_path: Path) -> None:
    matcher = Matcher(roster(tmp_path, "id,name\n1,Kim Lee\n2,Lee Kim\n"))
    matches = matcher.match([Person("a", "Lee Kim"), Person("b", "Kim Lee"), Person("c", "leekim")])
    assert {k: s.id for k, s in matches.students.items()} == {"a": "2", "b": "1"}
    assert matches.reasons["c"] == "has a name that 2 people in the roster have"


def test_identifier_comes_before_the_name(tmp_path: Path) -> None:
    people = [Person("7", keys={"email": "ada@x.edu"}), Person("8", "Ada Lovelace")]
    matches = Matcher(roster(tmp_path, LIST)).match(people)
    assert {k: s.id for k, s in matches.students.items()} == {"7": "1"}
    assert matches.reasons["8"] == "has the name of someone who submitted under another identifier"


def test_matches_by_name_are_told(tmp_path: Path) -> None:
    people = [Person("7", keys={"id": "1"}), Person("8", "Zoë")]
    assert [(p.id, s.id) for p, s in Matcher(roster(tmp_path, LIST)).match(people).by_name] == [("8", "4")]


NAMES = st.sampled_from(["Jo Smith", "jo smith", "Smith Jo", "smithjo", "Zoë", "Zoe\u0308", "נועה לוי", "", " ", "Wei"])
KEYS = st.dictionaries(st.sampled_from(["id", "login", "email", "canvas"]), st.sampled_from(list("12345")), max_size=2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    listed=st.lists(st.tuples(NAMES, st.sampled_from(["", "1", "2", "3"])), max_size=6),
    people=st.lists(st.tuples(NAMES, KEYS), max_size=6),
)
def test_two_people_are_never_one(listed: list[tuple[str, str]], people: list[tuple[str, dict[str, str]]]) -> None:
    """By names alone, no student gets two people; and one whose name two people have gets no one by it."""
    students = tuple(
        Student(f"s{n}", name, also={"login": login} if login else {}) for n, (name, login) in enumerate(listed)
    )
    given_ = Roster(students, forms={s.id: list_name_forms(s.name) for s in students})
    persons = [Person(f"p{n}", name, keys) for n, (name, keys) in enumerate(people)]
    matches = Matcher(given_).match(persons)
    by_name = [student.id for _, student in matches.by_name]
    assert len(by_name) == len(set(by_name))
    strong = {matches.students[p.id].id for p in persons if p.id in matches.students} - set(by_name)
    assert not strong & set(by_name)
    for person, student in matches.by_name:
        alike = [s for s in students if list_name_forms(student.name) & list_name_forms(s.name)]
        assert len([s for s in alike if len(alike) == 1 or normalize_name(s.name) == normalize_name(person.name)]) == 1
    assert {p.id for p in persons} == matches.students.keys() | matches.reasons.keys()


# --- found again in a list of the class, by identifiers alone


ADA = Student("S1", "Ada Lovelace", "ada@x.edu", "A", {"canvas": "1001", "login": "ada"})
BOB = Student("1002", "Bob Stone")
LISTED = (ADA, BOB)
ROSTER = Roster(LISTED, forms={student.id: list_name_forms(student.name) for student in LISTED})


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
def test_student_is_matched_by_identifiers_alone(student: Student, expected: str) -> None:
    assert rematch_students([student], ROSTER)[student.id].id == expected


def test_rematched_knows_what_both_say() -> None:
    found = rematch_students([Student("1001", "lovelaceada", also={"canvas": "1001", "moodle": "9"})], ROSTER)["1001"]
    assert (found.name, found.section, found.also) == ("Ada Lovelace", "A", {**ADA.also, "moodle": "9"})


def test_identifiers_of_two_people() -> None:
    mixed = Student("1002", email="ada@x.edu")
    assert rematch_students([mixed], ROSTER)["1002"].id == "other:1002"


def test_rematched_without_a_list() -> None:
    assert rematch_students([ADA], Roster(())) == {"S1": ADA}
