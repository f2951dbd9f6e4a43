"""What a student's functions can reach: helpers that only hints use are not worth breaking."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from viva.plugins.verify.mutants.submission_code import Piece

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, eq=False)
class Unit:
    """The smallest piece that is broken and named: a function, a method, or a statement of a module."""

    piece: Piece
    name: str
    """`bleu`, `LoRALinear.forward`, or the name that a statement assigns."""
    node: ast.stmt
    owner: str = ""
    """The class of a method."""

    @cached_property
    def uses(self) -> frozenset[str]:
        """Return the names that it reads, and attributes (with a dot before them); annotations do not count."""
        return frozenset(_uses(self.node)) - _bound(self.node)

    @cached_property
    def code(self) -> str:
        """Return what it does, independent of comments, layout and docstrings."""
        return ast.dump(_without_texts(self.node))


class ReachableCode:
    """The units of a submission, and which of them a name in the submission reaches."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._spaces: dict[str, dict[str, list[Unit]]] = {}
        self._imports: dict[str, dict[str, tuple[str, str]]] = {}
        self._stars: dict[str, list[str]] = {}
        self._needs: dict[str, set[str]] = {}
        self._paths = {p.path for p in pieces}
        for piece in pieces:
            if piece.tree is not None:
                self._read(piece, piece.tree)

    def from_name(self, name: str, main: Sequence[str]) -> list[Unit]:
        """Return every unit that a name reaches; look for it in the files of `main`, then everywhere."""
        start = [u for path in main for u in self._defined(path, name)]
        start = start or [u for path in sorted(self._spaces) for u in self._defined(path, name)]
        return self._closure(start)

    def imported_from(self, start: Sequence[str]) -> frozenset[str]:
        """Return these files and all files of the submission that they import, at the top or inside a function."""
        needed: set[str] = set()
        waiting = list(start)
        while waiting:
            path = waiting.pop()
            if path not in needed:
                needed.add(path)
                packages = (f"{folder.as_posix()}/__init__.py" for folder in PurePosixPath(path).parents)
                waiting += [package for package in packages if package in self._paths]
                waiting += sorted(self._needs.get(path, ()))
        return frozenset(needed)

    @property
    def defined(self) -> frozenset[str]:
        """Return the names of all functions and classes."""
        return frozenset(name for space in self._spaces.values() for name in space)

    def _read(self, piece: Piece, tree: ast.Module) -> None:
        space = self._spaces.setdefault(piece.path, {})
        imports = self._imports.setdefault(piece.path, {})
        everywhere = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        needs = self._needs.setdefault(piece.path, set())
        needs |= {file for node in everywhere for _, file, _ in self._imported(piece.path, node)}
        for statement in tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                for name, source, original in self._imported(piece.path, statement):
                    if name == "*":
                        self._stars.setdefault(piece.path, []).append(source)
                    else:
                        imports[name] = (source, original)
            elif not _is_main(statement):
                units = list(_units(piece, statement))
                for name in {unit.owner or unit.name for unit in units}:
                    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
                        space.pop(name, None)  # another definition replaces an earlier one
                for unit in units:
                    space.setdefault(unit.owner or unit.name, []).append(unit)

    def _imported(self, here: str, statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str, str]]:
        """Yield the name here, the file in the submission, and the name there ("" for the module itself)."""
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                if file := self._file(here, alias.name, 0):
                    yield alias.asname or alias.name.partition(".")[0], file, ""
            return
        for alias in statement.names:
            name = alias.asname or alias.name
            module = statement.module or ""
            if inner := self._file(here, f"{module}.{alias.name}".strip("."), statement.level):
                yield name, inner, ""
            elif file := self._file(here, module, statement.level):
                yield name, file, alias.name

    def _file(self, here: str, module: str, level: int) -> str:
        """Return the file of a module if it is part of the submission, or ""."""
        parents = PurePosixPath(here).parents
        bases = [parents[level - 1]] if 0 < level <= len(parents) else [PurePosixPath("."), parents[0]]
        for base in bases:
            path = base.joinpath(*module.split(".")).as_posix() if module else base.as_posix()
            for file in (f"{path}.py", f"{path}/__init__.py"):
                if file in self._paths:
                    return file
        return ""

    def _defined(self, path: str, name: str, seen: frozenset[str] = frozenset()) -> list[Unit]:
        """Return what a name means in a file, through its imports."""
        if path in seen:
            return []
        seen |= {path}
        if found := self._spaces.get(path, {}).get(name):
            return found
        if name in self._imports.get(path, {}):
            file, original = self._imports[path][name]
            return self._defined(file, original, seen) if original else []
        return [unit for file in self._stars.get(path, ()) for unit in self._defined(file, name, seen)]

    def _closure(self, start: Iterable[Unit]) -> list[Unit]:
        reached: dict[Unit, None] = {}
        attributes: set[str] = set()
        waiting = list(start)
        private: list[Unit] = []
        while waiting:
            unit = waiting.pop()
            if unit in reached:
                continue
            if _is_private(unit) and f".{unit.name.rpartition('.')[2]}" not in attributes:
                private.append(unit)
                continue
            reached[unit] = None
            attributes |= {name for name in unit.uses if name.startswith(".")}
            waiting += [u for name in sorted(unit.uses) for u in self._used(unit.piece.path, name)]
            waiting += [u for u in private if f".{u.name.rpartition('.')[2]}" in attributes]
            private = [u for u in private if f".{u.name.rpartition('.')[2]}" not in attributes]
        return sorted(reached, key=lambda u: (u.piece.path, u.piece.cell or 0, u.node.lineno))

    def _used(self, path: str, name: str) -> list[Unit]:
        if not name.startswith("."):
            return self._defined(path, name)
        modules = {file for file, original in self._imports.get(path, {}).values() if not original}
        return [unit for file in sorted(modules) for unit in self._defined(file, name[1:])]


def _units(piece: Piece, statement: ast.stmt) -> Iterator[Unit]:
    if isinstance(statement, _FUNCTIONS):
        yield Unit(piece, statement.name, statement)
    elif isinstance(statement, ast.ClassDef):
        for inner in statement.body:
            name = inner.name if isinstance(inner, (*_FUNCTIONS, ast.ClassDef)) else "class"
            if not isinstance(inner, ast.Expr):
                yield Unit(piece, f"{statement.name}.{name}", inner, statement.name)
    elif not isinstance(statement, (ast.For, ast.While)):  # a loop that runs once, at the top, is an experiment
        for name in sorted(_stored(statement)):
            yield Unit(piece, name, statement)


def _stored(node: ast.AST) -> frozenset[str]:
    """Return names that a statement assigns, except those of its comprehensions and inner functions."""
    if isinstance(node, ast.Name):
        return frozenset([node.id]) if isinstance(node.ctx, ast.Store) else frozenset()
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, ast.comprehension)):
        return frozenset()
    return frozenset(name for child in ast.iter_child_nodes(node) for name in _stored(child))


def _bound(node: ast.stmt) -> frozenset[str]:
    """Return the local names of a function; a statement of a module has none."""
    if not isinstance(node, _FUNCTIONS):
        return frozenset()
    inner = list(ast.walk(node))
    bound = {n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in inner if isinstance(n, ast.arg)}
    return frozenset(bound - {name for n in inner if isinstance(n, ast.Global) for name in n.names})


def _is_private(unit: Unit) -> bool:
    """Return whether only the class itself calls this method."""
    name = unit.name.rpartition(".")[2]
    return bool(unit.owner) and name.startswith("_") and not name.startswith("__")


def _is_main(statement: ast.stmt) -> bool:
    """Return whether the statement is `if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _uses(node: ast.AST) -> Iterator[str]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Name):
                yield child.id
            elif isinstance(child, ast.AST):
                if isinstance(child, ast.Attribute):
                    yield f".{child.attr}"
                yield from _uses(child)


def _without_texts(node: ast.stmt) -> ast.AST:
    """Return the statement without docstrings and annotations."""
    copy = ast.parse(ast.unparse(node))
    for inner in ast.walk(copy):
        if isinstance(inner, (*_FUNCTIONS, ast.ClassDef)) and ast.get_docstring(inner, clean=False) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
        if isinstance(inner, _FUNCTIONS):
            inner.returns = None
        if isinstance(inner, ast.arg):
            inner.annotation = None
    return copy
