"""Tests without the code of common mistakes, which is half a solution; the record holds what the mistakes lead to."""

import ast
from typing import Final

_HINTS: Final = "hints"


def without_hints(tree: ast.Module) -> ast.Module:
    """Return the tree without `hints=…`, and without local variables that only hints used."""
    stripper = _Stripper(_functions_with_hints(tree))
    tree = stripper.visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            while dead := stripper.names & _local_names(node) - _read(node):
                _Remover(dead).visit(node)
    return ast.fix_missing_locations(tree)


class _Stripper(ast.NodeTransformer):
    """Removes hints from comparisons, and from calls to the author's functions that pass them on."""

    def __init__(self, positions: dict[str, int]) -> None:
        self._positions = positions
        self.names: set[str] = {_HINTS}
        """Names that occurred in hints."""

    def visit_Call(self, node: ast.Call) -> ast.Call:  # the library's name
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in self._positions or not called.startswith("agree"):
            position = self._positions.get(called)
            for index, arg in enumerate(node.args):
                if index == position or _is_hints(arg):
                    self._note_names(arg)
                    node.args[index] = ast.Dict(keys=[], values=[])
        for keyword in [k for k in node.keywords if k.arg == _HINTS]:
            self._note_names(keyword.value)
            if called.startswith("agree") and called not in self._positions:
                node.keywords.remove(keyword)
            else:
                keyword.value = ast.Dict(keys=[], values=[])
        return node

    def _note_names(self, value: ast.expr) -> None:
        self.names |= {inner.id for inner in ast.walk(value) if isinstance(inner, ast.Name)}


class _Remover(ast.NodeTransformer):
    """Removes the statements that assign to some names."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Drop such a statement; a block that becomes empty gets `pass`."""
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            if all(_base(target) in self._names for target in _targets(node)):
                return None
            if (pairs := paired_targets(node)) is not None:
                left = [(target, value) for target, value in pairs if _base(target) not in self._names]
                return _assigned(left) if left else None
        self.generic_visit(node)
        if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.FunctionDef) and not node.body:
            node.body = [ast.Pass()]
        return node


def _functions_with_hints(tree: ast.Module) -> dict[str, int]:
    """Return the functions of the file that take hints, and at which position."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {node.name: position for node in functions if (position := _hints_position(node)) is not None}


def _hints_position(node: ast.FunctionDef) -> int | None:
    """Return the position of `hints` among a function's positional arguments; None if it takes none."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return names.index(_HINTS) if _HINTS in names else None


def _is_hints(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == _HINTS


def _local_names(function: ast.AST) -> set[str]:
    """Return the names to which the function assigns in separate statements."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = [target for target, _ in paired_targets(node) or []] or _targets(node)
            found |= {base for target in targets if (base := _base(target))}
    return found


def _read(function: ast.AST) -> set[str]:
    """Return the names that the function reads, except in `name[…] = value`, which assigns too."""
    given = {
        id(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
    }
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in given
    }


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.expr]:
    return list(node.targets) if isinstance(node, ast.Assign) else [node.target]


def paired_targets(node: ast.AST) -> list[tuple[ast.expr, ast.expr]] | None:
    """Return `a, b = 1, 2` as its parts; None for anything else."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return None


def _assigned(pairs: list[tuple[ast.expr, ast.expr]]) -> ast.Assign:
    if len(pairs) == 1:
        return ast.Assign(targets=[pairs[0][0]], value=pairs[0][1])
    targets, values = [target for target, _ in pairs], [value for _, value in pairs]
    return ast.Assign(targets=[ast.Tuple(elts=targets, ctx=ast.Store())], value=ast.Tuple(elts=values, ctx=ast.Load()))


def _base(target: ast.expr) -> str:
    inner = target.value if isinstance(target, ast.Subscript) else target
    return inner.id if isinstance(inner, ast.Name) else ""
