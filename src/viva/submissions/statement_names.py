"""Tell which names of its module a statement binds, changes and uses; the code is parsed and never runs."""

import ast
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from viva.submissions.notebook_cells import NOT_PYTHON
from viva.submissions.syntax_trees import Definition, syntax_trees


@dataclass(frozen=True, slots=True)
class StatementNames:
    """The names of its module that a top-level statement binds, changes and uses."""

    binds: frozenset[str]
    """Names that it binds, in whatever block; "*" if it imports all names of a module."""
    changes: frozenset[str]
    """Names whose objects it changes: `table[x] = y`, `table.append(y)`; no imported ones."""
    uses: frozenset[str]
    """Names that it reads, also in functions that it defines; builtins are among them."""


def statement_names(statements: Iterable[ast.stmt]) -> Iterator[StatementNames]:
    """Yield the names of each statement of a module or notebook, in order."""
    imported: set[str] = set()
    for node in statements:
        binds, uses = _bound_and_used(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= binds
        changes = frozenset(_changed(node)) - imported  # np.random.seed(0) does not change what np is
        yield StatementNames(binds, changes, uses)


def bound_names(source: str) -> frozenset[str]:
    """Return the names that a cell binds; none if it is not Python."""
    return frozenset(name for found in statement_names(_statements(source)) for name in found.binds)


def free_names(source: str) -> frozenset[str]:
    """Return the names that a cell uses before it binds them; none if it is not Python."""
    free: set[str] = set()
    bound: set[str] = set()
    for found in statement_names(_statements(source)):
        free |= found.uses - bound
        bound |= found.binds
    return frozenset(free)


def _statements(source: str) -> list[ast.stmt]:
    [tree] = syntax_trees([NOT_PYTHON.sub("", source)])
    return tree.body if isinstance(tree, ast.Module) else []


def attributes_read(source: str, name: str) -> frozenset[str]:
    """Return the attributes that source code reads from a variable, such as `softmax` of `student.softmax(x)`."""
    return frozenset(
        node.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    )


def used_names(source: str) -> frozenset[str]:
    """Return the module's names that source code reads, also in functions that it defines."""
    return _used(symtable.symtable(source, "code", "exec"))


def _bound_and_used(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    table = symtable.symtable(ast.unparse(node), "code", "exec")
    binds = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    parts = list(_outside_functions(node))
    named = [(part.id, type(part.ctx)) for part in parts if isinstance(part, ast.Name)]
    binds -= {name for name, context in named if context is ast.Del} - {
        n for n, context in named if context is ast.Store
    }
    if any(alias.name == "*" for part in parts if isinstance(part, ast.ImportFrom) for alias in part.names):
        binds.add("*")
    added_to = (part.target for part in parts if isinstance(part, ast.AugAssign))
    read = {target.id for target in added_to if isinstance(target, ast.Name)}  # to Python, `x += 1` only binds x
    return frozenset(binds), _used(table) | read


def _used(top: symtable.SymbolTable) -> frozenset[str]:
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        pending += table.get_children()
        is_top = table is top
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (is_top or s.is_global())}
    return frozenset(found)


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
