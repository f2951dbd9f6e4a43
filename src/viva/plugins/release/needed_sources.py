"""What public tests need of the graders' files: by name, through the modules next to them and the helpers."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from viva.config import Assignment
from viva.examiner.boxes.author_helpers import helpers_of
from viva.model.errors import CourseError
from viva.plugins.release.public_tests import public_source
from viva.plugins.release.shared_tables import doubtful_tables, with_named_entries

_HELPERS: Final = ("inside.py", "inside/__init__.py")
_WORD: Final = re.compile(r"\w+")


def public_files(assignment: Assignment, public: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the source files that students get, by their path in the folder of the graders.

    Args:
        assignment: the assignment that is released.
        public: by test file (`test_x.py`), the names of its test functions that are released.

    Raises:
        CourseError: a file is not valid Python, a public test needs a module that is not next to it, or a table holds
            inputs of other tests, and which of its entries are public is not certain.
    """
    released = _Needed(assignment, public).sources()
    others = {path: _tests_in(assignment.graders / path) - public.get(path, set()) for path in _test_files(assignment)}
    asking = {path: text for path, text in released.items() if not path.startswith("inside")}
    doubtful = doubtful_tables(asking, _Needed(assignment, others).sources())
    if doubtful:
        tables = ", ".join(f"{name} in {assignment.graders / path}" for path, name in doubtful)
        raise CourseError(
            f"{assignment.name}: students would read inputs of tests that are not released: {tables}. Give these tests "
            'a table of their own, or select the entries of public tests by constants, such as CASES["easy"].'
        )
    return _Needed(assignment, public, with_named_entries(released)).sources()


class _Needed:
    """The files that some tests need, and of each file the names that it has to define."""

    def __init__(
        self, assignment: Assignment, tests: Mapping[str, set[str]], reduced: Mapping[str, str] | None = None
    ) -> None:
        """Begin with the test files.

        Args:
            assignment: the assignment of the tests.
            tests: the names of test functions by test file.
            reduced: files to read instead of those in the folder of the graders.
        """
        self._folder, self._package = assignment.graders, f"graders.{assignment.name}"
        self._texts = {**helpers_of(assignment), **(reduced or {})}
        self._tests = tests
        self._wanted: dict[str, set[str]] = defaultdict(set)
        self._sources: dict[str, str] = {}

    def sources(self) -> dict[str, str]:
        """Return the reduced files by path."""
        for path in self._tests:
            self._add(path, set())
        named = {name for text in self._sources.values() for name in _names_read(text)}
        for path in self._texts.keys() & set(_HELPERS):
            self._add(path, named)
        return self._sources

    def _add(self, path: str, names: set[str]) -> None:
        """Add what defines some names in a file, and what that needs of other files."""
        if path in self._sources and names <= self._wanted[path]:
            return
        self._wanted[path] |= names
        text = self._reduced(path)
        if text is None:
            return
        self._sources[path] = text
        for other, needed in self._imported(path, text):
            for parent in PurePosixPath(other).parents:
                if f"{parent}/__init__.py" in self._texts:
                    self._add(f"{parent}/__init__.py", set())
            self._add(other, needed)

    def _reduced(self, path: str) -> str | None:
        tests, wanted = self._tests.get(path, set()), frozenset(self._wanted[path])
        try:
            reduced = public_source(self._text(path), tests.__contains__, wanted, effects=path not in self._tests)
        except (SyntaxError, ValueError) as error:
            raise CourseError(f"{self._folder / path} is not valid Python: {error}.") from error
        return "" if reduced is None and path.endswith("__init__.py") else reduced

    def _text(self, path: str) -> str:
        file = self._folder / path
        if path not in self._texts:
            try:
                self._texts[path] = file.read_text("utf-8")
            except OSError as error:
                what = "a public test imports it, and it cannot be read"
                raise CourseError(f"{file}: {what}: {error.strerror}.") from error
            except UnicodeDecodeError as error:
                raise CourseError(f"{file} is not valid Python: {error}.") from error
        return self._texts[path]

    def _imported(self, path: str, text: str) -> Iterator[tuple[str, set[str]]]:
        """Yield the files that a file imports names from, and the names."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (module := self._module(path, node)) is not None:
                names = {alias.name for alias in node.names}
                submodules = {name for name in names if self._file((*module, name)) is not None}
                yield from ((str(self._file((*module, name))), _names_read(text)) for name in submodules)
                if names - submodules:
                    yield self._file(module) or f"{'/'.join(module)}.py", names - submodules

    def _module(self, path: str, node: ast.ImportFrom) -> tuple[str, ...] | None:
        """Return the path of a module of this folder; None for a module of a library."""
        named = tuple((node.module or "").split(".")) if node.module else ()
        if node.level:
            return (*PurePosixPath(path).parts[: -node.level], *named)
        package = tuple(self._package.split("."))
        if named[: len(package)] == package:
            return named[len(package) :]
        return named if named[:1] == ("inside",) else None

    def _file(self, module: tuple[str, ...]) -> str | None:
        """Return the file of a module; None if there is none."""
        stem = "/".join(module)
        names = (f"{stem}.py", f"{stem}/__init__.py")
        return next((name for name in names if name in self._texts or (self._folder / name).is_file()), None)


def _names_read(text: str) -> set[str]:
    """Return the attributes and the words in texts of some code: what it may ask of the helpers."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(_WORD.findall(node.value))
    return found


def _test_files(assignment: Assignment) -> list[str]:
    return sorted(path.name for path in assignment.graders.glob("test_*.py"))


def _tests_in(file: Path) -> set[str]:
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}
