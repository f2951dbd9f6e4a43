"""The answer key of a solved notebook: the definitions that students write, and all that they need, nothing else.

Calls that show something, plots, downloads and training are left out: a statement is kept only if it binds or changes
a name that something kept uses.
"""

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from viva.authoring.solved.questions import Definition, parsed
from viva.authoring.source.solution_markers import solved
from viva.authoring.source.source_cells import Cell

_FUTURE: Final = "from __future__"
_BUILTIN: Final = frozenset(dir(builtins))
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


@dataclass(slots=True)
class Statement:
    """A top-level statement of a cell."""

    text: str
    node: ast.stmt
    binds: frozenset[str]
    changes: frozenset[str]
    """Names whose objects it changes: `table[x] = y`, `table.append(y)`."""
    uses: frozenset[str]


def key_source(cells: Sequence[Cell], names: frozenset[str], *, source: str, classes: Sequence[str]) -> str:
    """Return the source code of the key.

    Args:
        cells: the cells of the solved notebook.
        names: the functions, classes and variables that students write.
        source: the name of the notebook.
        classes: those of `names` that are classes.
    """
    kept = needed_statements(cells, names)
    imports = [s.text for s in kept if isinstance(s.node, ast.Import | ast.ImportFrom)]
    future = [text for text in imports if text.startswith(_FUTURE)]
    others = [s for s in kept if not isinstance(s.node, ast.Import | ast.ImportFrom)]
    parts = [HEAD.format(source=source), *(f"{text}\n" for text in dict.fromkeys([*future, *imports]))]
    parts += [f"\n\n{s.text}\n" if isinstance(s.node, Definition) else f"\n{s.text}\n" for s in others]
    parts += [PLAYED.format(name=name) for name in classes]
    return "".join(parts).replace('"""\n', '"""\n\n', 1) if imports else "".join(parts)


def needed_statements(cells: Sequence[Cell], names: frozenset[str]) -> list[Statement]:
    """Return the statements that define names, and all that those need, in the order of the notebook."""
    statements = list(_statements(cells))
    needed, kept = set(names), [statement.text.startswith(_FUTURE) for statement in statements]
    grows = True
    while grows:
        grows = False
        for place, statement in enumerate(statements):
            if not kept[place] and (statement.binds | statement.changes) & needed:
                kept[place] = grows = True
                needed |= statement.uses
    if needed - {name for statement in statements for name in statement.binds}:  # `from math import *` may bind it
        kept = [keep or "*" in statement.binds for statement, keep in zip(statements, kept, strict=True)]
    return [statement for statement, keep in zip(statements, kept, strict=True) if keep]


def _statements(cells: Sequence[Cell]) -> Iterator[Statement]:
    imported: set[str] = set()
    for cell in cells:
        tree = parsed(cell.source) if cell.kind == "code" else None
        for node in tree.body if tree is not None else ():
            binds = frozenset(_bound(node))
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported |= binds
            changes = frozenset(_changed(node)) - imported  # np.random.seed(0) does not change what np is
            yield Statement(_text(node, cell.source), node, binds, changes, used_names(ast.unparse(node)))


def _text(node: ast.stmt, source: str) -> str:
    """Return the statement as the author wrote it, without markers."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = source.splitlines()[first - 1 : node.end_lineno]
    text = "\n".join(lines)
    alone = node.col_offset == 0 and parsed(text) is not None and len(ast.parse(text).body) == 1
    return solved(text).rstrip() if alone else ast.unparse(node)


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the module's names that a statement binds, in whatever block it holds."""
    if isinstance(node, Definition):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        return
    for part in _outside_functions(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, Definition | ast.Import | ast.ImportFrom):
            yield from _bound(part)


def _changed(node: ast.stmt) -> Iterator[str]:
    for part in _outside_functions(node):
        target: ast.AST | None = None
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store | ast.Del):
            target = part
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            target = part.value.func if isinstance(part.value.func, ast.Attribute) else None
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, Definition | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside_functions(child)


def used_names(source: str) -> frozenset[str]:
    """Return the module's names that source code reads, also in functions that it defines."""
    top = symtable.symtable(source, "key", "exec")
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        pending += table.get_children()
        is_top = table is top
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (is_top or s.is_global())}
    return frozenset(found - _BUILTIN)
