"""The tests of GitHub Classroom: `autograding.json`, and workflows whose steps use Classroom's graders."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import yaml

from viva.grading.programs import Comparison
from viva.model.errors import UsageError

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
