"""From what a platform exported, over the scores that the course keeps, to the report and the file that goes back."""

import csv
import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import ASSIGNMENT, KEEPS_CASE, KEY, RIGHT, TESTS
from viva.cli.shared.class_scores import assignment_meant
from viva.config import load_course
from viva.model.errors import UsageError

GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Words (77)\n"
    "    Points Possible,,,,,9.00\n"
    '"Lovelace, Ada",1001,S1,ada,A,\n'
    '"Turing, Alan",1002,S2,alan,A,\n'
    '"Hopper, Grace",1003,S3,grace,A,\n'
)
SCORES = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status\n"
    "Ada,Lovelace,100,ada@x.edu,,,9.0,Graded\n"
    "Alan,Turing,101,alan@x.edu,,,9.0,Graded\n"
    "Grace,Hopper,102,grace@x.edu,,,9.0,Missing\n"
)
ADA = "  - :name: Ada Lovelace\n    :sid: '100'\n    :email: ada@x.edu\n"
ALAN = "  - :name: Alan Turing\n    :sid: '101'\n    :email: alan@x.edu\n"


@pytest.fixture
def keeping(own_course: Path) -> Path:
    """The course without the question that a person grades; it keeps records."""
    with (own_course / "grader.yaml").open("a") as file:
        file.write("records: sqlite:///records.db\n")
    (own_course / "graders/words/test_words.py").write_text(TESTS[: TESTS.index('@number("2.2")')])
    (own_course / "graders/words/key.py").write_text(KEY)
    return own_course


def policy(course: Path, text: str) -> None:
    written = ASSIGNMENT.replace("points: 10", "points: 9\ndue: 2026-10-05T12:00:00Z")
    (course / "assignments/words/assignment.yaml").write_text(f"{written}policy: {text}\n")


def from_gradescope(path: Path, *submissions: tuple[int, str, str, str, str]) -> Path:
    """An export: number, submitters, time, history and program of each submission."""
    with zipfile.ZipFile(path, "w") as archive:
        told = ""
        for number, who, when, history, program in submissions:
            told += f"submission_{number}:\n  :submitters:\n{who}  :created_at: {when}\n  :history: {history}\n"
            archive.writestr(f"export/submission_{number}/solution.py", program)
        archive.writestr("export/submission_metadata.yml", f"---\n{told}")
    return path


def points(file: Path, key: str, column: str) -> dict[str, str]:
    return {row[key]: row[column] for row in csv.DictReader(file.read_text("utf-8").splitlines())}


FIRST = "[]"
SECOND = "\n  - :id: 11\n    :created_at: 2026-10-05 10:00:00 Z"


@pytest.mark.long
@pytest.mark.parametrize(
    ("which", "ada"),
    [("last", "3.6"), ("best", "9")],  # the last one came 3 hours late: 4 of 9 points, less a tenth
)
def test_attempts_of_two_exports_and_penalties_go_back_to_gradescope(
    viva: Viva, keeping: Path, tmp_path: Path, which: str, ada: str
) -> None:
    policy(keeping, f"{{late: {{per: 1d, minus: 10%}}, attempts: {{which: {which}}}, nothing: zero}}")
    (tmp_path / "scores.csv").write_text(SCORES)
    monday = from_gradescope(
        tmp_path / "monday.zip",
        (11, ADA, "2026-10-05 10:00:00 Z", FIRST, RIGHT),
        (12, ALAN, "2026-10-05 14:00:00.5 +02:00", FIRST, KEEPS_CASE),
    )
    tuesday = from_gradescope(
        tmp_path / "tuesday.zip",
        (21, ADA + ALAN, "2026-10-05 15:00:00 Z", SECOND, KEEPS_CASE),
    )
    for export in (tuesday, monday):  # in whichever order they are graded
        assert viva("grade", export, "--class").status == 0
    viva("override", "words", "submission_21", "test_word_counts", "1", "--why", "seen")
    ran = viva("grades", "words", "--to", "gradescope", "--into", "scores.csv", "--roster", "scores.csv", "-o", "b.csv")
    assert (ran.status, ran.err) == (0, "")
    found = points(tmp_path / "b.csv", "SID", "Total Score")
    assert (found["100"], found["102"]) == (ada, "0")
    table = viva("grades", "words", "--to", "csv", "-o", "marks.csv")
    assert table.status == 0
    why = points(tmp_path / "marks.csv", "student", "why")
    assert ("3 h late: −10 % = −0.4 points" in why["100"]) == (which == "last")
    assert ("the best of 2" in why["100"].lower()) == (which == "best")
    counted = points(tmp_path / "marks.csv", "student", "submission")
    assert counted["100"] == {"last": "submission_21", "best": "submission_11"}[which]
    submitted = points(tmp_path / "marks.csv", "student", "submitted_at")
    assert submitted["101"] == "2026-10-05 15:00:00+00:00", "of the team, with the override the better one"


@pytest.fixture
def canvas(viva: Viva, keeping: Path, tmp_path: Path) -> Path:
    """Graded from Canvas, without a list of the class."""
    export = tmp_path / "submissions.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("lovelaceada_1001_501_solution.py", RIGHT)
        archive.writestr("turingalan_LATE_1002_502_solution.py", KEEPS_CASE)
    policy(keeping, "{late: {per: 1d, minus: 10%}, nothing: zero}")
    (tmp_path / "gradebook.csv").write_text(GRADEBOOK)
    assert viva("grade", export, "--class").status == 0
    return export


BACK = ("--to", "canvas", "--into", "gradebook.csv", "-o", "back.csv")


def test_a_list_that_was_not_there_when_it_was_graded_finds_everybody(viva: Viva, canvas: Path, tmp_path: Path) -> None:
    """Graded by Canvas's numbers, handed back by them; the list's own identifiers make no one two people."""
    ran = viva("grades", "words", *BACK, "--roster", "gradebook.csv")
    assert ran.status == 0 and "their source calls 1 of them late: turingalan_1002" in ran.sentence()
    assert points(tmp_path / "back.csv", "ID", "Words (77)") == {
        "": "9.00",
        "1001": "9.00",
        "1002": "3.00",
        "1003": "0.00",
    }
    viva("grades", "words", "--to", "csv", "--roster", "gradebook.csv", "-o", "marks.csv")
    states = points(tmp_path / "marks.csv", "student", "state")
    assert states == {"S1": "graded", "S2": "graded", "S3": "missing"}
    why = points(tmp_path / "marks.csv", "student", "why")["S2"]
    assert "is not known, though its source calls it late" in why, "Canvas says LATE and no time"


def test_marks_without_a_list_go_back_too(viva: Viva, canvas: Path, tmp_path: Path) -> None:
    ran = viva("grades", "words", *BACK)
    assert ran.status == 0 and "1 row of students stays as it was" in ran.out
    assert points(tmp_path / "back.csv", "ID", "Words (77)")["1002"] == "3.00"


def test_what_the_export_holds_must_have_been_graded(viva: Viva, canvas: Path, tmp_path: Path) -> None:
    given = (*BACK, "--roster", "gradebook.csv", "--class", canvas)
    assert viva("grades", "words", *given).status == 0
    with zipfile.ZipFile(canvas, "a") as archive:
        archive.writestr("hoppergrace_1003_503_solution.py", RIGHT)
    before = (tmp_path / "back.csv").read_bytes()
    ran = viva("grades", "words", *given)
    assert (ran.status, ran.out) == (1, "") and "(hoppergrace_1003): `viva grade` it first" in ran.sentence()
    assert (tmp_path / "back.csv").read_bytes() == before


def test_a_report_from_the_records_knows_hidden_tests_and_who_is_missing(
    viva: Viva, canvas: Path, keeping: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as archive:
        archive.writestr("byronanne_1004_504_solution.py", KEEPS_CASE)
    viva("grade", tmp_path / "later.zip", "--class")
    viva("override", "words", "1002", "test_word_counts", "4", "--why", "argued", "--by", "grace")
    ran = viva("report", "words", "--roster", "gradebook.csv", "--feedback", "-o", "out")
    assert ran.status == 0, ran.err
    html = (tmp_path / "out/report.html").read_text("utf-8")
    assert "1 student on the roster has not submitted" in html and "Grace Hopper" in html
    assert "do not hold what went wrong" not in html
    assert "Your answer has the item &#39;B&#39;, which is not expected." in html, "a hidden test's wrong answer of two"
    assert points(tmp_path / "out/report.csv", "students", "total") == {
        "Ada Lovelace": "9",
        "Alan Turing": "7",
        "byronanne": "3",
    }
    assert "4 of 4 points: argued" in (tmp_path / "out/feedback/turingalan_1002.html").read_text("utf-8")


@pytest.mark.long
def test_attempts_of_one_name_have_pages_of_their_own(viva: Viva, keeping: Path, tmp_path: Path) -> None:
    policy(keeping, "{}")
    for when in ("10:00:00", "11:00:00"):
        export = tmp_path / f"{when[:2]}.zip"
        from_gradescope(export, (11, ADA, f"2026-10-05 {when} Z", FIRST, RIGHT))
        assert viva("grade", export, "--class").status == 0
    assert viva("report", "words", "--feedback", "-o", "out").status == 0
    pages = sorted(path.name for path in (tmp_path / "out/feedback").iterdir())
    assert pages == ["submission_11-attempt-1.html", "submission_11.html"]


@pytest.mark.long
def test_attempts_of_one_name_are_all_marked_again_and_keep_their_decisions(
    viva: Viva, keeping: Path, tmp_path: Path
) -> None:
    policy(keeping, "{attempts: {which: best}}")
    for when, program in (("10:00:00", KEEPS_CASE), ("11:00:00", RIGHT)):
        export = tmp_path / f"{when[:2]}.zip"
        from_gradescope(export, (11, ADA, f"2026-10-05 {when} Z", FIRST, program))
        assert viva("grade", export, "--class").status == 0
    viva("override", "words", "submission_11", "test_word_counts", "0", "--why", "seen")
    viva("grade", tmp_path / "10.zip", "--class", "-o", "out")
    (result,) = (tmp_path / "out").rglob("results.json")
    assert "Set by hand" not in result.read_text("utf-8"), "what was decided of the second attempt"
    tests = keeping / "graders/words/test_words.py"
    tests.write_text(tests.read_text().replace("@weight(2)", "@weight(1)"))
    assert "2 regraded, 2 with a different result" in viva("regrade", "words").out
    assert viva("regrade", "words", "--apply").out == "2 of 2 applied\n"
    viva("grades", "words", "--to", "csv", "-o", "marks.csv")
    assert points(tmp_path / "marks.csv", "student", "earned") == {"100": "3"}


WRONG = [
    (("report", "words"), "hold no score of words"),
    (("report", "wrods"), "no such folder of results, and no assignment of the course (words)"),
    (("report", "wrods", "--records", "sqlite:///x.db"), "did you mean `words`?"),
    (("report", "."), "holds no results.json"),
    (("report", ".", "--roster", "x.csv"), "give the name of the assignment"),
    (("grades", ".", "--to", "csv", "-o", "m", "--class", "x"), "give the name of the assignment"),
    (("grades", "words", "-a", "other", "--to", "csv", "-o", "m"), "leave out one of the two"),
]


@pytest.mark.parametrize(("command", "said"), WRONG)
def test_what_cannot_be_read_is_said(viva: Viva, keeping: Path, command: tuple[str, ...], said: str) -> None:
    there = sorted(Path().iterdir())
    ran = viva(*command)
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()
    assert sorted(Path().iterdir()) == there, "nothing was written"


def test_a_folder_of_results_goes_before_an_assignment_of_its_name(
    keeping: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = load_course(keeping)
    monkeypatch.chdir(keeping / "assignments")
    assert assignment_meant(course, Path("words"), None) == "words", "the assignment's own folder holds no results"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words/ada").mkdir(parents=True)
    (tmp_path / "words/ada/results.json").write_text("{}")
    assert assignment_meant(course, Path("words"), None) is None
    assert assignment_meant(course, Path("words"), "sqlite:///x.db") == "words"
    with pytest.raises(UsageError, match="no assignment of the course"):
        assignment_meant(course, Path("nothing"), None)
