"""Tests that the author wrote into the solved notebook, in cells that begin with `%%viva_test`."""

import ast
import symtable
import textwrap
from collections.abc import Sequence
from typing import Final

from viva import grading
from viva.authoring.solved.key_source import needed_statements, used_of_notebook
from viva.authoring.solved.proposal import Proposal
from viva.authoring.solved.trial import OTHERS, OWN
from viva.authoring.source.cells_with_tests import asked_names, test_body
from viva.authoring.source.source_cells import Cell
from viva.model.errors import UsageError
from viva.submissions.statement_names import uncalled_names

_FIXTURES: Final = ("student", "key", "rng", "submission")
_GIVEN: Final = frozenset({*_FIXTURES, *grading.__all__, *OWN, *OTHERS})


def take_own_tests(tests: Sequence[Cell], cells: Sequence[Cell], proposals: dict[str, Proposal]) -> None:
    """Put the author's tests in place of those that are proposed for the same names.

    A test of several names belongs to the first one; several tests of a name become one.

    Args:
        tests: the cells with tests.
        cells: the other cells of the notebook.
        proposals: by name; changed in place.

    Raises:
        UsageError: a test is not Python, asks about nothing that students write, or uses a name that it cannot have.
    """
    taken: set[str] = set()
    for cell in tests:
        try:
            asked = [name for name in asked_names(cell.source) if name in proposals]
        except SyntaxError as error:
            raise UsageError(f"Cell {cell.number}: the test is not valid Python: {error.msg}.") from None
        if not asked:
            raise UsageError(
                f"Cell {cell.number}: the test asks about nothing that students write. Name it as `student.f`."
            )
        first, *others = asked
        owner = proposals[proposals[first].tested_with or first]
        if owner.name not in taken:
            proposals[owner.name] = owner = Proposal(owner.name, summary=owner.summary, fixtures=[], is_own=True)
            taken.add(owner.name)
        try:
            owner.definitions += definitions_for(test_body(cell.source), cells, frozenset(proposals))
        except UsageError as error:
            raise UsageError(f"Cell {cell.number}: {error}") from None
        _add(owner, test_body(cell.source))
        for name in others:
            if name not in taken:
                proposals[name] = Proposal(name, tested_with=owner.name)


def definitions_for(body: str, cells: Sequence[Cell], written: frozenset[str]) -> list[str]:
    """Return the statements of the notebook that define what a test uses: imports, helpers and constants.

    Args:
        body: the Python of the test.
        cells: the notebook without its tests.
        written: the names that students write, whose code must not reach them with a public test.

    Raises:
        UsageError: neither the notebook nor viva defines a name, or it needs what students write.
    """
    local = {s.get_name() for s in symtable.symtable(body, "test", "exec").get_symbols() if s.is_local()}
    names = used_of_notebook(body, cells) - local
    for name in sorted(names):
        needed = needed_statements(cells, frozenset({name}))
        binds = {bound for statement in needed for bound in statement.names.binds}
        if name in written:
            raise UsageError(f"students write `{name}`: ask for `student.{name}`, or for `key.{name}` of the solution.")
        if binds & _GIVEN and (name not in _GIVEN or name in uncalled_names(body)):
            raise UsageError(
                f"the test uses `{min(binds & _GIVEN)}` of the notebook, and viva has that name too. "
                "Rename it in the notebook."
            )
        if name not in _GIVEN and not binds & {name, "*"}:
            raise UsageError(f"the test uses `{name}`, which neither the notebook nor viva defines.")
        if name not in _GIVEN and binds & written:
            raise UsageError(
                f"the test uses `{name}`, which needs `{min(binds & written)}`, which students write. "
                "Write what the test needs into the test."
            )
    taken = frozenset(names - _GIVEN)
    return [statement.text for statement in needed_statements(cells, taken)] if taken else []


def _add(proposal: Proposal, body: str) -> None:
    tree = ast.parse(body)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    proposal.imports |= used & set(grading.__all__)
    proposal.strategies |= used & (OWN | OTHERS)
    proposal.fixtures = [name for name in _FIXTURES if name in used or name in proposal.fixtures]
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    if any(node.lineno != node.end_lineno for node in texts):  # a text of several lines is not to be indented
        body = ast.unparse(tree)
    proposal.body += textwrap.indent(body.strip("\n"), "    ").splitlines()
