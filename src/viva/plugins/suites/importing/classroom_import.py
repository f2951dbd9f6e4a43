"""GitHub Classroom: tests of `autograding.json`, or of a workflow that uses Classroom's graders, as tests of viva."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, Final

import yaml

from viva.grading.programs import Comparison
from viva.model.errors import UsageError
from viva.model.totals import EXTRA_CREDIT
from viva.plugins.suites.importing.bundle import below, read_bundle
from viva.plugins.suites.importing.new_course import ImportedAssignment, folder_name, plain_points
from viva.submissions.code_imports import imported, is_installed

AUTOGRADING: Final = ".github/classroom/autograding.json"
_WORKFLOWS: Final = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_GRADER: Final = re.compile(r"[\w.-]+/autograding-(io|command|python)-grader(?:@.*)?")
_COMPARISONS: Final[Mapping[str, Comparison]] = {
    "included": "contains",
    "contains": "contains",
    "exact": "exact",
    "regex": "regex",
}


@dataclass(frozen=True, slots=True)
class ClassroomTest:
    """One command, and what it must print."""

    name: str
    command: str
    setup: str
    stdin: str
    expected: str | None
    """The output that the command must have; None if only the exit status counts."""
    comparison: Comparison
    minutes: float
    """How long the command may take."""
    points: Fraction
    is_extra: bool = False
    """Whether it is extra credit, which the maximum leaves out."""


def classroom_tests(files: Mapping[str, bytes]) -> Iterator[ClassroomTest]:
    """Yield the tests of a repository: of its workflows, or of `autograding.json` if no workflow has any.

    Args:
        files: its files by path.

    Raises:
        UsageError: a file cannot be read, or a test lacks its command.
    """
    workflows = [path for path in sorted(files) if _WORKFLOWS.fullmatch(path)]
    found = [test for path in workflows for test in _tests_of_workflow(path, files[path])]
    yield from found or (_tests_of_json(files[AUTOGRADING]) if AUTOGRADING in files else ())


def _tests_of_json(data: bytes) -> Iterator[ClassroomTest]:
    try:
        table = json.loads(data.decode("utf-8-sig"))
        tests = table["tests"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f'{AUTOGRADING} is not a list of tests ({error}); expected {{"tests": [{{…}}]}}.') from None
    for number, test in enumerate(tests if isinstance(tests, list) else [], 1):
        where = f"{AUTOGRADING}, test {number}"
        if not isinstance(test, dict):
            raise UsageError(f'{where}: expected a test with "name" and "run".')
        read = _Reader(test, where)
        expected, stdin = read.text("output"), read.text("input")
        yield ClassroomTest(
            read.text("name") or f"Test {number}",
            read.needed("run"),
            read.text("setup"),
            stdin,
            expected if expected.strip() or stdin.strip() else None,
            read.comparison("comparison", "included"),
            read.number("timeout") or 1,
            read.points("points"),
            test.get("extra") is True,
        )


def _tests_of_workflow(path: str, data: bytes) -> Iterator[ClassroomTest]:
    try:
        workflow = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not valid YAML: {str(error).splitlines()[0]}.") from None
    jobs = workflow.get("jobs") if isinstance(workflow, dict) else None
    for job in jobs.values() if isinstance(jobs, dict) else ():
        steps = job.get("steps") if isinstance(job, dict) else None
        for number, step in enumerate(steps if isinstance(steps, list) else (), 1):
            used = _GRADER.fullmatch(str(step.get("uses", ""))) if isinstance(step, dict) else None
            if used is not None:
                given = step.get("with")
                read = _Reader(given if isinstance(given, dict) else {}, f"{path}, step {number}")
                yield _test_of_step(used[1], read, str(step.get("name") or f"Step {number}"))


def _test_of_step(kind: str, read: "_Reader", name: str) -> ClassroomTest:
    return ClassroomTest(
        read.text("test-name") or name,
        "python -m pytest" if kind == "python" else read.needed("command"),
        read.text("setup-command"),
        read.text("input").strip() if kind == "io" else "",
        read.text("expected-output") if kind == "io" else None,
        read.comparison("comparison-method", "contains"),
        read.number("timeout") or 10,
        read.points("max-score"),
    )


class _Reader:
    """Reads the fields of one test."""

    def __init__(self, fields: Mapping[str, object], where: str) -> None:
        self._fields, self._where = fields, where

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if value is not None and not isinstance(value, str | int | float):
            raise UsageError(f"{self._where}: {name} is a {type(value).__name__}; expected a text.")
        return "" if value is None else str(value)

    def needed(self, name: str) -> str:
        if not (text := self.text(name)).strip():
            raise UsageError(f"{self._where}: {name} is missing; expected the command that runs.")
        return text

    def number(self, name: str) -> float:
        try:
            return max(0.0, float(self.text(name) or 0))
        except ValueError:
            raise UsageError(f"{self._where}: {name} is {self.text(name)!r}; expected a number.") from None

    def points(self, name: str) -> Fraction:
        """Return points exactly; a deduction cannot be kept."""
        try:
            points = Fraction(self.text(name) or 0)
        except (ValueError, ZeroDivisionError):
            points = Fraction(-1)
        if points < 0:
            raise UsageError(f"{self._where}: {name} is {self.text(name)!r}; expected a number, zero or more.")
        return points

    def comparison(self, name: str, default: str) -> Comparison:
        stated = self.text(name) or default
        if stated not in _COMPARISONS:
            raise UsageError(f"{self._where}: {name} is {stated!r}; expected one of {', '.join(sorted(_COMPARISONS))}.")
        return _COMPARISONS[stated]


_INSTALLS: Final = re.compile(r"(?:sudo\s+(?:-\w+\s+)*)?(?:python3?\s+-m\s+)?(?:pip3?|apt(?:-get)?|npm|conda)\s")
_OF_THE_AUTHOR: Final = re.compile(
    r"(?:^|/)tests?/|(?:^|[/_-])(?:test(?:s|er|ing)?|conftest|(?:auto)?grad(?:e|er|ing))(?:[_-][^/]*)?\d*\.\w+$", re.I
)
"""Files named after tests or grading, such as test_sum.py, sum_test.py and grade_task1.py; not contest.py."""
_PROGRAM: Final = re.compile(r"(?<![\w./-])([\w./-]+\.py)\b")
_MINUTE_S: Final = 60.0
_LONGEST_S: Final = 600.0
"""The time that one command gets at most: Classroom's ten minutes by default."""
_FILES: Final = "files"
"""The folder in graders/<a>/ with the author's own files."""


def import_classroom(path: Path) -> list[ImportedAssignment]:
    """Return the assignment of a template repository.

    Raises:
        UsageError: it holds no tests of GitHub Classroom, or none that run a Python program.
    """
    files = _below_single_folder(read_bundle(path))
    tests = list(classroom_tests(files))
    if not tests:
        raise UsageError(
            f"{path} holds no tests of GitHub Classroom: expected {AUTOGRADING}, or a workflow in .github/workflows "
            "with steps that use autograding-io-grader, autograding-command-grader or autograding-python-grader."
        )
    own = {p: d for p, d in files.items() if not p.startswith(".") and _OF_THE_AUTHOR.search(p)}
    module = _students_module(tests, files, own)
    if module is None:
        raise UsageError(
            f"{path}: viva cannot tell which Python file students submit: no command names one, and no test "
            "imports one."
        )
    name = folder_name(path.resolve().name.removesuffix(".zip"))
    settings: dict[str, Any] = {
        "title": name,
        "submission": {"notebook": None, "module": module},
        "load": "definitions",
        "limits": {"test_s": int(max(_seconds(t) * (2 if t.setup else 1) for t in tests)) + 30, "submission_s": 3600},
    }
    made = ImportedAssignment(name, settings)
    scored = any(test.points for test in tests)
    points = [test.points if scored else Fraction(1) for test in tests]
    written = [_function(n, test, worth) for n, (test, worth) in enumerate(zip(tests, points, strict=True), 1)]
    imports = "number, tags, weight" if any(test.is_extra for test in tests) else "number, weight"
    made.graders = {"test_classroom.py": (_HEADER.replace("IMPORTS", imports) + "\n\n".join(written)).encode()}
    made.graders["key.py"] = b'"""The tests compare what programs print; they need no model answers."""\n'
    made.graders["conftest.py"] = (
        b'"""The files for the sandbox are not tests of viva."""\n\ncollect_ignore = ["files"]\n'
    )
    made.graders |= {f"{_FILES}/{p}": d for p, d in own.items()}
    made.starter = {p: d for p, d in files.items() if not p.startswith(".") and p not in own and _is_small(d)}
    made.notes = _notes(tests, scored=scored)
    return [made]


def _below_single_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a repository that was downloaded as an archive, in which all are in one folder."""
    tops = {p.partition("/")[0] for p in files}
    if len(tops) == 1 and not any(p.startswith(".github/") for p in files):
        return below(files, tops.pop())
    return files


def _students_module(tests: list[ClassroomTest], files: Mapping[str, bytes], own: Mapping[str, bytes]) -> str | None:
    """Return the file that students submit: the one that commands run or that the author's tests import."""
    there = {p for p in files if p.endswith(".py") and p not in own and not p.startswith(".")}
    named: list[str] = [p.removeprefix("./") for test in tests for p in _PROGRAM.findall(test.command)]
    tested = [f"{module}.py" for p, d in sorted(own.items()) if p.endswith(".py") for module in _imports(d)]
    for path in (*named, *tested):
        if path in there or (path not in files and path not in own and not _OF_THE_AUTHOR.search(path)):
            return path
        at = next((p for p in sorted(there) if PurePosixPath(p).name == path), None)
        if at is not None:
            return at
    return next(iter(there)) if len(there) == 1 else None


def _imports(data: bytes) -> list[str]:
    """Return the modules that a test imports and that are not installed."""
    found = imported(data.decode("utf-8-sig", "replace"))
    return [name.replace(".", "/") for name in found if not is_installed(name.partition(".")[0])]


def _without_installs(setup: str) -> tuple[str, list[str]]:
    """Return a setup command without the parts that install something, and these."""
    parts = [part.strip() for part in re.split(r"\n|&&|;", setup) if part.strip()]
    installs = [part for part in parts if _INSTALLS.match(part)]
    if not installs:
        return setup.strip(), []  # as it is: a quoted part may hold a semicolon
    return " && ".join(part for part in parts if part not in installs), installs


def _seconds(test: ClassroomTest) -> float:
    return min(test.minutes * _MINUTE_S, _LONGEST_S)


def _is_small(data: bytes) -> bool:
    return len(data) < 1 << 20


_HEADER: Final = '''"""Tests of GitHub Classroom; made by `viva import`; the file is yours to change."""

from pathlib import Path
from typing import Any

import pytest

from viva.grading import IMPORTS
from viva.grading.programs import check_command

FILES = Path(__file__).parent / "files"


@pytest.fixture(autouse=True)
def _own_files(submission: Any) -> None:
    """Put the author's files next to the submission, over any that the student has changed."""
    for path in sorted(FILES.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            submission.put(path.relative_to(FILES).as_posix(), path.read_bytes())


'''


def _function(n: int, test: ClassroomTest, points: Fraction) -> str:
    setup, _ = _without_installs(test.setup)
    given = {
        "setup": setup or None,
        "stdin": test.stdin or None,
        "expected": test.expected.strip() if test.expected is not None else None,
        "comparison": test.comparison if test.expected is not None else None,
        "timeout_s": _seconds(test),
    }
    arguments = "".join(f"        {name}={value!r},\n" for name, value in given.items() if value is not None)
    title = " ".join(test.name.split()) or f"Test {n}"
    extra = f'@tags("{EXTRA_CREDIT}")\n' if test.is_extra else ""
    words = re.sub(r"\W+", "_", test.name.lower()).strip("_") or "command"
    return (
        f'@number("{n}")\n@weight({plain_points(points)!r})\n{extra}'
        f"def test_{n}_{words[:60]}(submission: Any) -> None:\n"
        f"    {_docstring(title)}\n    check_command(\n        submission,\n        {test.command.strip()!r},\n"
        f"{arguments}    )\n"
    )


def _docstring(title: str) -> str:
    return f'"""{title}"""' if '"' not in title and "\\" not in title else repr(title)


def _notes(tests: list[ClassroomTest], *, scored: bool) -> list[str]:
    notes = []
    installs = [part for test in tests for part in _without_installs(test.setup)[1]]
    if installs:
        notes.append(
            "viva installs nothing while it grades, so install this where you grade: "
            f"{'; '.join(sorted(set(installs)))[:300]}."
        )
    if not scored:
        notes.append("No test has points, so each is worth 1.")
    if any(test.minutes * _MINUTE_S > _LONGEST_S for test in tests):
        notes.append(f"A command gets at most {_LONGEST_S / _MINUTE_S:g} minutes, also where the file allows more.")
    if any(test.expected is None for test in tests):
        notes.append(
            "Tests that only look at the exit status can be passed by a program that ends with status 0; "
            "compare functions with agree(…) where points matter."
        )
    return notes
