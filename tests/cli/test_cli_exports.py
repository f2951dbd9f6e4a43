"""What a platform exported is graded as it was downloaded, by student, and not twice."""

import os
import time
import zipfile
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import KEEPS_CASE, RIGHT
from viva.formats.folder_locks import lock_folder, unlock_folder
from viva.formats.results_json import load_results
from viva.records import Records

pytestmark = pytest.mark.long

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


@pytest.fixture
def export(keeping: Path, tmp_path: Path) -> Path:
    """What Canvas gives, for a course that keeps records."""
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    with zipfile.ZipFile(downloads / "Words submissions.zip", "w") as archive:
        for name, text in HANDED_IN.items():
            archive.writestr(name, text)
    (tmp_path / "roster.csv").write_text(ROSTER)
    return downloads / "Words submissions.zip"


def scores(folder: Path) -> dict[str, float]:
    return {p.parent.name: load_results(p).score for p in sorted(folder.rglob("results.json"))}


def test_an_archive_is_graded_by_student(viva: Viva, export: Path, own_course: Path) -> None:
    ran = viva("grade", export, "--roster", "roster.csv", "-o", "out")
    assert ran.status == 1, "the README may be somebody's work"
    assert ran.err.startswith("viva: not matched: README (") and "not submitted: Grace Hopper" in ran.err
    assert scores(Path("out")) == {"lovelaceada_1001": 9.0, "turingalan_1002": 3.0}
    with Records.open("sqlite:///records.db", own_course) as records:
        (kept,) = records.history("alan@x.org")
    attempt = kept.scored.attempt
    assert (attempt.source, attempt.late, attempt.students[0].id) == ("canvas", True, "S2")
    assert attempt.path.read_text() == KEEPS_CASE if attempt.path.is_file() else attempt.path.is_dir()


def test_it_is_graded_once_though_it_is_unpacked_again(viva: Viva, export: Path, own_course: Path) -> None:
    viva("grade", export, "--class")
    again = viva("grade", export, "--class")
    assert "2 submissions were graded before and not again" in again.out
    (place,) = (own_course / ".class").iterdir()
    assert not list((own_course / ".class").glob(".*")), "nothing half done is left"
    text = (own_course / "graders/words/test_words.py").read_text()
    (own_course / "graders/words/test_words.py").write_text(text.replace("@weight(4)", "@weight(3)"))
    assert "0 programs were run" in viva("regrade", "words").out, "what was unpacked is still there"
    assert place.stat().st_mode & 0o077 == 0


def test_a_new_export_takes_the_place_of_the_old_one(viva: Viva, export: Path) -> None:
    viva("grade", export, "--class", "-o", "out")
    with zipfile.ZipFile(export, "w") as archive:
        for name, text in {**HANDED_IN, "turingalan_LATE_1002_502_solution.py": RIGHT}.items():
            archive.writestr(name, text)
    assert "1 submission was graded before" in viva("grade", export, "--class", "-o", "out").out
    assert scores(Path("out"))["turingalan_1002"] == 9.0


def test_a_folder_of_a_platform_is_known_by_itself(viva: Viva, export: Path) -> None:
    with zipfile.ZipFile(export) as archive:
        archive.extractall("folder")
    viva("grade", "folder", "-o", "out")
    assert scores(Path("out")) == {"lovelaceada_1001": 9.0, "turingalan_1002": 3.0}


def test_a_regrade_finds_the_work_from_anywhere(
    viva: Viva, export: Path, own_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(export) as archive:
        archive.extractall("folder")
    viva("grade", "folder")
    tests = own_course / "graders/words/test_words.py"
    tests.write_text(tests.read_text().replace("@weight(4)", "@weight(3)"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    told = viva("regrade", "words")
    assert "2 regraded" in told.out and not told.err


def test_an_archive_without_a_word_is_one_submission(viva: Viva, export: Path) -> None:
    ran = viva("grade", export, "-o", "one.json")
    assert ran.status == 0 and "Words submissions.zip" in ran.out and Path("one.json").is_file()


def test_two_classes_at_once_are_refused(viva: Viva, export: Path, own_course: Path) -> None:
    ran = viva("grade", export, export, "--class", "-o", "out")
    assert (ran.status, ran.out) == (1, "") and "one path" in ran.sentence()
    assert not Path("out").exists() and not (own_course / ".class").exists(), "nothing was unpacked"


def abandoned(path: Path, *, folder: bool = False) -> Path:
    """A file or folder as a run leaves it that was killed two hours ago."""
    if folder:
        path.mkdir(parents=True)
        (path / "everybody.py").write_text("x = 1")
    else:
        path.write_text("{")
    os.utime(path, (time.time() - 7200,) * 2)
    return path


def test_what_a_killed_run_had_unpacked_and_half_written_is_swept(viva: Viva, export: Path, own_course: Path) -> None:
    viva("grade", export, "--class", "-o", "out")
    copy = abandoned(own_course / ".class" / ".0123456789ab.abcdefgh.part", folder=True)
    result = next(Path("out").rglob("results.json"))
    half = abandoned(result.with_name(".results.json.0123456789ab.part"))
    theirs = abandoned(Path("out") / ".notes.part")
    fresh = Path("out") / ".results.json.ba9876543210.part"
    fresh.write_text("{")
    assert f"{copy} is what a run that was killed had unpacked" in viva("doctor").out
    viva("grade", export, "--class", "-o", "out")
    assert not half.exists() and theirs.exists() and fresh.exists()
    viva("grade", export, "--class")
    assert not copy.exists() and "was killed" not in viva("doctor").out


def test_a_copy_that_is_being_unpacked_is_left_alone(viva: Viva, export: Path, own_course: Path) -> None:
    copy = abandoned(own_course / ".class" / ".0123456789ab.abcdefgh.part", folder=True)
    lock = lock_folder(str(copy))
    viva("grade", export, "--class")
    assert copy.exists()
    unlock_folder(lock)
    viva("grade", export, "--class")
    assert not copy.exists()


def test_a_student_who_is_deleted_takes_the_unpacked_copy_along(viva: Viva, export: Path, own_course: Path) -> None:
    viva("grade", export, "--roster", "roster.csv")
    copies = [path for path in (own_course / ".class").rglob("*") if "turing" in path.name]
    assert copies
    ran = viva("student", "delete", "S2")
    assert "would go too, a copy that was unpacked" in ran.out and all(path.exists() for path in copies)
    ran = viva("student", "delete", "S2", "--yes", "--by", "grace", "--why", "asked for")
    assert "gone too, a copy that was unpacked" in ran.out
    assert not [path for path in (own_course / ".class").rglob("*") if "turing" in path.name]
    assert [path for path in (own_course / ".class").rglob("*") if "lovelace" in path.name]
