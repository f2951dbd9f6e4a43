"""Gradebooks of Brightspace and grades of Gradescope take grades as they were exported and keep all else."""

import csv
import io
from collections.abc import Callable
from functools import partial

import pytest

from tests.support.lms_grades import ADA, BO, EXCUSED, grade
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.lossless_csv import parse_lossless_csv
from viva.plugins.cohorts.grade_files.platform_files import fill_brightspace, fill_gradescope, write_brightspace

ITEMS = "Masks Points Grade <Numeric MaxPoints:100 Weight:10>,LoRA Points Grade <Numeric MaxPoints:50>"
BRIGHTSPACE = (
    f"OrgDefinedId,Username,Last Name,First Name,{ITEMS},Adjusted Final Grade Numerator,End-of-Line Indicator\r\n"
    "#9001,#ada,Lovelace,Ada,,44,,#\r\n"
    "#9002,#bo,Müller,Bo,12,,,#\r\n"
    "#9003,#kim,=1+1,Kim,,,,#\r\n"
).encode()
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,"
    "Lateness (H:M:S),View Count,Submission Count,1: Masks (2.0 pts)\n"
    "Ada,Lovelace,s1,ada@x.edu,A,50.0,100.0,Graded,9001,2026-12-01 22:00:00 +0100,00:00:00,3,2,1.5\n"
    '"Bo ""B""",Müller,s2,bo@x.edu,"A, B",,100.0,Ungraded,9002,2026-12-01 22:00:00 +0100,00:00:00,0,1,\n'
    "Kim,,,kim@x.edu,A,,,Missing,,,,,,\n"
).encode()


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def test_brightspace_changes_grades_alone() -> None:
    grades = [grade(ADA, "87.5"), grade(Student("kim"), "33.33"), EXCUSED]
    filled = fill_brightspace(parse_lossless_csv(BRIGHTSPACE, "b.csv"), grades, ["Masks"])
    expected = rows_of(BRIGHTSPACE)
    expected[1][4], expected[3][4] = "87.5", "33.33"
    assert rows_of(filled.data) == expected
    assert filled.data.splitlines()[2] == BRIGHTSPACE.splitlines()[2]
    assert filled.not_written == ("bo (Bo Müller): excused, the row stays as it was",)


def test_new_brightspace_file() -> None:
    """There is a sign before each id and at each end."""
    filled = write_brightspace([grade(ADA, "87.5"), grade(Student("#77"), "0"), EXCUSED], "Masks")
    assert rows_of(filled.data) == [
        ["OrgDefinedId", "Masks Points Grade", "End-of-Line Indicator"],
        ["#9001", "87.5", "#"],
        ["#77", "0", "#"],
    ]
    assert filled.not_written == ("bo: excused, not in the file",)
    again = fill_brightspace(parse_lossless_csv(filled.data, "b.csv"), [grade(ADA, "1")], ["Masks"])
    assert rows_of(again.data)[1] == ["#9001", "1", "#"]


def test_gradescope_changes_total_scores_alone() -> None:
    grades = [grade(Student("s1"), "87.5"), grade(BO, "100"), grade(Student("nobody"), "1")]
    filled = fill_gradescope(parse_lossless_csv(GRADESCOPE, "g.csv"), grades)
    assert filled.data == GRADESCOPE.replace(b"A,50.0,", b"A,87.5,").replace(b'B",,100', b'B",100,100')
    assert (filled.written, filled.untouched, len(filled.without_row)) == (2, 1, 1)


def test_gradescope_without_email_is_found_by_sid() -> None:
    data = GRADESCOPE.replace(b"ada@x.edu", b"").replace(b"bo@x.edu", b"")
    filled = fill_gradescope(parse_lossless_csv(data, "g.csv"), [grade(ADA, "1"), grade(Student("s2"), "2")])
    assert [row[5] for row in rows_of(filled.data)[1:]] == ["50.0", "2", ""]
    assert filled.without_row == ("ada (Ada Lovelace): no row of g.csv is certainly theirs",)


@pytest.mark.parametrize(
    ("fill", "data", "said"),
    [
        (partial(fill_brightspace, titles=["LoRA"]), BRIGHTSPACE, "a maximum of 50 points"),
        (partial(fill_brightspace, titles=["Final"]), BRIGHTSPACE, "no column is called `Final`"),
        (
            partial(fill_brightspace, titles=["Masks"]),
            b"OrgDefinedId,Masks Points Grade\r\n#1,\r\n",
            "is not a Brightspace gradebook",
        ),
        (fill_gradescope, GRADESCOPE.replace(b"100.0", b"10.0"), "has a maximum of 10 points"),
        (fill_gradescope, b"Name,SID,Masks\nAda,s1,5\n", "is not an export of an assignment's grades"),
    ],
)
def test_file_that_does_not_fit(fill: Callable[..., object], data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        fill(parse_lossless_csv(data, "g.csv"), [grade(ADA, "1"), grade(BO, "1"), grade(Student("s1"), "1")])
    assert said in str(raised.value)
