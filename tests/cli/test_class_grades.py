"""From what a platform exported, over the scores that the course keeps, to the report and the file that goes back."""

import csv
import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import ASSIGNMENT, KEEPS_CASE, RIGHT, SETTINGS_FILE, TESTS, TESTS_FILE, edit
from viva.config import load_course
from viva.model.errors import UsageError
from viva.plugins.report.commands.class_scores import assignment_meant

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
FIRST = "[]"
SECOND = "\n  - :id: 11\n    :created_at: 2026-10-05 10:00:00 Z"


@pytest.fixture
def keeping(keeping: Path) -> Path:
    """The course without the question that a person grades; it keeps records."""
    (keeping / TESTS_FILE).write_text(TESTS[: TESTS.index('@number("2.2")')])
    return keeping


def write_policy(course: Path, text: str) -> None:
    settings = ASSIGNMENT.replace("points: 10", "points: 9\ndue: 2026-10-05T12:00:00Z")
    (course / SETTINGS_FILE).write_text(f"{settings}policy: {text}\n")


def from_gradescope(path: Path, *submissions: tuple[int, str, str, str, str]) -> Path:
    """An export: number, submitters, time, history and program of each submission."""
    with zipfile.ZipFile(path, "w") as archive:
        told = ""
        for number, who, when, history, program in submissions:
            told += f"submission_{number}:\n  :submitters:\n{who}  :created_at: {when}\n  :history: {history}\n"
            archive.writestr(f"export/submission_{number}/solution.py", program)
        archive.writestr("export/submission_metadata.yml", f"---\n{told}")
    return path


def column(file: str, key: str, name: str) -> dict[str, str]:
    return {row[key]: row[name] for row in csv.DictReader(Path(file).read_text("utf-8").splitlines())}


@pytest.mark.long
@pytest.mark.parametrize(
    ("which", "ada", "counted", "why"),
    [
        # 3 hours late: 4 of 9 points, less a tenth.
        ("last", "3.6", "submission_21", "3 h late: −10 % = −0.4 points"),
        ("best", "9", "submission_11", "the best of 2"),
    ],
)
def test_two_gradescope_exports(
    viva: Viva, keeping: Path, tmp_path: Path, which: str, ada: str, counted: str, why: str
) -> None:
    write_policy(keeping, f"{{late: {{per: 1d, minus: 10%}}, attempts: {{which: {which}}}, nothing: zero}}")
    Path("scores.csv").write_text(SCORES)
    from_gradescope(
        Path("monday.zip"),
        (11, ADA, "2026-10-05 10:00:00 Z", FIRST, RIGHT),
        (12, ALAN, "2026-10-05 14:00:00.5 +02:00", FIRST, KEEPS_CASE),
    )
    from_gradescope(Path("tuesday.zip"), (21, ADA + ALAN, "2026-10-05 15:00:00 Z", SECOND, KEEPS_CASE))
    for export in ("tuesday.zip", "monday.zip"):  # in whichever order they are graded
        assert viva("grade", export, "--class").status == 0
    viva("override", "words", "submission_21", "test_word_counts", "1", "--why", "seen")
    ran = viva("grades", "words", "--to", "gradescope", "--into", "scores.csv", "--roster", "scores.csv", "-o", "b.csv")
    assert (ran.status, ran.err) == (0, "")
    back = column("b.csv", "SID", "Total Score")
    assert (back["100"], back["102"]) == (ada, "0")
    assert viva("grades", "words", "--to", "csv", "-o", "marks.csv").status == 0
    assert why.lower() in column("marks.csv", "student", "why")["100"].lower()
    assert column("marks.csv", "student", "submission")["100"] == counted
    submitted = column("marks.csv", "student", "submitted_at")
    assert submitted["101"] == "2026-10-05 15:00:00+00:00", "of the team, with the override the better one"


@pytest.fixture
def canvas(viva: Viva, keeping: Path) -> Path:
    """Graded from Canvas, without a list of the class."""
    with zipfile.ZipFile("submissions.zip", "w") as archive:
        archive.writestr("lovelaceada_1001_501_solution.py", RIGHT)
        archive.writestr("turingalan_LATE_1002_502_solution.py", KEEPS_CASE)
    write_policy(keeping, "{late: {per: 1d, minus: 10%}, nothing: zero}")
    Path("gradebook.csv").write_text(GRADEBOOK)
    assert viva("grade", "submissions.zip", "--class").status == 0
    return Path("submissions.zip")


BACK = ("--to", "canvas", "--into", "gradebook.csv", "-o", "back.csv")


def test_roster_that_comes_later_finds_everybody(viva: Viva, canvas: Path) -> None:
    """Graded by Canvas's numbers, handed back by them; the list's own identifiers make no one two people."""
    ran = viva("grades", "words", *BACK)
    assert ran.status == 0 and "1 row of students stays as it was" in ran.out
    assert column("back.csv", "ID", "Words (77)")["1002"] == "3.00"
    ran = viva("grades", "words", *BACK, "--roster", "gradebook.csv")
    assert ran.status == 0 and "their source calls 1 of them late: turingalan_1002" in ran.sentence()
    points = {"": "9.00", "1001": "9.00", "1002": "3.00", "1003": "0.00"}
    assert column("back.csv", "ID", "Words (77)") == points
    viva("grades", "words", "--to", "csv", "--roster", "gradebook.csv", "-o", "marks.csv")
    assert column("marks.csv", "student", "state") == {"S1": "graded", "S2": "graded", "S3": "missing"}
    why = column("marks.csv", "student", "why")["S2"]
    assert "is not known, though its source calls it late" in why, "Canvas says LATE and no time"


def test_export_must_have_been_graded(viva: Viva, canvas: Path) -> None:
    arguments = (*BACK, "--roster", "gradebook.csv", "--class", canvas)
    assert viva("grades", "words", *arguments).status == 0
    with zipfile.ZipFile(canvas, "a") as archive:
        archive.writestr("hoppergrace_1003_503_solution.py", RIGHT)
    before = Path("back.csv").read_bytes()
    ran = viva("grades", "words", *arguments)
    assert (ran.status, ran.out) == (1, "") and "(hoppergrace_1003): `viva grade` it first" in ran.sentence()
    assert Path("back.csv").read_bytes() == before


def test_report_from_the_records(viva: Viva, canvas: Path) -> None:
    """It knows hidden tests and who is missing."""
    with zipfile.ZipFile("later.zip", "w") as archive:
        archive.writestr("byronanne_1004_504_solution.py", KEEPS_CASE)
    viva("grade", "later.zip", "--class")
    viva("override", "words", "1002", "test_word_counts", "4", "--why", "argued", "--by", "grace")
    ran = viva("report", "words", "--roster", "gradebook.csv", "--feedback", "-o", "out")
    assert ran.status == 0, ran.err
    html = Path("out/report.html").read_text("utf-8")
    assert "1 student on the roster has not submitted" in html and "Grace Hopper" in html
    assert "Your answer has the item &#39;B&#39;, which is not expected." in html, "a hidden test's wrong answer of two"
    assert column("out/report.csv", "students", "total") == {"Ada Lovelace": "9", "Alan Turing": "7", "byronanne": "3"}
    assert "4 of 4 points: argued" in Path("out/feedback/turingalan_1002.html").read_text("utf-8")


@pytest.mark.long
def test_attempts_of_one_name(viva: Viva, keeping: Path) -> None:
    """They are all regraded, keep their own decisions, and have pages of their own."""
    write_policy(keeping, "{attempts: {which: best}}")
    for hour, program in ((10, KEEPS_CASE), (11, RIGHT)):
        export = from_gradescope(Path(f"{hour}.zip"), (11, ADA, f"2026-10-05 {hour}:00:00 Z", FIRST, program))
        assert viva("grade", export, "--class").status == 0
    assert viva("report", "words", "--feedback", "-o", "report").status == 0
    pages = sorted(path.name for path in Path("report/feedback").iterdir())
    assert pages == ["submission_11-attempt-1.html", "submission_11.html"]
    viva("override", "words", "submission_11", "test_word_counts", "0", "--why", "seen")
    viva("grade", "10.zip", "--class", "-o", "out")
    (result,) = Path("out").rglob("results.json")
    assert "Set by hand" not in result.read_text("utf-8"), "what was decided of the second attempt"
    edit(keeping / TESTS_FILE, "@weight(2)", "@weight(1)")
    assert "2 regraded, 2 with a different result" in viva("regrade", "words").out
    assert viva("regrade", "words", "--apply").out == "2 of 2 applied\n"
    viva("grades", "words", "--to", "csv", "-o", "marks.csv")
    assert column("marks.csv", "student", "earned") == {"100": "3"}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("report", "words"), "hold no score of words"),
        (("report", "wrods"), "no such folder of results, and no assignment of the course (words)"),
        (("report", "."), "holds no results.json"),
        (("grades", ".", "--to", "csv", "-o", "m", "--class", "x"), "give the name of the assignment"),
        (("grades", "words", "-a", "other", "--to", "csv", "-o", "m"), "leave out one of the two"),
    ],
)
def test_wrong_command(viva: Viva, keeping: Path, command: tuple[str, ...], said: str) -> None:
    before = sorted(Path().iterdir())
    ran = viva(*command)
    assert (ran.status, ran.out) == (1, "") and said in ran.sentence()
    assert sorted(Path().iterdir()) == before, "nothing was written"


def test_folder_of_results_or_assignment(keeping: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
