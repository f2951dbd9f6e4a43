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
MAX_BYTES: Final = 32 << 20
_MAX_TEXT: Final = 300
_MODULE: Final = re.compile(r"[_a-zA-Z]\w*")
_LITTER: Final = ("__pycache__", ".")
Ask = Callable[..., Any]


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
        hidden = {find_file(module, self.files) for module in self.apart}
        return {path: data for path, data in self.files.items() if path not in hidden}

    def modules(self, *, apart: bool) -> list[str]:
        """Return the modules to import, in order, for visible tests or for those that run apart."""
        return list(dict.fromkeys(test.module for test in self.tests if apart or test.module not in self.apart))


def read_suite(assignment: Assignment, ask: Ask) -> Suite:
    """Read the suite in the box that `ask` reaches, which holds and does nothing else.

    Raises:
        CourseError: the suite cannot be imported, holds no test, or a decorator has an impossible value.
    """
    files, limits, folder = read_suite_files(assignment), assignment.limits, assignment.graders / FOLDER
    students = list_student_modules(assignment)
    try:
        for name, path in zip(assignment.data_names, assignment.data, strict=True):
            put_file(ask, limits.call_s, name, path.read_bytes())
        for name, data in files.items():
            put_file(ask, limits.call_s, f"{FOLDER}/{name}", data)
        ask(BeginSuite(FOLDER, RUNNER, sorted(students)), timeout_s=limits.call_s)
        describe = DescribeSuite(list_modules(files), sorted(students))
        rows = ask(describe, timeout_s=limits.load_s, soft_s=limits.load_s)
    except (StudentRaised, BoxError) as error:
        raise CourseError(f"{folder}: the suite cannot be read: {error}") from error
    tests = [_read_test(assignment, untrusted.table(row), files, students) for row in untrusted.rows(rows)]
    if not tests:
        raise CourseError(f"{folder}: no test was found; expected unittest.TestCase in test*.py.")
    visible = {test.module for test in tests if not test.function.hidden}
    hidden = {test.module for test in tests} - visible
    apart = frozenset(module for module in hidden if visible and not _is_mentioned(module, files))
    return Suite(files, tuple(sorted(tests, key=lambda test: test.module in apart)), apart, students)


def read_suite_files(assignment: Assignment) -> dict[str, bytes]:
    """Return every file of the suite by its path below `tests/`, sorted by name, without caches and hidden files.

    Raises:
        CourseError: the folder does not exist, is too large, or holds a link that leads out of it.
    """
    folder = assignment.graders / FOLDER
    if not folder.is_dir():
        raise CourseError(f"{folder} does not exist: `suite: unittest` expects the suite's test*.py files there.")
    files: dict[str, bytes] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        relative = path.relative_to(folder)
        if any(part.startswith(_LITTER) for part in relative.parts):
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            raise CourseError(f"{path} is a link that points outside {folder}; the sandbox reads only files in it.")
        files[relative.as_posix()] = path.read_bytes()
    if sum(map(len, files.values())) > MAX_BYTES:
        raise CourseError(f"{folder} holds more than {MAX_BYTES >> 20} MiB: list large files under `data:`.")
    return files


def list_modules(files: Iterable[str]) -> list[str]:
    """Return the modules that `unittest` discovers among these files: by name, a package before its modules.

    Packages are folders with an `__init__.py`.
    """
    paths = set(map(PurePosixPath, files))
    found: list[tuple[str, ...]] = []
    for path in paths:
        folders = [folder for folder in path.parents if folder.parts]
        are_packages = all(f / "__init__.py" in paths and _MODULE.fullmatch(f.name) for f in folders)
        is_test = fnmatchcase(path.name, PATTERN) and _MODULE.fullmatch(path.stem)
        if are_packages and path.name == "__init__.py" and folders:
            found.append(path.parent.parts)
        elif are_packages and is_test:
            found.append(path.with_suffix("").parts)
    return [".".join(parts) for parts in sorted(found)]


def find_file(module: str, files: Iterable[str]) -> str:
    """Return the path of a module below the suite's folder."""
    path = module.replace(".", "/")
    return f"{path}.py" if f"{path}.py" in files else f"{path}/__init__.py"


def list_student_modules(assignment: Assignment) -> frozenset[str]:
    """Return what suites import from submissions: the assignment's module, and what its starter holds."""
    names = {assignment.submission.module} if assignment.submission.module else set()
    if assignment.starter.is_dir():
        names |= {path.name for path in assignment.starter.iterdir() if path.suffix == ".py" or path.is_dir()}
    return frozenset(name.removesuffix(".py") for name in names)


def _is_mentioned(module: str, files: Mapping[str, bytes]) -> bool:
    """Return whether another file of the suite names the module, and so may need it."""
    own, name = find_file(module, files), module.rpartition(".")[2]
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    return any(word.search(data) for path, data in files.items() if path != own and path.endswith(".py"))


def _read_test(
    assignment: Assignment, row: dict[Any, Any], files: dict[str, bytes], students: frozenset[str]
) -> SuiteTest:
    def read(name: str) -> str:
        return "" if row.get(name) is None else untrusted.text(row[name], _MAX_TEXT)

    module, test_id = read("module"), read("key")
    if row.get("raised"):
        where = assignment.graders / FOLDER / find_file(module, files)
        raise CourseError(f"{where} {_why_not(StudentRaised.from_wire(untrusted.table(row['raised'])), students)}")
    visibility = row.get("visibility") or "visible"
    if visibility not in VISIBILITIES:
        raise CourseError(f"{test_id}: visibility is {visibility!r}; allowed: {', '.join(VISIBILITIES)}.")
    skipped, words = row.get("skipped"), row.get("hide_errors")
    points = Fraction(0)  # without a weight, a test is worth nothing, as its original runner treats it
    if skipped is None and row.get("weight") is not None:
        points = exact(row["weight"], test_id)
    if points < 0:
        raise CourseError(f"{test_id}: weight is {points}; expected a number of points, zero or more.")
    leaderboard = None
    if row.get("leaderboard_column") is not None:
        order = "asc" if row.get("leaderboard_sort_order") == "asc" else "desc"
        leaderboard = (read("leaderboard_column"), order)
    function = TestFunction(
        test_id=test_id,
        name=" ".join(read("name").split()),
        number=read("number"),
        points=points,
        visibility=visibility,
        tags=tuple(untrusted.text(tag, _MAX_TEXT) for tag in untrusted.rows(row.get("tags"))),
        hide_errors=None if words is None else untrusted.text(words),
        depends=(),
        gpu=None,
        training=False,
        timeout_s=None,
        leaderboard=leaderboard,
    )
    return SuiteTest(function, module, read("holder"), None if skipped is None else untrusted.text(skipped))


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
