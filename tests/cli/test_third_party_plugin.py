"""A plugin of other people, installed as a module and the metadata of its distribution."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.words_course import KEEPS_CASE, SECRET, hand_in
from viva.cli.main import run

PLUGIN = '''
from viva.hooks import Command, DoctorCheck, GradeWriter, ResultExporter, hookimpl
from viva.plugins.cohorts.exports.export_format import Found, Person, Reading


@hookimpl
def viva_commands():
    return [Command("greet", "campus_greet", "Greet a student.", "Campus")]


@hookimpl
def viva_result_exporter():
    def export(reports):
        return "".join(f"{report.submission} {test.status}\\n" for report in reports for test in report.tests).encode()

    return [ResultExporter("lines", "A line for each test.", export)]


@hookimpl
def viva_grade_writer():
    return [GradeWriter("campus", "campus_greet")]


@hookimpl
def viva_export_format():
    return CampusExport()


@hookimpl
def viva_doctor_checks():
    def check(request):
        print("the campus license is valid")
        return 0

    return [DoctorCheck("licenses", "Look for the campus licenses.", check)]


class CampusExport:
    """Files `campus--ID--name.py`."""

    name = "campus"

    def recognize(self, folder, entries):
        return any(entry.name.startswith("campus--") for entry in entries)

    def read(self, folder, entries, gatherer):
        found = [Found(entry.name, entry.path, (Person(entry.name.split("--")[1]),)) for entry in entries]
        return Reading(found)
'''
COMMAND = """
import click


@click.command("greet")
@click.argument("name")
def command(name):
    click.echo(f"Good morning, {name}.")


def write_grades(grades, assignment):
    return "".join(f"{assignment.name};{grade.student.id};{grade.points}\\n" for grade in grades).encode()
"""


@pytest.fixture(scope="module")
def viva_with_plugin(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Run viva where the plugin is installed; return its output."""
    site = tmp_path_factory.mktemp("site")
    (site / "campus_hooks.py").write_text(PLUGIN)
    (site / "campus_greet.py").write_text(COMMAND)
    info = site / "campus-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: campus\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[viva]\ncampus = campus_hooks\n")

    def viva(*arguments: object) -> str:
        command = [sys.executable, "-m", "viva", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return viva


@pytest.fixture(scope="module")
def results(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("graded")
    hand_in(root / "ada", KEEPS_CASE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVA_SECRET", SECRET)
        patch.chdir(root)
        command = ["grade", "ada", "--course", str(course), "--tier", "best", "--workers", "1", "-o", "results"]
        assert run(command) == 0
    return root / "results"


def test_command(viva_with_plugin: Callable[..., str]) -> None:
    listed = viva_with_plugin("--help")
    assert "\nCampus:\n" in listed and "greet" in listed and "Greet a student." in listed
    assert viva_with_plugin("greet", "Ada") == "Good morning, Ada.\n"


def test_exporter(viva_with_plugin: Callable[..., str], results: Path) -> None:
    result = next(results.rglob("results.json"))
    lines = viva_with_plugin("export", result, "--to", "lines").splitlines()
    assert lines and all(line.startswith("ada ") for line in lines)
    assert "A line for each test." in " ".join(viva_with_plugin("export", "--help").split())


def test_cohort_reader(viva_with_plugin: Callable[..., str], tmp_path: Path) -> None:
    for student in ("s1", "s2"):
        (tmp_path / f"campus--{student}--solution.py").write_text("x = 1\n")
    table = viva_with_plugin("submissions", tmp_path, "--as-csv")
    assert "s1" in table and "s2" in table


def test_grade_writer(viva_with_plugin: Callable[..., str], results: Path, course: Path, tmp_path: Path) -> None:
    viva_with_plugin("grades", results, "--course", course, "--to", "campus", "-o", tmp_path / "grades")
    assert (tmp_path / "grades").read_text().startswith("words;ada;")


def test_doctor_check(viva_with_plugin: Callable[..., str]) -> None:
    assert viva_with_plugin("doctor", "--licenses") == "the campus license is valid\n"
