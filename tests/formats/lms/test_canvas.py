"""A gradebook as Canvas exports it takes marks in one column, and nothing else is new by Canvas's rules."""

import csv
import io
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.lms_grades import ADA, BO, EXCUSED, OPEN, grade
from viva.model import Student
from viva.model.errors import UsageError
from viva.plugins.cohorts.grade_files.lossless_csv import parse_lossless_csv
from viva.plugins.cohorts.grade_files.platform_files import fill_canvas

HEADER = [
    "Student",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Section",
    "Notes",
    "Masks (4711)",
    "LoRA (4712)",
    "Final Score",
]
POSSIBLE = ["    Points Possible", "", "", "", "", "", "100.00", "50.00", "(read only)"]
ROWS = [
    ["Lovelace, Ada", "101", "s1", "ada", "A and B", '=HYPERLINK("x")', "12.00", "", "12.00"],
    ["Müller, Bo", "102", "s2", "bo@x.edu", "A", "", "", "44.50", ""],
    ["Kim", "103", "s3", "kim", "A", "", "", "N/A", ""],
    ["Student, Test", "104", "", "0a1b", "A", "", "", "", ""],
]


def export(rows: list[list[str]] | None = None, delimiter: str = ",", hidden: bool = False, bom: str = "") -> bytes:
    """As lib/gradebook_exporter.rb writes it: Ruby's CSV, with line feeds."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    comma = delimiter == ";"
    manual = ["", "", "", "", "", "", "Manual Posting", "", ""]
    for row in [HEADER, *([manual] if hidden else []), POSSIBLE, *(rows or ROWS)]:
        writer.writerow([cell.replace(".", ",") if comma and cell[:1].isdigit() else cell for cell in row])
    return (bom + out.getvalue()).encode()


def as_canvas_reads(data: bytes, delimiter: str = ",") -> dict[str, dict[str, str]]:
    """Marks by user and assignment id, as the importer finds them."""
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter))
    columns = {i: title.rpartition("(")[2][:-1] for i, title in enumerate(rows[0]) if title.endswith(")")}
    return {row[1]: {columns[i]: row[i] for i in columns} for row in rows[1:] if row[1]}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    ("delimiter", "bom", "mark"), [(",", "", "87.50"), (";", "\ufeff", "87,50"), (",", "\ufeff", "87.50")]
)
def test_grades_alone_change(hidden: bool, delimiter: str, bom: str, mark: str) -> None:
    data = export(delimiter=delimiter, hidden=hidden, bom=bom)
    filled = fill_canvas(parse_lossless_csv(data, "g.csv"), [grade(ADA, "87.5"), EXCUSED], ["Masks"])
    before, after = as_canvas_reads(data, delimiter), as_canvas_reads(filled.data, delimiter)
    before["101"]["4711"], before["102"]["4711"] = mark, "EX"
    assert after == before
    changed = [(a, b) for a, b in zip(data.splitlines(), filled.data.splitlines(), strict=True) if a != b]
    assert len(changed) == 2
    assert (filled.written, filled.untouched, filled.without_row) == (2, 2, ())


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r\ufeff"), max_size=12)


@given(
    st.lists(
        st.tuples(NAMES, NAMES, st.integers(0, 10_000).map(lambda cents: Fraction(cents, 100))), min_size=1, max_size=8
    ),
    st.booleans(),
)
def test_grades_alone_change_whatever_the_names(people: list[tuple[str, str, Fraction]], semicolons: bool) -> None:
    delimiter = ";" if semicolons else ","
    rows = [[name, str(i), "", f"u{i}", section, "", "", "", ""] for i, (name, section, _) in enumerate(people, 1)]
    marks = [grade(Student(f"u{i}"), str(points)) for i, (_, _, points) in enumerate(people, 1)]
    data = export(rows, delimiter)
    filled = fill_canvas(parse_lossless_csv(data, "g.csv"), marks, ["Masks"])
    before, after = (
        list(csv.reader(io.StringIO(d.decode(), newline=""), delimiter=delimiter)) for d in (data, filled.data)
    )
    for row, (_, _, points) in zip(before[2:], people, strict=True):
        row[6] = f"{float(points):.2f}".replace(".", "," if semicolons else ".")
    assert after == before
    assert filled.written == len(people)


def test_grade_without_a_row() -> None:
    nobody = grade(Student("zoe", "Zoe"), "5")
    filled = fill_canvas(parse_lossless_csv(export(), "g.csv"), [nobody, OPEN], ["Masks"])
    assert filled.data == export()
    assert filled.without_row == ("zoe (Zoe): no row of g.csv is certainly theirs",)
    assert filled.not_written == ("bo (Bo Müller): open, the row stays as it was",)
    assert filled.untouched == 4


@pytest.mark.parametrize(
    ("student", "row"),
    [
        (Student("x", also={"canvas": "103"}), "103"),
        (Student("x", email="BO@X.edu"), "102"),
        (Student("s3"), "103"),
        (Student("103"), None),  # a number of the course's own may be someone else's number on the platform
        (Student("Lovelace, Ada"), None),  # names are not unique
        (Student("x", email="bo@x.edu", also={"canvas": "101"}), None),  # the two mean different people
    ],
)
def test_row_is_found_by_what_is_unique(student: Student, row: str | None) -> None:
    filled = fill_canvas(parse_lossless_csv(export(), "g.csv"), [grade(student, "1")], ["Masks"])
    marks = as_canvas_reads(filled.data)
    assert [id_ for id_ in marks if marks[id_]["4711"] == "1.00"] == ([row] if row else [])
    assert len(filled.without_row) == (row is None)


def test_two_grades_for_one_row() -> None:
    twice = [grade(Student("ada"), "1"), grade(Student("s1"), "2")]
    filled = fill_canvas(parse_lossless_csv(export(), "g.csv"), twice, ["Masks"])
    assert filled.data == export()
    assert filled.without_row == ("ada and s1: all of them fit row 3 of g.csv, which stays as it was",)


def test_login_in_two_rows() -> None:
    data = export([*ROWS, ["Other, Ada", "105", "", "ADA", "B", "", "", "", ""]])
    filled = fill_canvas(parse_lossless_csv(data, "g.csv"), [grade(Student("ada"), "1")], ["Masks"])
    assert filled.data == data and len(filled.without_row) == 1


def test_student_without_the_assignment() -> None:
    filled = fill_canvas(
        parse_lossless_csv(export(), "g.csv"), [replace(grade(Student("kim"), "5"), maximum=Fraction(50))], ["LoRA"]
    )
    assert filled.data == export()
    assert filled.not_written == ("kim: N/A on the platform, the row stays as it was",)


def test_another_maximum() -> None:
    third = grade(ADA, "33.33", exact=Fraction(100, 3))
    with pytest.raises(UsageError, match="a maximum of 50 points, and the assignment has 100"):
        fill_canvas(parse_lossless_csv(export(), "g.csv"), [third], ["LoRA"])
    filled = fill_canvas(parse_lossless_csv(export(), "g.csv"), [third], ["LoRA"], rescale=True)
    assert as_canvas_reads(filled.data)["101"]["4712"] == "16.67"


@pytest.mark.parametrize("column", ["Masks", "Masks (4711)"])
def test_column_option(column: str) -> None:
    filled = fill_canvas(parse_lossless_csv(export(), "g.csv"), [grade(ADA, "1")], ["Homework 1"], column=column)
    assert as_canvas_reads(filled.data)["101"]["4711"] == "1.00"


@pytest.mark.parametrize(
    ("data", "titles", "said"),
    [
        (export(), ["Homework 1"], "say which with --column. Columns for grades: `Masks (4711)`"),
        (export(), ["Final Score"], "no column is called"),
        (export().replace(b"LoRA", b"Masks"), ["Masks"], "several columns are called `Masks`"),
        (b"Name,Points\nAda,5\n", ["Masks"], "is not a Canvas gradebook"),
    ],
)
def test_file_that_does_not_fit(data: bytes, titles: list[str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        fill_canvas(parse_lossless_csv(data, "g.csv"), [grade(ADA, "1"), grade(BO, "2")], titles)
    assert said in str(raised.value)
