"""The graders' source without hidden tests, hints and comments, and without what only these needed."""

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from viva.plugins.release.strip_hints import paired_targets, without_hints

_ALWAYS: Final = frozenset({"pytestmark", "pytest_plugins"})
"""Names at the top of a file that pytest looks for."""
_EXPORTED: Final = "__all__"


def public_source(
    source: str, keep: Callable[[str], bool], wanted: frozenset[str] = frozenset(), *, effects: bool = False
) -> str | None:
    """Return the source of a test file, or of a module next to it, reduced to what the kept tests need.

    Args:
        source: the file as the author wrote it.
        keep: whether the test function of that name is public.
        wanted: other names at the top of the file that other modules import from it.
        effects: whether statements that define nothing are needed for their own sake, as in a module of helpers.

    Returns:
        The source; None where nothing of it is needed.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    tree = without_hints(ast.parse(source))
    imported = frozenset(name for node in tree.body if _is_import(node) for name in _defined(node))
    parts = [_Part(node, imported) for statement in tree.body for node in _split(statement)]
    roots = [part for part in parts if part.is_root(keep, wanted) or (effects and part.is_effect)]
    if not (roots or imported & wanted):
        return None
    needed = _closure(parts, roots, imported & wanted)
    body = [kept for part in parts if (kept := part.reduced(needed, roots)) is not None]
    return ast.unparse(ast.Module(body=[*_docstring(tree), *body], type_ignores=[])) + "\n"


class _Part:
    """A top-level statement: what it defines, and what it needs."""

    def __init__(self, node: ast.stmt, imported: frozenset[str]) -> None:
        self.node = node
        self.defines = frozenset(_defined(node)) | (_changed(node) - imported)
        self.uses = frozenset(_used(node)) if _EXPORTED not in self.defines else frozenset()

    @property
    def is_effect(self) -> bool:
        """Return whether the statement is there for what it does: it defines nothing, and is not a docstring."""
        node = self.node
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        return not (self.defines or is_text or _is_import(node))

    def is_root(self, keep: Callable[[str], bool], wanted: frozenset[str]) -> bool:
        """Return whether the statement is kept for its own sake."""
        node = self.node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            return keep(node.name) or node.name in wanted
        if _is_import(node):
            return False
        return bool(self.defines & wanted) or _is_autouse(node)

    def reduced(self, needed: frozenset[str], roots: "list[_Part]") -> ast.stmt | None:
        """Return the statement, an import with only the names that are needed, or None."""
        node = self.node
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a for a in node.names if a.name == "*" or _bound(a) in needed or _is_future(node)]
            if not names:
                return None
            if isinstance(node, ast.Import):
                return ast.Import(names=names)
            return ast.ImportFrom(module=node.module, names=names, level=node.level)
        if _EXPORTED in self.defines:
            return _exported(node, needed)
        if self in roots or self.defines & (needed | _ALWAYS):
            return node
        return node if self.is_effect else None  # such as `pytest.importorskip(...)`


def _closure(parts: list[_Part], roots: list[_Part], passed_on: frozenset[str]) -> frozenset[str]:
    """Return every name that the roots need, directly or through others, and imported names that are passed on."""
    kept = [*roots, *(part for part in parts if part.defines & _ALWAYS or not part.defines)]
    needed = passed_on.union(*(part.uses | part.defines for part in kept))
    while True:
        more = needed.union(*(part.uses for part in parts if part.defines & needed))
        if more == needed:
            return needed
        needed = more


def _exported(node: ast.stmt, needed: frozenset[str]) -> ast.stmt:
    """Return the statement that sets `__all__` with only the names that are needed."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.List | ast.Tuple):
            inner.elts = [name for name in inner.elts if not isinstance(name, ast.Constant) or name.value in needed]
    return node


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that the statement binds at the top of the file."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from map(_bound, node.names)
    else:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield inner.name
            elif isinstance(inner, ast.Import | ast.ImportFrom):
                yield from map(_bound, inner.names)


def _changed(node: ast.stmt) -> frozenset[str]:
    """Return the names whose values a statement changes: `CASES["a"] = …`, `CASES.append(…)`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        targets = [node.value.func]
    else:
        targets = list(node.targets) if isinstance(node, ast.Assign) else []
    bases = (target.value for target in targets if isinstance(target, ast.Attribute | ast.Subscript))
    return frozenset(base.id for base in bases if isinstance(base, ast.Name))


def _split(node: ast.stmt) -> list[ast.stmt]:
    """Return `A, B = 1, 2` as two statements, since only one of the names may be needed."""
    pairs = paired_targets(node)
    if pairs is None or any(isinstance(part, ast.Starred) for pair in pairs for part in pair):
        return [node]
    return [ast.copy_location(ast.Assign(targets=[target], value=value), node) for target, value in pairs]


def _used(node: ast.stmt) -> Iterator[str]:
    """Yield the names that the statement reads, fixtures included: a test requests these by its argument names."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.arg):
            yield inner.arg
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value.isidentifier():
            yield inner.value  # usefixtures("name"), getfixturevalue("name"), a type in quotes


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_autouse(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    given: list[Any] = [k for d in node.decorator_list if isinstance(d, ast.Call) for k in d.keywords]
    return any(k.arg == "autouse" for k in given)


def _docstring(tree: ast.Module) -> list[ast.stmt]:
    """Return the file's docstring if it has one, because students read it in tracebacks."""
    first = tree.body[0] if tree.body else None
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return [first] if first is not None and is_text else []
