"""`python -m bench.imported`: what imported assignments cost, compared with the tool that they were written for.

Each class is graded by nbgrader or otter, and by viva after `viva import`, in turn, with one worker. A run counts only
if every submission gets its points. The figures are CPU seconds for one submission, with its share of the start.
"""

import argparse
import json
import shutil
import statistics
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bench import environment
from bench.imported_course import HOMEWORK, Homework, nbgrader_notebook, otter_notebook, otter_tests, points_of
from bench.measure import BIN, Cost, run
from bench.small_course import name_of, put
from bench.tools import NotGraded, versions

_CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'bench'\nc.CourseDirectory.root = '.'\n"
_REACH = {"nbgrader": 0.5, "otter": 0.4}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.imported", description=__doc__)
    parser.add_argument("--size", type=int, default=10, help="submissions in each class")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds; medians are shown")
    options = parser.parse_args()
    environment.make()
    print(f"{versions()}. CPU seconds for one of {options.size} submissions.\n")
    print("| tool | assignment | the tool | viva | share | to reach, median |")
    print("|---|---|---|---|---|---|")
    for tool, grade in (("nbgrader", _nbgrader), ("otter", _otter)):
        shares = []
        for homework in HOMEWORK:
            with tempfile.TemporaryDirectory() as folder:
                theirs, ours = _measured(Path(folder), tool, grade, homework, options.size, options.rounds)
            shares.append(ours / theirs)
            print(f"| {tool} | {homework.name} | {theirs:.3f} | {ours:.3f} | {shares[-1]:.2f} | |", flush=True)
        median, most = statistics.median(shares), max(shares)
        print(f"| {tool} | median; dearest | | | **{median:.2f}**; {most:.2f} | {_REACH[tool]}; 0.9 |", flush=True)


def _measured(
    folder: Path, tool: str, grade: Callable[[Path, Homework, int], float], homework: Homework, size: int, rounds: int
) -> tuple[float, float]:
    """Return the medians of CPU seconds for one submission: the tool's, and viva's."""
    _write(folder, homework, size)
    run([str(BIN / "viva"), "import", tool, *_source(folder, tool, homework), "--to", "course"], cwd=folder)
    theirs, ours = [], []
    for _ in range(rounds):
        theirs.append(grade(folder, homework, size) / size)
        ours.append(_viva(folder, tool, homework, size) / size)
    return statistics.median(theirs), statistics.median(ours)


def _write(folder: Path, homework: Homework, size: int) -> None:
    """Write the author's files and the class, for both tools."""
    file = f"{homework.name}.ipynb"
    put(folder / "nbgrader_config.py", _CONFIG)
    put(folder / "source" / homework.name / file, nbgrader_notebook(homework))
    with zipfile.ZipFile(folder / "autograder.zip", "w") as archive:
        for name, text in {**otter_tests(homework), "otter_config.json": "{}"}.items():
            archive.writestr(name, text)
    for student in range(size):
        put(folder / "submitted" / name_of(student) / homework.name / file, nbgrader_notebook(homework, student))
        put(folder / "otter" / name_of(student) / file, otter_notebook(homework, student))


def _source(folder: Path, tool: str, homework: Homework) -> list[str]:
    return [str(folder / "source" / homework.name if tool == "nbgrader" else folder / "autograder.zip")]


def _nbgrader(folder: Path, homework: Homework, size: int) -> float:
    """Grade the class with nbgrader; return its CPU seconds."""
    (folder / "gradebook.db").unlink(missing_ok=True)
    shutil.rmtree(folder / "autograded", ignore_errors=True)
    _of_environment(folder, "nbgrader", "generate_assignment", homework.name, "--force")
    cost = _of_environment(folder, "nbgrader", "autograde", homework.name)
    code = (
        "import json\nfrom nbgrader.api import Gradebook\nwith Gradebook('sqlite:///gradebook.db', 'bench') as book:\n"
        f"    found = book.assignment_submissions({homework.name!r})\n"
        "    print(json.dumps({each.student.id: each.score for each in found}))"
    )
    points = json.loads(_of_environment(folder, "python", "-c", code).output.splitlines()[-1])
    for student in range(size):
        _check("nbgrader", homework, student, points[name_of(student)])
    return cost.cpu_s


def _otter(folder: Path, homework: Homework, size: int) -> float:
    """Grade the class with otter, one process for each submission; return their CPU seconds."""
    spent_s = 0.0
    for student in range(size):
        place = folder / "otter" / name_of(student)
        words = ["run", "-a", str(folder / "autograder.zip"), "--no-logo", "-o", str(place), f"{homework.name}.ipynb"]
        spent_s += _of_environment(place, "otter", *words).cpu_s
        tests = json.loads((place / "results.json").read_text())["tests"]
        _check("otter", homework, student, sum(float(test.get("score") or 0) for test in tests))
    return spent_s


def _viva(folder: Path, tool: str, homework: Homework, size: int) -> float:
    """Grade the class with viva; return its CPU seconds."""
    place = "submitted/{}/" + homework.name if tool == "nbgrader" else "otter/{}"
    paths = [place.format(name_of(student)) for student in range(size)]
    shutil.rmtree(folder / "results", ignore_errors=True)
    command = [str(BIN / "viva"), "grade", "--course", "course", "--workers", "1", "--again", "-o", "results", *paths]
    cost = run(command, cwd=folder)
    for student, path in enumerate(paths):
        result = json.loads((folder / "results" / path / "results.json").read_text())
        _check("viva", homework, student, result["score"])
    return cost.cpu_s


def _of_environment(folder: Path, program: str, *words: str) -> Cost:
    return run([environment.program(program), *words], cwd=folder, env=environment.variables())


def _check(tool: str, homework: Homework, student: int, found: float) -> None:
    expected = points_of(homework, student)
    if found != expected:
        raise NotGraded(f"{tool} gave submission {student} of {homework.name} {found:g} points instead of {expected}")


if __name__ == "__main__":
    main()
