"""An assignment's grades as Gradescope exports them take marks as Total Score and keep all else."""

import csv
import io

import pytest

from tests.support.lms_grades import ADA, BO, grade
from viva.formats.lms.gradescope_grades import gradescope
from viva.formats.lms.lossless_csv import read_lossless_csv
from viva.model import Student
from viva.model.errors import UsageError

HEADER = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,"
    "Lateness (H:M:S),View Count,Submission Count,1: Masks (2.0 pts)"
)
EXPORT = (
    f"{HEADER}\n"
    "Ada,Lovelace,s1,ada@x.edu,A,50.0,100.0,Graded,9001,2026-12-01 22:00:00 +0100,00:00:00,3,2,1.5\n"
    '"Bo ""B""",Müller,s2,bo@x.edu,"A, B",,100.0,Ungraded,9002,2026-12-01 22:00:00 +0100,00:00:00,0,1,\n'
    "Kim,,,kim@x.edu,A,,,Missing,,,,,,\n"
).encode()


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_marks_come_in_and_nothing_else_changes() -> None:
    marks = [grade(Student("s1"), "87.5"), grade(BO, "100"), grade(Student("nobody"), "1")]
    filled = gradescope(read_lossless_csv(EXPORT, "g.csv"), marks)
    expected = rows_of(EXPORT)
    expected[0]["Total Score"], expected[1]["Total Score"] = "87.5", "100"
    assert rows_of(filled.data) == expected
    assert filled.data == EXPORT.replace(b"A,50.0,", b"A,87.5,").replace(b'B",,100', b'B",100,100')
    assert (filled.written, filled.untouched, len(filled.without_row)) == (2, 1, 1)


def test_whose_email_is_missing_is_found_by_sid_alone() -> None:
    data = EXPORT.replace(b"ada@x.edu", b"").replace(b"bo@x.edu", b"")
    filled = gradescope(read_lossless_csv(data, "g.csv"), [grade(ADA, "1"), grade(Student("s2"), "2")])
    assert [row["Total Score"] for row in rows_of(filled.data)] == ["50.0", "2", ""]
    assert filled.without_row == ("ada (Ada Lovelace): no row of g.csv is certainly theirs",)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (EXPORT.replace(b"100.0", b"10.0"), "has a maximum of 10 points"),
        (b"Name,SID,Masks\nAda,s1,5\n", "is not an export of an assignment's grades"),
    ],
)
def test_what_does_not_fit_is_one_sentence(data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        gradescope(read_lossless_csv(data, "g.csv"), [grade(Student("s1"), "1")])
    assert said in str(raised.value)
