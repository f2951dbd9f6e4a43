"""A gradebook as Brightspace exports it takes marks, and a new one has the columns that it imports."""

import csv
import io

import pytest

from tests.support.lms_grades import ADA, BO, EXCUSED, grade
from viva.formats.lms.brightspace_gradebook import brightspace, brightspace_new
from viva.formats.lms.lossless_csv import read_lossless_csv
from viva.model import Student
from viva.model.errors import UsageError

ITEMS = "Masks Points Grade <Numeric MaxPoints:100 Weight:10>,LoRA Points Grade <Numeric MaxPoints:50>"
EXPORT = (
    f"OrgDefinedId,Username,Last Name,First Name,{ITEMS},Adjusted Final Grade Numerator,End-of-Line Indicator\r\n"
    "#9001,#ada,Lovelace,Ada,,44,,#\r\n"
    "#9002,#bo,Müller,Bo,12,,,#\r\n"
    "#9003,#kim,=1+1,Kim,,,,#\r\n"
).encode()


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def test_marks_come_in_and_nothing_else_changes() -> None:
    marks = [grade(ADA, "87.5"), grade(Student("kim"), "33.33"), EXCUSED]
    filled = brightspace(read_lossless_csv(EXPORT, "b.csv"), marks, ["Masks"])
    expected = rows_of(EXPORT)
    expected[1][4], expected[3][4] = "87.5", "33.33"
    assert rows_of(filled.data) == expected
    assert filled.data.splitlines()[2] == EXPORT.splitlines()[2]
    assert filled.not_written == ("bo (Bo Müller): excused, the row stays as it was",)


def test_a_new_file_has_a_sign_before_each_id_and_at_each_end() -> None:
    filled = brightspace_new([grade(ADA, "87.5"), grade(Student("#77"), "0"), EXCUSED], "Masks")
    assert rows_of(filled.data) == [
        ["OrgDefinedId", "Masks Points Grade", "End-of-Line Indicator"],
        ["#9001", "87.5", "#"],
        ["#77", "0", "#"],
    ]
    assert filled.not_written == ("bo: excused, not in the file",)
    again = brightspace(read_lossless_csv(filled.data, "b.csv"), [grade(ADA, "1")], ["Masks"])
    assert rows_of(again.data)[1] == ["#9001", "1", "#"]


@pytest.mark.parametrize(
    ("data", "titles", "said"),
    [
        (EXPORT, ["LoRA"], "a maximum of 50 points"),
        (EXPORT, ["Final"], "no column is called `Final`"),
        (b"OrgDefinedId,Masks Points Grade\r\n#1,\r\n", ["Masks"], "is not a Brightspace gradebook"),
    ],
)
def test_what_does_not_fit_is_one_sentence(data: bytes, titles: list[str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        brightspace(read_lossless_csv(data, "b.csv"), [grade(ADA, "1"), grade(BO, "1")], titles)
    assert said in str(raised.value)
