"""Find, for mutants that the tests do not notice, arguments on which they differ from the solution."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viva.config import Assignment
from viva.config.assignment import TESTS
from viva.formats.atomic_write import write_atomically
from viva.model.child_process import NoAnswer, ask_child
from viva.plugins.authoring.strength.tests_edit import definitions_in, drawn_by, end_of_test, importing, with_module
from viva.plugins.verify.mutants.mutant import Mutant
from viva.plugins.verify.mutants.mutant_trial import Verdict

LONGEST_S: Final = 120.0
_FEW: Final = 20
"""Survivors that are looked into."""


@dataclass(frozen=True, slots=True)
class Separated:
    """A call on which a mutant and the solution differ."""

    name: str
    shown: str
    """The call as people read it."""
    arguments: str
    """Its arguments as source code; empty if they cannot be written on a line."""

    @property
    def line(self) -> str:
        """Return the line of a test that asks it."""
        return f"    agree(student.{self.name}({self.arguments}), key.{self.name}({self.arguments}))"


def separating_inputs(assignment: Assignment, verdicts: Sequence[Verdict]) -> dict[str, Separated]:
    """Return such a call for each survivor for which one is found, by the name of the mutant.

    Args:
        assignment: one that is made from a solved notebook.
        verdicts: what became of its mutants.
    """
    strategies = drawn_by(assignment.folder / TESTS)
    survivors = [verdict.mutant for verdict in verdicts if verdict.kind == "survived"][:_FEW]
    asked = [
        {"id": mutant.name, "names": [name for name in mutant.reached_by if name in strategies], "code": code}
        for mutant in survivors
        if (code := _definition(mutant))
    ]
    if not any(each["names"] for each in asked):
        return {}
    key = (assignment.graders / "key.py").read_text("utf-8")
    definitions = definitions_in(assignment.folder / TESTS)
    request = {"key": key, "strategies": strategies, "definitions": definitions, "survivors": asked}
    try:
        found = ask_child(
            "viva.plugins.authoring.strength.child", request, timeout_s=LONGEST_S, cwd=assignment.data_folder
        )
    except (TimeoutError, NoAnswer):
        return {}  # the mutants are shown without such calls
    return {name: Separated(**each) for name, each in found.items()}


def add_lines(tests: Path, separated: Mapping[str, Separated]) -> int:
    """Add a line for each call to the test of its function; return how many were added."""
    text = tests.read_text("utf-8")
    added = 0
    for each in dict.fromkeys(separated.values()):
        end = end_of_test(text, each.name)
        if not each.arguments or end is None or each.line in text:
            continue
        lines = text.splitlines(keepends=True)
        text = "".join([*lines[:end], each.line + "\n", *lines[end:]])
        added += 1
    if added:
        for module, alias in (("numpy", "np"), ("torch", "torch")):
            text = with_module(module, alias, text)
        write_atomically(tests, importing("agree", text).encode())
    return added


def _definition(mutant: Mutant) -> str:
    """Return the source code of the function or class that the mutant changes."""
    piece, name = mutant.unit.piece, mutant.unit.name.partition(".")[0]
    try:
        tree = ast.parse(mutant.change.applied(piece.text))
    except SyntaxError:  # a cell with lines for IPython
        return ""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next((ast.unparse(n) for n in tree.body if isinstance(n, definitions) and n.name == name), "")
