"""Lists of a class as platforms and spreadsheets write them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import class_exports as exports
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.exports import roster_table
from viva.plugins.cohorts.exports.roster import Roster, read_roster


def of(tmp_path: Path, text: str | bytes) -> Roster:
    path = tmp_path / "list.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_roster(path)


@pytest.mark.parametrize(
    ("name", "ids", "also"),
    [
        ("canvas.csv", ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9"], {"canvas": "1001", "login": "ada"}),
        ("moodle.csv", ["M1", "M2", "M3", "M4", "M5", "M6", "M9", "M8", "M10"], {"moodle": "301"}),
        ("moodle_german.csv", ["301", "302"], {"moodle": "301"}),
        ("gradescope.csv", ["100", "101", "102", "103", "104", "105"], {"gradescope": "100"}),
        ("classroom_roster.csv", ["ada@x.edu", "jo@x.edu", "noa@x.edu"], {"login": "ada"}),
        ("grades.csv", ["ada@x.edu", "jo@x.edu", "jesse@x.edu", "james@x.edu"], {"login": "ada"}),
        ("brightspace.csv", ["B1", "B2", "B3", "B4", "B5"], {"login": "ada", "brightspace": "B1"}),
    ],
)
def test_lists_of_platforms(tmp_path: Path, name: str, ids: list[str], also: dict[str, str]) -> None:
    roster = of(tmp_path, exports.ROSTERS[name])
    assert [s.id for s in roster.students] == ids
    assert roster.students[0].also == also
    assert roster.students[0].name in ("Ada Lovelace", "")


def test_names_sections_and_groups(tmp_path: Path) -> None:
    canvas = of(tmp_path, exports.CANVAS_GRADEBOOK)
    assert (canvas.students[0].section, canvas.students[3].name) == ("Monday and Tuesday", exports.HEBREW)
    assert of(tmp_path, exports.MOODLE_GERMAN).students[1].email == "zoe@x.edu"
    moodle = of(tmp_path, exports.MOODLE_WORKSHEET)
    assert {k: [s.name for s in v] for k, v in moodle.groups.items()} == {
        "Team Rocket": ["Grace Hopper", "Jesse James"]
    }


@pytest.mark.parametrize(
    "text",
    [
        "id,name,email,section,login\n1,Ada Lovelace,a@x.edu,A,ada\n",
        "\ufeffID;Name;E-Mail;Section;Login\r\n1;Ada Lovelace;a@x.edu;A;ada\r\n",
        "Login\tStudent ID\tFull Name\tEmail Address\tsections\nada\t1\tAda Lovelace\ta@x.edu\tA\n",
        "sep=;\nid;name;email;section;login\n1;Ada Lovelace;a@x.edu;A;ada\n",
        '"id","name","email","section","login"\n"1"," Ada   Lovelace ","a@x.edu","A","ada"\n\n,,,,\n',
        "id,Last Name,First Name,email,section,username\n1,Lovelace,Ada,a@x.edu,A,ada",
        'id,name,email,section,login\n1,"Lovelace, Ada",a@x.edu,A,ada\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_own_list(tmp_path: Path, text: str, encoding: str) -> None:
    if encoding == "utf-16":
        text = text.removeprefix("\ufeff")
    (student,) = of(tmp_path, text.encode(encoding)).students
    assert (student.id, student.name, student.email, student.section) == ("1", "Ada Lovelace", "a@x.edu", "A")
    assert student.also == {"login": "ada"}


@pytest.mark.parametrize(
    ("text", "student"),
    [
        ("student;name;canvas\nada;Ada L;101\n", Student("ada", "Ada L", also={"canvas": "101"})),
        (
            "SID,name,moodle,brightspace,Canvas_ID,login\n007,,Participant 9,b1,4,ada\n",
            Student("007", "", also={
                "canvas": "4", "moodle": "9", "gradescope": "007", "brightspace": "b1", "login": "ada",
            }),
        ),
        (
            "First Name,Last Name,Email,SID,Role\nAda,Lovelace,ada@x.edu,007,Student\n",
            Student("007", "Ada Lovelace", "ada@x.edu", also={"gradescope": "007"}),
        ),
        (
            '"identifier","github_username","github_id","name"\n"ada","AdaL","1",""\n',
            Student("ada", also={"login": "AdaL"}),
        ),
        ("ID,Sections,Username\n 7 ,A,ada\n,,\n", Student("7", section="A", also={"login": "ada"})),
    ],
)  # fmt: skip
def test_identifiers_elsewhere(tmp_path: Path, text: str, student: Student) -> None:
    assert of(tmp_path, text).students == (student,)


def test_title_with_commas(tmp_path: Path) -> None:
    text = "Student;ID;SIS Login ID;Section;Masks, positions, heads, layers, loss (77)\nLovelace, Ada;7;ada;A;\n"
    assert [(s.id, s.name) for s in of(tmp_path, text).students] == [("7", "Ada Lovelace")]


def test_identifiers_like_participants(tmp_path: Path) -> None:
    text = "id,name,email,section,login,team\nstudent101,Ada,a@x.edu,A,ada,\nstudent102,Bo,b@x.edu,A,bo,\n"
    assert [s.id for s in of(tmp_path, text).students] == ["student101", "student102"]


def test_same_name_twice(tmp_path: Path) -> None:
    roster = of(tmp_path, "name\nJo Smith\nJo Smith\nJo smith\n")
    assert [s.id for s in roster.students] == ["Jo Smith", "Jo Smith (2)", "Jo smith (3)"]


def test_same_person_twice(tmp_path: Path) -> None:
    roster = of(tmp_path, "id,name,group\n1,Ada,red\n1,Ada,blue\n2,Bo,blue\n")
    assert [s.id for s in roster.students] == ["1", "2"]
    assert {k: [s.id for s in v] for k, v in roster.groups.items()} == {"red": ["1"], "blue": ["1", "2"]}


def test_numbers_of_two_kinds(tmp_path: Path) -> None:
    """Where one student has no SIS number, Canvas's own serve for all: 7 would be two people."""
    roster = of(tmp_path, 'Student,ID,SIS User ID,SIS Login ID,Section\n"A, B",7,8,a,s\n"C, D",8,,c,s\n')
    assert [s.id for s in roster.students] == ["7", "8"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b,c\n1,2,3\n", r"none of its columns is known \(a, b, c\); expected is a header"),
        ("id,name\n1,Ada\n2,Bo\n1,Eve\n", "line 4: 1 is the identifier of another person in line 2 already"),
        (b"PK\x03\x04rest of a workbook", "is a workbook; save it as CSV"),
        ('id,name\n1,"' + "x" * 200_000 + "\n", "line 2: field larger than field limit"),
        ("id" + ",x" * 3000 + "\n", "more than 2,000 columns"),
    ],
)
def test_no_list(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        of(tmp_path, text)


def test_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "list.csv"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(UsageError, match="larger than 16 MiB"):
        read_roster(path)
    monkeypatch.setattr(roster_table, "MAX_ROWS", 10)
    with pytest.raises(UsageError, match="more than 10 rows"):
        of(tmp_path, "id\n" + "\n".join(map(str, range(20))))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"list\.csv: no such file"):
        read_roster(tmp_path / "list.csv")
    with pytest.raises(UsageError, match="is not a file"):
        read_roster(tmp_path)


CELLS = st.sampled_from(
    ["id", "ID", "Student", "name", "Identifier", "SIS Login ID", "Section", "email", "x", "Group", '"', "", "1", "#1",
     "Participant 1", "Participant 2", "Lovelace, Ada", "a@x", "\n", "\x00", "é"]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200)
    | st.lists(st.lists(CELLS, max_size=7), max_size=6).map(
        lambda rows: "\n".join(";".join(row) for row in rows).encode()
    )
)
def test_any_bytes(tmp_path: Path, data: bytes) -> None:
    try:
        roster = of(tmp_path, data)
    except UsageError:
        return
    ids = [s.id.casefold() for s in roster.students]
    assert len(ids) == len(set(ids)) and all(ids)
    assert set(roster.forms) == {s.id for s in roster.students}
