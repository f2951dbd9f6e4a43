"""The answer key of a solved notebook: the definitions that students write, and all that they need, nothing else.

Calls that show something, plots, downloads and training are left out: a statement is kept only if it binds or changes
a name that something kept uses.
"""

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from viva.plugins.authoring.solved.questions import parsed
from viva.plugins.authoring.source.solution_markers import solved
from viva.plugins.authoring.source.source_cells import Cell
from viva.submissions.code_names import Definition, StatementNames, statement_names

_FUTURE: Final = "from __future__"
_BUILTINS: Final = frozenset(dir(builtins))
HEAD: Final = '''"""The model answers, made from {source}; edit that file, not this one."""
'''
PLAYED: Final = '''

def played_{name}(arguments, calls):
    """Return what the methods of one {name} return, or raise, when they are called in order."""
    made = {name}(*arguments)
    answers = []
    for method, *given in calls:
        try:
            answers.append(getattr(made, method)(*given))
        except Exception as error:
            answers.append(("raised", type(error).__name__))
    return answers
'''
OUTPUTS: Final = '''

def outputs_{name}(arguments, inputs):
    """Return what one {name} computes with the weights of a test."""
    from viva.grading.networks import outputs_of

    return outputs_of({name}, arguments, inputs)
'''
TRAINED: Final = '''

def trained_{name}(*arguments):
    """Return what {name} returns, and the weights of the networks that it was given."""
    from viva.grading.networks import trained_of

    return trained_of({name}, *arguments)
'''


@dataclass(slots=True)
class Statement:
    """A top-level statement of a cell."""

    text: str
    node: ast.stmt
    names: StatementNames


def key_source(
    cells: Sequence[Cell],
    names: frozenset[str],
    *,
    source: str,
    classes: Sequence[str],
    networks: Collection[str] = (),
    trained: Sequence[str] = (),
) -> str:
    """Return the source code of the key.

    Args:
        cells: the cells of the solved notebook.
        names: the functions, classes and variables that students write.
        source: the name of the notebook.
        classes: those of `names` that are classes.
        networks: classes and functions of which is compared what the networks compute that they make.
        trained: functions of which is compared what they make of networks.
    """
    kept = needed_statements(cells, names)
    imports = [s.text for s in kept if isinstance(s.node, ast.Import | ast.ImportFrom)]
    future = [text for text in imports if text.startswith(_FUTURE)]
    others = [s for s in kept if not isinstance(s.node, ast.Import | ast.ImportFrom)]
    parts = [HEAD.format(source=source), *(f"{text}\n" for text in dict.fromkeys([*future, *imports]))]
    parts += [f"\n\n{s.text}\n" if isinstance(s.node, Definition) else f"\n{s.text}\n" for s in others]
    parts += [(OUTPUTS if name in networks else PLAYED).format(name=name) for name in classes]
    parts += [OUTPUTS.format(name=name) for name in sorted(frozenset(networks).difference(classes))]
    parts += [TRAINED.format(name=name) for name in trained]
    return "".join(parts).replace('"""\n', '"""\n\n', 1) if imports else "".join(parts)


def needed_statements(cells: Sequence[Cell], names: frozenset[str]) -> list[Statement]:
    """Return the statements that define names, and all that those need, in the order of the notebook."""
    statements = list(_statements(cells))
    uses = list(_uses(statements))
    needed, kept = set(names), [statement.text.startswith(_FUTURE) for statement in statements]
    grows = True
    while grows:
        grows = False
        for place, statement in enumerate(statements):
            if not kept[place] and (statement.names.binds | statement.names.changes) & needed:
                kept[place] = grows = True
                needed |= uses[place]
    if needed - {
        name for statement in statements for name in statement.names.binds
    }:  # `from math import *` may bind it
        kept = [keep or "*" in statement.names.binds for statement, keep in zip(statements, kept, strict=True)]
    return [statement for statement, keep in zip(statements, kept, strict=True) if keep]


def _own_builtins(statements: Iterable[Statement]) -> frozenset[str]:
    """Return the names of builtins that the notebook defines or imports: they mean its own everywhere."""
    own = (s.names.binds for s in statements if isinstance(s.node, Definition | ast.Import | ast.ImportFrom))
    return frozenset(name for names in own for name in names) & _BUILTINS


def _uses(statements: Sequence[Statement]) -> Iterator[frozenset[str]]:
    """Yield the names of the notebook that each statement uses.

    A variable may have the name of a builtin (`sum = 0`): statements before it mean the builtin.
    """
    own = set(_own_builtins(statements))
    for statement in statements:
        yield statement.names.uses - (_BUILTINS - own)
        own |= statement.names.binds & _BUILTINS


def _statements(cells: Sequence[Cell]) -> Iterator[Statement]:
    trees = ((cell, parsed(cell.source)) for cell in cells if cell.kind == "code")
    found = [(cell, node) for cell, tree in trees if tree is not None for node in tree.body]
    for (cell, node), names in zip(found, statement_names(node for _, node in found), strict=True):
        yield Statement(_text(node, cell.source), node, names)


def _text(node: ast.stmt, source: str) -> str:
    """Return the statement as the author wrote it, without markers."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = source.splitlines()[first - 1 : node.end_lineno]
    text = "\n".join(lines)
    alone = node.col_offset == 0 and parsed(text) is not None and len(ast.parse(text).body) == 1
    return solved(text).rstrip() if alone else ast.unparse(node)
