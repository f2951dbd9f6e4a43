"""The files of a suite, `graders/<a>/tests/`, and its tests as a box without a submission reads them, in order."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, Final

from viva.config import Assignment
from viva.examiner.boxes.load import put_file
from viva.examiner.catalog import TestFunction, exact
from viva.model import untrusted
from viva.model.errors import BoxError, CourseError, StudentRaised
from viva.model.score import VISIBILITIES
from viva.sandbox.guest.transport.message_types import BeginSuite, DescribeSuite

FOLDER: Final = "tests"
"""The folder of the suite, below graders/<a>/ and in the box."""
RUNNER: Final = "run_tests.py"
"""The program that starts a suite, next to that folder."""
PATTERN: Final = "test*.py"
MOST_BYTES: Final = 32 << 20
_MODULE: Final = re.compile(r"[_a-zA-Z]\w*")
_LITTER: Final = ("__pycache__", ".")


def suite_files(assignment: Assignment) -> dict[str, bytes]:
    """Return every file of the suite by its path below `tests/`, sorted by name, without caches and hidden files.

    Raises:
        CourseError: there is no such folder, it is too large, or a link leads out of it.
    """
    folder = assignment.graders / FOLDER
    if not folder.is_dir():
        raise CourseError(f"{folder} does not exist: `suite: unittest` expects the suite's test*.py files there.")
    files: dict[str, bytes] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        below = path.relative_to(folder)
        if any(part.startswith(_LITTER) for part in below.parts):
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            raise CourseError(f"{path} is a link that points outside {folder}; the sandbox reads only files in it.")
        files[below.as_posix()] = path.read_bytes()
    if sum(map(len, files.values())) > MOST_BYTES:
        raise CourseError(f"{folder} holds more than {MOST_BYTES >> 20} MiB: list large files under `data:`.")
    return files


def modules_among(files: Iterable[str]) -> list[str]:
    """Return the modules that `unittest` discovers among these files: by name, a package before its modules.

    Packages are folders with an `__init__.py`.
    """
    return _modules({PurePosixPath(f).parts for f in files}, ())


def file_of(module: str, files: Iterable[str]) -> str:
    """Return the path of a module below the suite's folder."""
    path = module.replace(".", "/")
    return f"{path}.py" if f"{path}.py" in files else f"{path}/__init__.py"


def without(files: Mapping[str, bytes], modules: Iterable[str]) -> dict[str, bytes]:
    """Return the files except those of these modules."""
    left_out = {file_of(module, files) for module in modules}
    return {path: data for path, data in files.items() if path not in left_out}


def is_mentioned(module: str, files: Mapping[str, bytes]) -> bool:
    """Return whether another file of the suite names the module, and so may need it."""
    own, name = file_of(module, files), module.rpartition(".")[2]
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    return any(word.search(data) for path, data in files.items() if path != own and path.endswith(".py"))


def _modules(paths: set[tuple[str, ...]], folder: tuple[str, ...]) -> list[str]:
    depth = len(folder)
    found: list[str] = []
    for name in sorted({p[depth] for p in paths if len(p) > depth and p[:depth] == folder}):
        here = (*folder, name)
        if here in paths:
            stem = name.removesuffix(".py")
            if stem != name and fnmatchcase(name, PATTERN) and _MODULE.fullmatch(stem):
                found.append(".".join((*folder, stem)))
        elif (*here, "__init__.py") in paths and _MODULE.fullmatch(name):
            found += [".".join(here), *_modules(paths, here)]
    return found


Ask = Callable[..., Any]
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class SuiteTest:
    """One test of a suite."""

    function: TestFunction
    """The description that tests of other assignments have too, without pytest items."""
    module: str
    """The module in which it was found: `test_simple`."""
    holder: str
    """Its class; when that changes, fixtures of classes and modules run."""
    skipped: str | None
    """Why the author's own files skip it, whatever is submitted; None if they do not."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite that has been read."""

    files: dict[str, bytes]
    tests: tuple[SuiteTest, ...]
    """In the order in which they run: those of modules that run apart come last."""
    apart: frozenset[str]
    """Modules with only hidden tests: they run in a separate box, whose output no student reads."""
    students: frozenset[str]
    """Top-level names of modules that the student submits."""

    @property
    def open_files(self) -> dict[str, bytes]:
        """Return what is in the box while visible tests run."""
        return without(self.files, self.apart)

    def modules(self, *, apart: bool) -> list[str]:
        """Return the modules to import, in order, for visible tests or for those that run apart."""
        return list(dict.fromkeys(t.module for t in self.tests if apart or t.module not in self.apart))


def read_suite(assignment: Assignment, ask: Ask) -> Suite:
    """Read the suite in the box that `ask` reaches, which holds and does nothing else.

    Raises:
        CourseError: the suite cannot be imported, holds no test, or a decorator has an impossible value.
    """
    files, limits = suite_files(assignment), assignment.limits
    students = students_modules(assignment)
    try:
        for name, path in zip(assignment.data_names, assignment.data, strict=True):
            put_file(ask, limits.call_s, name, path.read_bytes())
        for name, data in files.items():
            put_file(ask, limits.call_s, f"{FOLDER}/{name}", data)
        ask(BeginSuite(FOLDER, RUNNER, sorted(students)), timeout_s=limits.call_s)
        describe = DescribeSuite(modules_among(files), sorted(students))
        rows = ask(describe, timeout_s=limits.load_s, soft_s=limits.load_s)
    except (StudentRaised, BoxError) as error:
        raise CourseError(f"{assignment.graders / FOLDER}: the suite cannot be read: {error}") from error
    tests = [_test(assignment, untrusted.table(row), files, students) for row in untrusted.rows(rows)]
    if not tests:
        raise CourseError(f"{assignment.graders / FOLDER}: no test was found; expected unittest.TestCase in test*.py.")
    apart = _apart(tests, files)
    ordered = sorted(tests, key=lambda test: test.module in apart)
    return Suite(files, tuple(ordered), apart, students)


def students_modules(assignment: Assignment) -> frozenset[str]:
    """Return what suites import from submissions: the assignment's module, and what its starter holds."""
    names = {assignment.submission.module} if assignment.submission.module else set()
    if assignment.starter.is_dir():
        names |= {p.name for p in assignment.starter.iterdir() if p.suffix == ".py" or p.is_dir()}
    return frozenset(name.removesuffix(".py") for name in names)


def _apart(tests: list[SuiteTest], files: dict[str, bytes]) -> frozenset[str]:
    visible = {test.module for test in tests if not test.function.hidden}
    hidden = {test.module for test in tests} - visible
    return frozenset(module for module in hidden if visible and not is_mentioned(module, files))


def _test(assignment: Assignment, row: dict[Any, Any], files: dict[str, bytes], students: frozenset[str]) -> SuiteTest:
    module = untrusted.text(row.get("module"), _LONGEST)
    if row.get("raised"):
        where = assignment.graders / FOLDER / file_of(module, files)
        raise CourseError(f"{where} {_why_not(StudentRaised.from_wire(untrusted.table(row['raised'])), students)}")
    test_id = untrusted.text(row.get("key"), _LONGEST)
    visibility = row.get("visibility") or "visible"
    if visibility not in VISIBILITIES:
        raise CourseError(f"{test_id}: visibility is {visibility!r}; allowed: {', '.join(VISIBILITIES)}.")
    skipped = row.get("skipped")
    hidden_words, number, column = row.get("hide_errors"), row.get("number"), row.get("leaderboard_column")
    order = "asc" if row.get("leaderboard_sort_order") == "asc" else "desc"
    function = TestFunction(
        test_id=test_id,
        name=" ".join(untrusted.text(row.get("name"), _LONGEST).split()),
        number="" if number is None else untrusted.text(number, _LONGEST),
        points=Fraction(0) if skipped is not None else _points(row.get("weight"), test_id),
        visibility=visibility,
        tags=tuple(untrusted.text(tag, _LONGEST) for tag in untrusted.rows(row.get("tags"))),
        hide_errors=None if hidden_words is None else untrusted.text(hidden_words),
        depends=(),
        gpu=None,
        training=False,
        timeout_s=None,
        leaderboard=None if column is None else (untrusted.text(column, _LONGEST), order),
    )
    holder = untrusted.text(row.get("holder"), _LONGEST)
    return SuiteTest(function, module, holder, None if skipped is None else untrusted.text(skipped))


def _points(weight: object, test_id: str) -> Fraction:
    """Return the test's points; one without a weight is worth nothing, as its original runner treats it.

    Raises:
        CourseError: they are below zero, which the original runner gives to those who pass.
    """
    points = Fraction(0) if weight is None else exact(weight, test_id)
    if points < 0:
        raise CourseError(f"{test_id}: weight is {points}; expected a number of points, zero or more.")
    return points


def _why_not(error: StudentRaised, students: frozenset[str]) -> str:
    if error.missing_module:
        own = ", ".join(f"{name}.py" for name in sorted(students)) or "none"
        return (
            f"imports `{error.missing_module}`, which is neither installed nor next to the suite. If it is a library, "
            f"install it. If it is your own file, put it into {FOLDER}/ or list it under `data:`. If it is a file "
            f"that students submit (now: {own}), name it under `submission: {{module: …}}` or put one like it into the "
            "starter."
        )
    line = next((f"line {f.line} " for f in reversed(error.frames) if f.file.startswith(f"{FOLDER}/")), "")
    return f"{line}cannot be imported without a submission: {error}"
