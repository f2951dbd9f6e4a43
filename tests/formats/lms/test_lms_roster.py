"""Class lists of several systems are read; what would make two people one is refused."""

import pytest

from viva.formats.lms.roster import roster
from viva.formats.lms.sheet import read_sheet
from viva.model import Student
from viva.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "student"),
    [
        ("student;name;canvas\nada;Ada L;101\n", Student("ada", "Ada L", also={"canvas": "101"})),
        (
            "First Name,Last Name,Email,SID,Role\nAda,Lovelace,ada@x.edu,007,Student\n",
            Student("007", "Ada Lovelace", "ada@x.edu"),
        ),
        (
            '"identifier","github_username","github_id","name"\n"ada","AdaL","1",""\n',
            Student("ada", also={"github": "AdaL"}),
        ),
        ("ID,Sections,Username\n 7 ,A,ada\n,,\n", Student("7", section="A", also={"login": "ada"})),
    ],
)
def test_lists_of_several_systems(text: str, student: Student) -> None:
    assert roster(read_sheet(text.encode(), "r.csv")) == [student]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,email\nAda,ada@x.edu\n", "has no column of students' ids"),
        ("student,name\nada,Ada\nada,Other\n", "row 3: `ada` stands there twice"),
        ("student,name\n,Ada\n", "row 2: the student's id is missing"),
    ],
)
def test_a_wrong_list_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        roster(read_sheet(text.encode(), "r.csv"))
    assert said in str(raised.value)
