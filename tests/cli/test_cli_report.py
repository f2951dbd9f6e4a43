"""`viva report`: a graded class in one folder, and one sentence for what cannot be reported."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.run_command import Viva

HEAVY = ("jinja2", "nh3", "nbconvert", "matplotlib", "mistune", "viva.report")


@pytest.fixture
def graded(viva: Viva, tmp_path: Path) -> Path:
    """Results of two submissions to the course's assignment."""
    for name, value in (("ada", "1"), ("eve", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "solution.py").write_text(f"def one():\n    return {value}\n")
    assert viva("grade", "ada", "eve", "-o", "results").status == 0
    return tmp_path / "results"


def test_a_class_is_reported(viva: Viva, graded: Path) -> None:
    done = viva("report", graded, "--feedback", "--similarity")
    assert done.status == 0, done.err
    assert {p.relative_to(graded / "report").as_posix() for p in (graded / "report").rglob("*.*")} == {
        "report.html", "report.csv", "similarity.html", "feedback/ada.html", "feedback/eve.html",
    }  # fmt: skip
    assert "2 pages for students" in done.out
    html = (graded / "report/report.html").read_text("utf-8")
    assert 'href="feedback/ada.html"' in html and "needs at least 10" in html


def test_a_name_with_a_line_break_ends_nobody_elses_page(viva: Viva, graded: Path) -> None:
    Path("line\nbreak").mkdir()
    (Path("line\nbreak") / "solution.py").write_text("def one():\n    return 1\n")
    viva("grade", "line\nbreak", "-o", graded / "line.json")
    (graded / "line\nbreak").mkdir()
    (graded / "line.json").rename(graded / "line\nbreak" / "results.json")
    done = viva("report", graded, "--feedback")
    assert done.status == 1 and "2 pages for students" in done.out
    assert "viva: line break has no page: The submission" in done.err and done.err.count("\n") == 1


def test_reporting_twice_writes_the_same_bytes(viva: Viva, graded: Path) -> None:
    pages = []
    for _ in range(2):
        assert viva("report", graded, "-o", "out", "--feedback").status == 0
        pages.append({p: p.read_bytes() for p in Path("out").rglob("*.*")})
    assert pages[0] == pages[1] and len(pages[0]) == 4


def test_what_cannot_be_reported_is_one_sentence(viva: Viva, graded: Path) -> None:
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
