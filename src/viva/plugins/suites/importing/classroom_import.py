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
from viva.plugins.suites.importing.bundle import read_bundle, select_below
from viva.plugins.suites.importing.new_course import ImportedAssignment, format_points, make_folder_name
from viva.submissions.code_imports import imported, is_installed

AUTOGRADING: Final = ".github/classroom/autograding.json"
_WORKFLOWS: Final = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_GRADER: Final = re.compile(r"[\w.-]+/autograding-(io|command|python)-grader(?:@.*)?")
_COMPARISONS: Final[Mapping[str, Comparison]] = {
    "included": "contains", "contains": "contains", "exact": "exact", "regex": "regex",
}  # fmt: skip
_INSTALLS: Final = re.compile(r"(?:sudo\s+(?:-\w+\s+)*)?(?:python3?\s+-m\s+)?(?:pip3?|apt(?:-get)?|npm|conda)\s")
_OF_THE_AUTHOR: Final = re.compile(
    r"(?:^|/)tests?/|(?:^|[/_-])(?:test(?:s|er|ing)?|conftest|(?:auto)?grad(?:e|er|ing))(?:[_-][^/]*)?\d*\.\w+$", re.I
)
"""Files named after tests or grading, such as test_sum.py, sum_test.py and grade_task1.py; not contest.py."""
_PROGRAM: Final = re.compile(r"(?<![\w./-])([\w./-]+\.py)\b")
_MAX_COMMAND_S: Final = 600.0
"""The time that one command gets at most: Classroom's ten minutes by default."""
_MAX_STARTER_FILE: Final = 1 << 20
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

    @property
    def limit_s(self) -> float:
        """Return the seconds that the command gets."""
        return min(self.minutes * 60, _MAX_COMMAND_S)


def import_classroom(path: Path) -> list[ImportedAssignment]:
    """Return the assignment of a template repository.

    Raises:
        UsageError: it holds no tests of GitHub Classroom, or none that run a Python program.
    """
    files = read_bundle(path)
    tops = {file.partition("/")[0] for file in files}
    if len(tops) == 1 and not any(file.startswith(".github/") for file in files):
        files = select_below(files, tops.pop())  # a repository that was downloaded as an archive lies in one folder
    tests = list(read_classroom_tests(files))
    if not tests:
        raise UsageError(
            f"{path} holds no tests of GitHub Classroom: expected {AUTOGRADING}, or a workflow in .github/workflows "
            "with steps that use autograding-io-grader, autograding-command-grader or autograding-python-grader."
        )
    visible = {file: data for file, data in files.items() if not file.startswith(".")}
    own = {file: data for file, data in visible.items() if _OF_THE_AUTHOR.search(file)}
    starter = {file: data for file, data in visible.items() if file not in own}
    module = _find_module(tests, files, own)
    if module is None:
        raise UsageError(
            f"{path}: viva cannot tell which Python file students submit: no command names one, and no test "
            "imports one."
        )
    name = make_folder_name(path.resolve().name.removesuffix(".zip"))
    longest_s = max(test.limit_s * (2 if test.setup else 1) for test in tests)
    settings: dict[str, Any] = {
        "title": name,
        "submission": {"notebook": None, "module": module},
        "load": "definitions",
        "limits": {"test_s": int(longest_s) + 30, "submission_s": 3600},
    }
    assignment = ImportedAssignment(name, settings)
    has_points = any(test.points for test in tests)
    written = [
        _write_test(number, test, test.points if has_points else Fraction(1)) for number, test in enumerate(tests, 1)
    ]
    imports = "number, tags, weight" if any(test.is_extra for test in tests) else "number, weight"
    assignment.graders = {
        "test_classroom.py": (_HEADER.replace("IMPORTS", imports) + "\n\n".join(written)).encode(),
        "key.py": b'"""The tests compare what programs print; they need no model answers."""\n',
        "conftest.py": b'"""The files for the sandbox are not tests of viva."""\n\ncollect_ignore = ["files"]\n',
        **{f"files/{file}": data for file, data in own.items()},
    }
    assignment.starter = {file: data for file, data in starter.items() if len(data) < _MAX_STARTER_FILE}
    assignment.notes = list(_list_notes(tests, has_points=has_points))
    return [assignment]


def _find_module(tests: list[ClassroomTest], files: Mapping[str, bytes], own: Mapping[str, bytes]) -> str | None:
    """Return the file that students submit: the one that commands run or that the author's tests import."""
    there = sorted(file for file in files if file.endswith(".py") and file not in own and not file.startswith("."))
    named: list[str] = [file.removeprefix("./") for test in tests for file in _PROGRAM.findall(test.command)]
    for file, data in sorted(own.items()):
        modules = imported(data.decode("utf-8-sig", "replace")) if file.endswith(".py") else []
        named += [f"{m.replace('.', '/')}.py" for m in modules if not is_installed(m.partition(".")[0])]
    for path in named:
        if path in there or (path not in files and not _OF_THE_AUTHOR.search(path)):
            return path
        for file in there:
            if PurePosixPath(file).name == path:
                return file
    return there[0] if len(there) == 1 else None


def _split_setup(setup: str) -> tuple[str, list[str]]:
    """Return a setup command without the parts that install something, and these."""
    parts = [part.strip() for part in re.split(r"\n|&&|;", setup) if part.strip()]
    installs = [part for part in parts if _INSTALLS.match(part)]
    if not installs:
        return setup.strip(), []  # as it is: a quoted part may hold a semicolon
    return " && ".join(part for part in parts if part not in installs), installs


def _write_test(n: int, test: ClassroomTest, points: Fraction) -> str:
    arguments: dict[str, object] = {"setup": _split_setup(test.setup)[0] or None, "stdin": test.stdin or None}
    if test.expected is not None:
        arguments |= {"expected": test.expected.strip(), "comparison": test.comparison}
    arguments["timeout_s"] = test.limit_s
    lines = "".join(f"        {name}={value!r},\n" for name, value in arguments.items() if value is not None)
    title = " ".join(test.name.split()) or f"Test {n}"
    docstring = repr(title) if '"' in title or "\\" in title else f'"""{title}"""'
    extra = f'@tags("{EXTRA_CREDIT}")\n' if test.is_extra else ""
    words = re.sub(r"\W+", "_", test.name.lower()).strip("_") or "command"
    return (
        f'@number("{n}")\n@weight({format_points(points)!r})\n{extra}'
        f"def test_{n}_{words[:60]}(submission: Any) -> None:\n"
        f"    {docstring}\n    check_command(\n        submission,\n        {test.command.strip()!r},\n{lines}    )\n"
    )


def _list_notes(tests: list[ClassroomTest], *, has_points: bool) -> Iterator[str]:
    installs = sorted({part for test in tests for part in _split_setup(test.setup)[1]})
    if installs:
        listed = "; ".join(installs)[:300]
        yield f"viva installs nothing while it grades, so install this where you grade: {listed}."
    if not has_points:
        yield "No test has points, so each is worth 1."
    if any(test.minutes * 60 > _MAX_COMMAND_S for test in tests):
        yield f"A command gets at most {_MAX_COMMAND_S / 60:g} minutes, also where the file allows more."
    if any(test.expected is None for test in tests):
        yield (
            "Tests that only look at the exit status can be passed by a program that ends with status 0; "
            "compare functions with agree(…) where points matter."
        )


def read_classroom_tests(files: Mapping[str, bytes]) -> Iterator[ClassroomTest]:
    """Yield the tests of a repository: of its workflows, or of `autograding.json` if no workflow has any.

    Args:
        files: its files by path.

    Raises:
        UsageError: a file cannot be read, or a test lacks its command.
    """
    workflows = [path for path in sorted(files) if _WORKFLOWS.fullmatch(path)]
    found = [test for path in workflows for test in _read_workflow(path, files[path])]
    yield from found
    if not found and AUTOGRADING in files:
        yield from _read_autograding(files[AUTOGRADING])


def _read_autograding(data: bytes) -> Iterator[ClassroomTest]:
    try:
        tests = json.loads(data.decode("utf-8-sig"))["tests"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f'{AUTOGRADING} is not a list of tests ({error}); expected {{"tests": [{{…}}]}}.') from None
    for number, test in enumerate(tests if isinstance(tests, list) else [], 1):
        where = f"{AUTOGRADING}, test {number}"
        if not isinstance(test, dict):
            raise UsageError(f'{where}: expected a test with "name" and "run".')
        fields = _Fields(test, where)
        expected, stdin = fields.text("output"), fields.text("input")
        yield ClassroomTest(
            fields.text("name") or f"Test {number}",
            fields.needed("run"),
            fields.text("setup"),
            stdin,
            expected if expected.strip() or stdin.strip() else None,
            fields.comparison("comparison", "included"),
            fields.number("timeout") or 1,
            fields.points("points"),
            test.get("extra") is True,
        )


def _read_workflow(path: str, data: bytes) -> Iterator[ClassroomTest]:
    try:
        workflow = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not valid YAML: {str(error).splitlines()[0]}.") from None
    for job in _table(_table(workflow).get("jobs")).values():
        steps = _table(job).get("steps")
        for number, step in enumerate(steps if isinstance(steps, list) else (), 1):
            used = _GRADER.fullmatch(str(_table(step).get("uses", "")))
            if used is None:
                continue
            fields = _Fields(_table(step.get("with")), f"{path}, step {number}")
            yield ClassroomTest(
                fields.text("test-name") or str(step.get("name") or f"Step {number}"),
                "python -m pytest" if used[1] == "python" else fields.needed("command"),
                fields.text("setup-command"),
                fields.text("input").strip() if used[1] == "io" else "",
                fields.text("expected-output") if used[1] == "io" else None,
                fields.comparison("comparison-method", "contains"),
                fields.number("timeout") or 10,
                fields.points("max-score"),
            )


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class _Fields:
    """The fields of one test, of which each is checked when it is read."""

    def __init__(self, fields: Mapping[str, object], where: str) -> None:
        self._fields, self._where = fields, where

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if value is not None and not isinstance(value, str | int | float):
            raise UsageError(f"{self._where}: {name} is a {type(value).__name__}; expected a text.")
        return "" if value is None else str(value)

    def needed(self, name: str) -> str:
        text = self.text(name)
        if not text.strip():
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
