"""The names that students are asked for: what the starter defines and the handout shows."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from viva.config import Assignment
from viva.config.assignment import TESTS
from viva.model.score import test_of
from viva.plugins.verify.mutants.submission_code import Piece, pieces_of
from viva.submissions import open_submission
from viva.submissions.code_names import attributes_read

_SHOWN: Final = re.compile(r"`(?:[^`\n]*?[^`\n\w.])??([A-Za-z_]\w*)\(|^\s*(?:def|class) (\w+)", re.MULTILINE)
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ANSWERS: Final = "answers"
"""The name of answers that are not code; they are not broken."""


def roots_of(assignment: Assignment) -> list[str]:
    """Return names of functions and classes, sorted."""
    names: set[str] = set()
    if assignment.starter.is_dir():
        for piece in pieces_of(open_submission(assignment.starter, "starter")):
            names |= set(_defined(piece))
    offered = _of_key(assignment)
    handout = assignment.folder / "handout.md"
    if handout.is_file():  # it writes formulas such as p(x | a) in the same way
        shown = {called or defined for called, defined in _SHOWN.findall(handout.read_text("utf-8"))}
        names |= shown & offered
    tests = assignment.folder / TESTS
    if tests.is_file():  # of a solved notebook, the starter also defines what is given
        names &= offered & attributes_read(tests.read_text("utf-8"), "student")
    return sorted((names or offered) - {ANSWERS})


def _of_key(assignment: Assignment) -> set[str]:
    """Return everything that the key offers."""
    path = assignment.graders / "key.py"
    names: set[str] = set()
    for statement in ast.parse(path.read_bytes()).body if path.is_file() else ():
        if isinstance(statement, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in statement.names}
        elif isinstance(statement, _DEFINITIONS):
            names.add(statement.name)
    return names


def asked(questions: Iterable[tuple[object, Iterable[Sequence[object]]]]) -> dict[str, frozenset[str]]:
    """Return, by test (without its case), the student's names that it asked about, from a recorded run."""
    found: dict[str, set[str]] = {}
    for case_id, asked_in_test in questions:
        subjects = {str(subject).partition(".")[0].partition("(")[0] for _, subject, *_ in asked_in_test}
        found.setdefault(test_of(str(case_id)), set()).update(subjects - {"", ANSWERS})
    return {test: frozenset(names) for test, names in found.items()}


def main_files(assignment: Assignment, pieces: Iterable[Piece]) -> list[str]:
    """Return the files in which a name is looked for first."""
    module = assignment.submission.module
    paths = dict.fromkeys(p.path for p in pieces)
    return [p for p in paths if p.rpartition("/")[2] == module or p.endswith(".ipynb")]


def _defined(piece: Piece) -> Iterator[str]:
    for statement in piece.tree.body if piece.tree is not None else ():
        if isinstance(statement, _DEFINITIONS):
            yield statement.name
