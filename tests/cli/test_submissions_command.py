"""`viva submissions`: the table, the spreadsheet, and sentences for what is not a class."""

import csv
import io
from pathlib import Path

import pytest

from tests.support import class_exports as exports
from tests.support.run_command import Viva


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    exports.write_all(tmp_path / "downloads")
    return tmp_path / "downloads"


def test_table(viva: Viva, downloads: Path) -> None:
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


@pytest.mark.parametrize("name", list(exports.EXPORTS))
def test_spreadsheet(viva: Viva, downloads: Path, name: str) -> None:
    ran = viva("submissions", downloads / name, "--as-csv")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    states = {row["state"] for row in rows}
    assert "submitted" in states <= {"submitted", "unmatched"}
    assert ran.status == ("unmatched" in states)
    assert all(row["submission"] and row["source"] for row in rows)


def test_names_are_text(viva: Viva, tmp_path: Path) -> None:
    files = {"=HYPERLINK(1)/x.py": exports.CODE, "\x1b[2Jbo/x.py": exports.CODE, "-x.txt": b""}
    exports.laid_out(tmp_path / "class", files)
    (tmp_path / "list.csv").write_text('id,name\n7,"=cmd|calc"\n8,"@sum\x1b[31m"\n')
    for option in ((), ("--as-csv",)):
        ran = viva("submissions", tmp_path / "class", "--roster", tmp_path / "list.csv", *option)
        assert "\x1b" not in ran.out
    cells = [cell for row in csv.reader(io.StringIO(ran.out)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "-"))]
    assert "'=cmd|calc" in cells


def test_zone(viva: Viva, downloads: Path) -> None:
    path = downloads / "Homework 1 Download Oct 7, 2026.zip"
    assert "2026-10-05 11:07 -0400" in viva("submissions", path, "--zone", "America/Toronto").out
    ran = viva("submissions", path, "--zone", "Middle/Earth")
    assert (ran.status, ran.out) == (1, "") and "--zone Middle/Earth" in ran.sentence()


def test_nothing_stays_behind(viva: Viva, downloads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    for name in exports.EXPORTS:
        viva("submissions", downloads / name)
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize(
    ("path", "roster", "sentence"),
    [
        ("nothing.zip", "canvas.csv", "no such file or folder"),
        ("canvas.csv", "canvas.csv", "is damaged, or no archive that is known here"),
        ("folders.zip", "nothing.csv", "no such file or folder"),
        ("folders.zip", "folders.zip", "is a workbook"),
        ("empty", "canvas.csv", "is not a class in a known format"),
    ],
)
def test_no_class(viva: Viva, downloads: Path, path: str, roster: str, sentence: str) -> None:
    (downloads / "empty").mkdir()
    ran = viva("submissions", downloads / path, "--roster", downloads / roster)
    assert ran.status == 1 and not ran.out
    assert ran.err.startswith("viva: ") and sentence in ran.err and ran.err.count("\n") == 1
