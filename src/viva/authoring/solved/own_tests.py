"""Tests that the author wrote into the solved notebook, in cells that begin with `%%viva_test`."""

import ast
import textwrap
from collections.abc import Sequence
from typing import Final

from viva import grading
from viva.authoring.solved.proposal import Proposal
from viva.authoring.solved.trial import OTHERS, OWN
from viva.authoring.source.cells_with_tests import asked_names, test_body
from viva.authoring.source.source_cells import Cell
from viva.model.errors import UsageError

_FIXTURES: Final = ("student", "key", "rng", "submission")


def take_own_tests(tests: Sequence[Cell], proposals: dict[str, Proposal]) -> None:
    """Put the author's tests in place of those that are proposed for the same names.

    A test of several names belongs to the first one; several tests of a name become one.

    Args:
        tests: the cells.
        proposals: by name; changed in place.

    Raises:
        UsageError: a test is not Python, or asks about nothing that students write.
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
            proposals[owner.name] = owner = Proposal(owner.name, summary=owner.summary, fixtures=[], value=owner.value)
            taken.add(owner.name)
        _add(owner, test_body(cell.source))
        for name in others:
            if name not in taken:
                proposals[name] = Proposal(name, value=proposals[name].value, tested_with=owner.name)


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
