"""What a platform exported is graded as it was downloaded, by student, and not twice."""

import csv
import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from tests.support import class_exports
from tests.support.run_command import Viva, scores_in
from tests.support.words_course import KEEPS_CASE, RIGHT, TESTS_FILE, edit
from viva.plugins.records.store import Records
from viva.sandbox.folder_locks import lock_folder, unlock_folder

ROSTER = """\
id,name,email,canvas
S1,Ada Lovelace,ada@x.org,1001
S2,Alan Turing,alan@x.org,1002
S3,Grace Hopper,g@x.org,1003
"""
HANDED_IN = {
    "lovelaceada_1001_501_solution.py": RIGHT,
    "turingalan_LATE_1002_502_solution.py": KEEPS_CASE,
    "README": "not from Canvas",
}
SCORES = {"lovelaceada_1001": 9.0, "turingalan_1002": 3.0}


def write_export(**changed: str) -> Path:
    path = Path("downloads/Words submissions.zip")
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in HANDED_IN.items():
            archive.writestr(name, changed.get(name.partition("_")[0], text))
    return path.absolute()


@pytest.fixture
def export(keeping: Path) -> Path:
    """What Canvas gives, for a course that keeps records."""
    Path("roster.csv").write_text(ROSTER)
    return write_export()


@pytest.mark.long
def test_archive_is_graded_by_student(viva: Viva, export: Path, own_course: Path) -> None:
    ran = viva("grade", export, "--roster", "roster.csv", "-o", "out")
    assert ran.status == 1, "the README may be somebody's work"
    assert ran.err.startswith("viva: not matched: README (") and "not submitted: Grace Hopper" in ran.err
    assert scores_in("out") == SCORES
    with Records.open("sqlite:///records.db", own_course) as records:
        (kept,) = records.history("alan@x.org")
    attempt = kept.scored.attempt
    assert (attempt.source, attempt.late, attempt.students[0].id) == ("canvas", True, "S2")
    assert attempt.path.exists()


@pytest.mark.long
def test_deleted_student_takes_the_copy_along(viva: Viva, export: Path, own_course: Path) -> None:
    viva("grade", export, "--roster", "roster.csv")
    copies = [path for path in (own_course / ".class").rglob("*") if "turing" in path.name]
    assert copies
    ran = viva("student", "delete", "S2")
    assert "would be deleted too, a copy that was unpacked" in ran.out and all(path.exists() for path in copies)
    ran = viva("student", "delete", "S2", "--yes", "--by", "grace", "--why", "asked for")
    assert "deleted too, a copy that was unpacked" in ran.out
    assert not [path for path in (own_course / ".class").rglob("*") if "turing" in path.name]
    assert [path for path in (own_course / ".class").rglob("*") if "lovelace" in path.name]


@pytest.mark.long
def test_archive_is_graded_once(viva: Viva, export: Path, own_course: Path) -> None:
    viva("grade", export, "--class")
    again = viva("grade", export, "--class")
    assert "2 submissions were graded before and not again" in again.out
    (copy,) = (own_course / ".class").iterdir()
    assert copy.stat().st_mode & 0o077 == 0
    edit(own_course / TESTS_FILE, "@weight(4)", "@weight(3)")
    assert "0 programs were run" in viva("regrade", "words").out, "what was unpacked is still there"
    edit(own_course / TESTS_FILE, "@weight(3)", "@weight(4)")
    write_export(turingalan=RIGHT)
    ran = viva("grade", export, "--class")
    assert "1 submission was graded before" in ran.out and ran.out.count("✓ 4 passed") == 2


@pytest.mark.long
def test_unpacked_folder(viva: Viva, export: Path, own_course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known by itself, and a regrade finds the work from anywhere."""
    with zipfile.ZipFile(export) as archive:
        archive.extractall("folder")
    viva("grade", "folder", "-o", "out")
    assert scores_in("out") == SCORES
    edit(own_course / TESTS_FILE, "@weight(4)", "@weight(3)")
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    told = viva("regrade", "words")
    assert "2 regraded" in told.out and not told.err


@pytest.mark.long
def test_two_classes_at_once_are_refused(viva: Viva, export: Path, own_course: Path) -> None:
    ran = viva("grade", export, export, "--class", "-o", "out")
    assert (ran.status, ran.out) == (1, "") and "one path" in ran.sentence()
    assert not Path("out").exists() and not (own_course / ".class").exists(), "nothing was unpacked"


def abandon(path: Path) -> None:
    """Make it two hours old, as what a killed run left."""
    os.utime(path, (time.time() - 7200,) * 2)


@pytest.mark.long
def test_leftovers_of_a_killed_run_are_swept(viva: Viva, export: Path, own_course: Path) -> None:
    viva("grade", export, "--class", "-o", "out")
    copy = own_course / ".class" / ".0123456789ab.abcdefgh.part"
    copy.mkdir(parents=True)
    (copy / "everybody.py").write_text("x = 1")
    abandon(copy)
    half = next(Path("out").rglob("results.json")).with_name(".results.json.0123456789ab.part")
    notes, fresh = Path("out/.notes.part"), Path("out/.results.json.ba9876543210.part")
    for path in (half, notes, fresh):
        path.write_text("{")
    abandon(half)
    abandon(notes)
    assert f"{copy} is what a run that was killed had unpacked" in viva("doctor").out
    lock = lock_folder(str(copy))  # as one that is being unpacked
    viva("grade", export, "--class", "-o", "out")
    assert not half.exists() and notes.exists() and fresh.exists() and copy.exists()
    unlock_folder(lock)
    viva("grade", export, "--class")
    assert not copy.exists() and "was killed" not in viva("doctor").out


# --- `viva submissions`: the table, the spreadsheet, and sentences for what is not a class


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    class_exports.write_all(tmp_path / "downloads")
    return tmp_path / "downloads"


def test_unmatched_submissions_are_listed(viva: Viva, downloads: Path) -> None:
    ran = viva("submissions", downloads / "Homework_1 submissions.zip", "--roster", downloads / "canvas.csv")
    assert ran.status == 1 and not ran.err, "something in it may be somebody's work"
    assert ran.out.startswith(
        "canvas: 10 submissions, 9 students, 2 late, 2 later attempts, 2 not matched, 1 missing\nNot matched:\n"
    )
    for told in ("turingalan_1002", "Alan Turing (S2)", "README has no name that Canvas gives", "Grace Hopper (S9)"):
        assert told in ran.out


def test_teams_and_names(viva: Viva, downloads: Path) -> None:
    ran = viva("submissions", downloads / "NLP-HW1-4711.zip", "--roster", downloads / "moodle.csv")
    assert "1 from a team" in ran.out and "Team Rocket" in ran.out
    ran = viva("submissions", downloads / "folders.zip", "--roster", downloads / "brightspace.csv")
    assert "נועה לוי was taken for נועה לוי (B2) by the name alone." in ran.out


def test_names_are_text(viva: Viva, tmp_path: Path) -> None:
    files = {"=HYPERLINK(1)/x.py": class_exports.CODE, "\x1b[2Jbo/x.py": class_exports.CODE, "-x.txt": b""}
    class_exports.laid_out(tmp_path / "class", files)
    (tmp_path / "list.csv").write_text('id,name\n7,"=cmd|calc"\n8,"@sum\x1b[31m"\n')
    for option in ((), ("--as-csv",)):
        ran = viva("submissions", tmp_path / "class", "--roster", tmp_path / "list.csv", *option)
        assert "\x1b" not in ran.out
    cells = [cell for row in csv.reader(io.StringIO(ran.out)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "-"))]
    assert "'=cmd|calc" in cells


def test_nothing_stays_behind(viva: Viva, downloads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    for name in class_exports.EXPORTS:
        viva("submissions", downloads / name)
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize(
    ("path", "roster", "sentence"),
    [
        ("nothing.zip", "canvas.csv", "no such file or folder"),
        ("folders.zip", "folders.zip", "is a workbook"),
    ],
)
def test_no_class(viva: Viva, downloads: Path, path: str, roster: str, sentence: str) -> None:
    ran = viva("submissions", downloads / path, "--roster", downloads / roster)
    assert ran.status == 1 and not ran.out
    assert ran.err.startswith("viva: ") and sentence in ran.err and ran.err.count("\n") == 1


@pytest.mark.long
def test_archive_without_an_option_is_one_submission(viva: Viva, export: Path) -> None:
    ran = viva("grade", export, "-o", "one.json")
    assert ran.status == 0 and "Words submissions.zip" in ran.out and Path("one.json").is_file()


def test_zone_sets_the_times_that_are_shown(viva: Viva, downloads: Path) -> None:
    path = downloads / "Homework 1 Download Oct 7, 2026.zip"
    assert "2026-10-05 11:07 -0400" in viva("submissions", path, "--zone", "America/Toronto").out
    ran = viva("submissions", path, "--zone", "Middle/Earth")
    assert (ran.status, ran.out) == (1, "") and "--zone Middle/Earth" in ran.sentence()
