"""What a user would pick instead of viva, used as its documentation says, with a check that it has graded.

Each tool gets the same class. Its run is refused (NotGraded) unless it gives every submission the right total,
including the wrong submission.
"""

import csv
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from bench import environment
from bench.measure import Cost, run
from bench.small_course import EXPECTED, POINTS, TESTS, cell, cells_of, name_of, notebook, put, source_of, total_of

_INDENT = "    "
_LAST_SUMMARY = re.compile(r"(\d+) passed")


class NotGraded(Exception):
    """A tool ran and did not give the right totals: its figures mean nothing."""


class Tool(Protocol):
    """A tool that starts one process for each submission."""

    name: str

    def prepare(self, folder: Path, students: Sequence[int], *, torch: bool) -> None:
        """Write what the tool needs, below `folder`."""

    def grade(self, folder: Path, student: int) -> Cost:
        """Grade one submission; raise NotGraded if its total is wrong."""


def _check(tool: str, student: int, found: float) -> None:
    if found != total_of(student):
        raise NotGraded(f"{tool} gave submission {student} {found:g} points instead of {total_of(student)}")


class BarePytest:
    """A pytest process that imports the submission: no isolation, no totals, no results file, no plugins."""

    name = "bare pytest"

    def prepare(self, folder: Path, students: Sequence[int], *, torch: bool) -> None:
        """Write a folder for each student, with the tests next to the module."""
        tests = "".join(f"\n\ndef test_{name}():\n{_indented(body)}" for name, body in TESTS.items())
        header = EXPECTED.replace(
            "import numpy as np\n", f"import numpy as np\nfrom solution import {', '.join(TESTS)}\n"
        )
        for student in students:
            place = folder / "pytest" / name_of(student)
            place.mkdir(parents=True)
            (place / "solution.py").write_text(source_of(student, torch=torch))
            (place / "test_solution.py").write_text(header + tests)

    def grade(self, folder: Path, student: int) -> Cost:
        """Grade with pytest: the total is the points of the tests that passed."""
        place = folder / "pytest" / name_of(student)
        command = [environment.program("python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", str(place)]
        cost = run(command, cwd=place, env=environment.variables(), statuses=(0, 1))
        passed = _LAST_SUMMARY.search(cost.output)
        _check(self.name, student, POINTS * int(passed[1]) if passed else 0)
        return cost


class Otter:
    """`otter run`: one submission, without a container, from an autograder zip."""

    def __init__(self, kind: str) -> None:
        self.name = "otter run"
        self._file = "solution.py" if kind == "modules" else "answer.ipynb"

    def prepare(self, folder: Path, students: Sequence[int], *, torch: bool) -> None:
        """Write the zip that `otter generate` makes, and a file for each student."""
        place = folder / "otter"
        tests = {f"tests/{name}.py": self._test(name, body) for name, body in TESTS.items()}
        config = json.dumps({"show_stdout": False, "print_summary": False, "logo": False, "pdf": False})
        place.mkdir()
        with zipfile.ZipFile(place / "autograder.zip", "w") as archive:
            for name, text in {**tests, "otter_config.json": config}.items():
                archive.writestr(name, text)
        for student in students:
            source = source_of(student, torch=torch)
            (place / name_of(student)).mkdir()
            text = source if self._file.endswith(".py") else notebook(cells_of(source))
            (place / name_of(student) / self._file).write_text(text)

    def _test(self, name: str, body: str) -> str:
        start = f'OK_FORMAT = False\nname = "{name}"\npoints = {POINTS}\nfrom otter.test_files import test_case\n'
        return f"{start}{EXPECTED}\n\n@test_case()\ndef test({name}):\n{_indented(body)}"

    def grade(self, folder: Path, student: int) -> Cost:
        """Grade with otter: the total is the sum in results.json."""
        place = folder / "otter" / name_of(student)
        zipped = str(folder / "otter" / "autograder.zip")
        command = [environment.program("otter"), "run", "-a", zipped, "--no-logo", "-o", str(place), self._file]
        cost = run(command, cwd=place, env=environment.variables())
        tests = json.loads((place / "results.json").read_text())["tests"]
        _check(self.name, student, sum(float(test.get("score") or 0) for test in tests))
        return cost


class Nbconvert:
    """`jupyter nbconvert --execute`: runs the notebook and grades nothing."""

    name = "nbconvert --execute"

    def prepare(self, folder: Path, students: Sequence[int], *, torch: bool) -> None:
        """Write a notebook for each student."""
        for student in students:
            place = folder / "nbconvert" / name_of(student)
            place.mkdir(parents=True)
            (place / "answer.ipynb").write_text(notebook(cells_of(source_of(student, torch=torch))))

    def grade(self, folder: Path, student: int) -> Cost:
        """Run the notebook; every cell must have been run."""
        place = folder / "nbconvert" / name_of(student)
        command = [environment.program("jupyter-nbconvert"), "--to", "notebook", "--execute", "--output", "out"]
        cost = run([*command, "answer.ipynb"], cwd=place, env=environment.variables())
        cells = json.loads((place / "out.ipynb").read_text())["cells"]
        if not all(cell["execution_count"] for cell in cells):
            raise NotGraded(f"nbconvert did not run every cell of submission {student}")
        return cost


class Nbgrader:
    """`nbgrader autograde` for a whole class in one call, so that its start is shared; it accepts only notebooks."""

    name = "nbgrader autograde"
    _ASSIGNMENT = "small"

    def prepare(self, folder: Path, students: Sequence[int], *, torch: bool) -> None:
        """Write the course folder, with the assignment released."""
        place = folder / "nbgrader"
        config = "c = get_config()\nc.CourseDirectory.course_id = 'bench'\nc.CourseDirectory.root = '.'\n"
        put(place / "nbgrader_config.py", config)
        put(place / "source" / self._ASSIGNMENT / "answer.ipynb", self._notebook(source_of(0, torch=torch)))
        for student in students:
            handed_in = place / "all" / name_of(student) / self._ASSIGNMENT / "answer.ipynb"
            put(handed_in, self._notebook(source_of(student, torch=torch)))
        self._run(place, "generate_assignment")

    def grade_class(self, folder: Path, students: Sequence[int]) -> Cost:
        """Grade only these students, from the start; raise NotGraded if a total is wrong."""
        place = folder / "nbgrader"
        shutil.rmtree(place / "submitted", ignore_errors=True)
        shutil.rmtree(place / "autograded", ignore_errors=True)
        for student in students:
            shutil.copytree(place / "all" / name_of(student), place / "submitted" / name_of(student))
        cost = self._run(place, "autograde")
        self._run(place, "export", named=False)
        with (place / "grades.csv").open() as file:
            points = {row["student_id"]: float(row["raw_score"] or 0) for row in csv.DictReader(file)}
        for student in students:
            _check(self.name, student, points.get(name_of(student), -1))
        (place / "gradebook.db").unlink()
        self._run(place, "generate_assignment", "--force")
        return cost

    def _run(self, place: Path, command: str, *more: str, named: bool = True) -> Cost:
        words = [environment.program("nbgrader"), command, *([self._ASSIGNMENT] if named else []), *more]
        return run(words, cwd=place, env=environment.variables())

    def _notebook(self, source: str) -> str:
        """Return the student's cell, then a locked cell of tests for each question."""
        cells = [cell("answers", source, nbgrader_metadata("answers"))]
        for name, body in TESTS.items():
            cells.append(cell(f"test_{name}", f"{EXPECTED}\n\n{body}", nbgrader_metadata(name, POINTS)))
        return notebook(cells)


def nbgrader_metadata(name: str, points: int | None = None) -> dict[str, object]:
    """Return the metadata of an answer, or of a locked cell of tests that is worth points."""
    tested = points is not None
    about = {"schema_version": 3, "grade_id": name, "grade": tested, "locked": tested, "solution": not tested}
    return {"nbgrader": {**about, "task": False, **({"points": points} if tested else {})}}


def _indented(body: str) -> str:
    return "".join(_INDENT + line for line in body.splitlines(keepends=True))


def tools_for(kind: str) -> list[Tool]:
    """Return the tools that grade a class of this kind, except nbgrader."""
    return [Otter(kind), BarePytest()] if kind == "modules" else [Otter(kind), Nbconvert()]


def versions() -> str:
    """Return the versions of the tools, for the record."""
    from importlib import metadata

    libraries = [str(path) for path in (environment.FOLDER / "lib").glob("python3.*/site-packages")]
    names = ("otter-grader", "nbgrader", "nbconvert", "pytest")
    found = {d.name: d.version for d in metadata.distributions(path=libraries) if d.name in names}
    return f"Python {sys.version.split()[0]}, " + ", ".join(f"{name} {found.get(name, '?')}" for name in names)
