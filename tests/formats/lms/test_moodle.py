"""A grading worksheet as Moodle exports it, in several languages, takes marks and feedback and keeps all else."""

import csv
import io

import pytest

from tests.support.lms_grades import ADA, BO, OPEN, grade
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.lossless_csv import parse_lossless_csv
from viva.plugins.cohorts.grade_files.platform_files import fill_moodle

ENGLISH = [
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Group",
    "Grade",
    "Maximum grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
]
GERMAN = [
    "ID",
    "Vollständiger Name",
    "E-Mail-Adresse",
    "Status",
    "Gruppe",
    "Bewertung",
    "Bestwertung",
    "Bewertung kann geändert werden",
    "Zuletzt geändert (Abgabe)",
    "Zuletzt geändert (Bewertung)",
    "Feedback als Kommentar",
]
UNKNOWN = [f"Überschrift {i}" for i in range(11)]
IN, NOTHING = "Submitted for grading - - ", "No submission - - "
SUBMITTED, GRADED = "Tuesday, 1 December 2026, 11:07 PM", "Wednesday, 2 December 2026, 9:00 AM"


def export(header: list[str], maximum: str = "100.00", who: str = "Participant ", feedback: str = "") -> bytes:
    twelve = maximum.replace("100", "12")
    rows = [
        [f"{who}2001", "Ada Lovelace", "ada@x.edu", IN, "G1", "", maximum, "Yes", SUBMITTED, "-", feedback],
        [f"{who}2002", "Bo Müller", "bo@x.edu", NOTHING, "G1", twelve, maximum, "Yes", "-", GRADED, ""],
        [f"{who}2003", "=cmd", "kim@x.edu", NOTHING, "G2", "", maximum, "Yes", "-", "-", ""],
    ]
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return ("\ufeff" + out.getvalue()).encode()


def as_moodle_reads(data: bytes) -> list[list[str]]:
    """Every cell but the header; the importer finds identifier, grade, time and feedback by position in its header."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))[1:]


@pytest.mark.parametrize(
    ("header", "maximum", "who", "mark"),
    [
        (ENGLISH, "100.00", "Participant ", "87.50"),
        (GERMAN, "100,00", "Teilnehmer/in", "87,50"),
        (UNKNOWN, "100,00", "Účastník", "87,50"),
    ],
)
def test_grades_and_feedback_alone_change(header: list[str], maximum: str, who: str, mark: str) -> None:
    data = export(header, maximum, who)
    late = grade(ADA, "87.5", why="2 h late: −10 %.\n<b>Yours</b>.")
    filled = fill_moodle(parse_lossless_csv(data, "w.csv"), [late, OPEN])
    expected = as_moodle_reads(data)
    expected[0][5] = mark
    if header is not UNKNOWN:
        expected[0][10] = "2 h late: −10 %.<br />&lt;b&gt;Yours&lt;/b&gt;."
    assert as_moodle_reads(filled.data) == expected
    assert filled.data.splitlines()[2:] == data.splitlines()[2:]
    assert (filled.written, filled.untouched) == (1, 2)


def test_feedback_of_a_person_stays() -> None:
    data = export(ENGLISH, feedback="Well done")
    filled = fill_moodle(parse_lossless_csv(data, "w.csv"), [grade(ADA, "87.5", why="2 h late.")])
    assert [row[10] for row in as_moodle_reads(filled.data)] == ["Well done", "", ""]


@pytest.mark.parametrize(
    ("student", "row"),
    [
        (Student("x", also={"moodle": "2003"}), 2),
        (Student("kim@x.edu"), 2),
        (Student("2003"), None),
    ],
)
def test_row_is_found_by_participant_or_address(student: Student, row: int | None) -> None:
    filled = fill_moodle(parse_lossless_csv(export(ENGLISH), "w.csv"), [grade(student, "1")])
    assert [i for i, cells in enumerate(as_moodle_reads(filled.data)) if cells[5] == "1.00"] == ([row] if row else [])


def test_column_option() -> None:
    data = export(UNKNOWN, maximum="1 - 5")
    with pytest.raises(UsageError, match="give its header with --column"):
        fill_moodle(parse_lossless_csv(data, "w.csv"), [grade(BO, "1")])
    data = export(UNKNOWN)
    filled = fill_moodle(parse_lossless_csv(data, "w.csv"), [grade(BO, "1")], column="überschrift 5")
    assert as_moodle_reads(filled.data)[1][5] == "1.00"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (export(ENGLISH, maximum="10.00"), "has a maximum of 10 points"),
        (export(ENGLISH, maximum="fail pass"), "asks for words of a scale"),
        (b"Student,ID,Section,Masks (1)\nAda,1,A,5\n", "is not a grading worksheet of Moodle"),
    ],
)
def test_file_that_does_not_fit(data: bytes, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        fill_moodle(parse_lossless_csv(data, "w.csv"), [grade(ADA, "1")])
    assert said in str(raised.value)
