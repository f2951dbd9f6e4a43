"""`viva report`: a graded class in one folder, and one sentence for what cannot be reported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.run_command import Viva
from tests.support.words_course import hand_in

HEAVY = ("jinja2", "nh3", "nbconvert", "matplotlib", "mistune", "viva.report")


@pytest.fixture
def graded(viva: Viva, tmp_path: Path) -> Path:
    """Results of two submissions to the course's assignment."""
    for name, value in (("ada", "1"), ("eve", "2")):
        hand_in(tmp_path / name, f"def one():\n    return {value}\n")
    assert viva("grade", "ada", "eve", "-o", "results").status == 0
    return tmp_path / "results"


def test_report_of_a_class(viva: Viva, graded: Path) -> None:
    """The same bytes each time."""
    done = viva("report", graded, "--feedback", "--similarity")
    assert done.status == 0, done.err
    pages = {path.relative_to(graded / "report").as_posix(): path for path in (graded / "report").rglob("*.*")}
    assert set(pages) == {"report.html", "report.csv", "similarity.html", "feedback/ada.html", "feedback/eve.html"}
    assert "2 pages for students" in done.out
    html = pages["report.html"].read_text("utf-8")
    assert 'href="feedback/ada.html"' in html and "needs at least 10" in html
    viva("report", graded, "--feedback", "--similarity", "-o", "again")
    for name, path in pages.items():
        assert Path("again", name).read_bytes() == path.read_bytes()


def test_name_with_a_line_break(viva: Viva, graded: Path) -> None:
    """It ends nobody else's page."""
    hand_in(Path("line\nbreak"))
    viva("grade", "line\nbreak", "-o", graded / "line.json")
    (graded / "line\nbreak").mkdir()
    (graded / "line.json").rename(graded / "line\nbreak" / "results.json")
    done = viva("report", graded, "--feedback")
    assert done.status == 1 and "2 pages for students" in done.out
    assert "viva: line break has no page: The submission" in done.err and done.err.count("\n") == 1


def test_wrong_report(viva: Viva, graded: Path) -> None:
    for arguments, sentence in {
        ("nowhere",): "no such folder",
        (".", "-a", "other"): "holds no results",
        ("results", "-o", "ada/solution.py"): "a folder on the way to it is a file",
    }.items():
        done = viva("report", *arguments)
        assert done.status == 1 and sentence in done.err and done.err.count("\n") == 1


def test_no_other_command_imports_what_reports_need() -> None:
    """Every command's module, imported in a fresh process; and reading a folder of results draws nothing."""
    code = (
        "import importlib, sys\nfrom viva.cli.main import COMMANDS\n"
        "for command in COMMANDS.values(): importlib.import_module(f'viva.cli.{command.module}')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
